import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeSignerName } from '../../certificates/certificate-signing-request.ts';
import { checkBundleName } from '../../certificates/cluster-trust-bundle.ts';
import { lifetimeBounds, mustBeUserAnnotations } from '../../certificates/pod-certificates.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeOneOf } from '../../rules/name-rules.ts';
import { FIELDS_OF_FILES, validateFieldRef, validateResourceFieldRef } from './downward-api.ts';
import { mustBeFileMode, mustBeUnreserved } from './file-paths.ts';

/** Files made of keys of secrets and config maps, of fields of the pod, and of tokens: alone, or several in one volume. */

/** A key of a secret or a config map as a file. */
export function validateKeyToPath(at: FieldPath, { path = '', mode }: KeyToPath): void {
  mustBeUnreserved(at.field('path'), path);
  mustBeFileMode(at.field('mode'), mode);
}

/** `at` is the source: Kubernetes leaves out which of its files it is; so do clients that look at the path. */
export function validateDownwardFile(at: FieldPath, file: DownwardAPIVolumeFile): void {
  const { path = '', mode, fieldRef, resourceFieldRef } = file;
  if (path === '') at.field('path').required();
  mustBeUnreserved(at.field('path'), path);
  mustBeFileMode(at.field('mode'), mode);
  if (fieldRef !== undefined) {
    validateFieldRef(at.field('fieldRef'), fieldRef, FIELDS_OF_FILES);
    if (resourceFieldRef !== undefined)
      at.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (resourceFieldRef === undefined) at.required('one of fieldRef and resourceFieldRef is required');
  else validateResourceFieldRef(at.field('resourceFieldRef'), resourceFieldRef, 'volume');
}

const KINDS = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
] as const;

/** Some messages name the volume, at `at`, instead of the source. */
export function validateProjected(at: FieldPath, { defaultMode, sources }: ProjectedVolumeSource): void {
  const taken = new Set<string>();
  mustBeFileMode(at.field('defaultMode'), defaultMode);
  for (const [path, source] of at.field('sources').each(sources)) {
    validateProjection(path, source, at);
    for (const files of filesOf(source)) refuseTakenPaths(at, files, taken);
    if (source.podCertificate !== undefined)
      validatePodCertificate(path.field('podCertificate'), source.podCertificate, { volume: at, taken });
    if (KINDS.filter((kind) => source[kind] !== undefined).length > 1)
      path.forbidden('may not specify more than 1 volume type per source');
  }
}

function validateProjection(at: FieldPath, source: VolumeProjection, volume: FieldPath): void {
  const { downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  for (const kind of ['secret', 'configMap'] as const) {
    const keyed = source[kind];
    if (keyed === undefined) continue;
    if ((keyed.name ?? '') === '') at.field(kind).field('name').required();
    for (const [item, file] of at.field(kind).field('items').each(keyed.items)) validateKeyToPath(item, file);
  }
  for (const file of downwardAPI?.items ?? []) validateDownwardFile(at.field('downwardAPI'), file);
  if (serviceAccountToken !== undefined)
    validateToken(at.field('serviceAccountToken'), serviceAccountToken, volume);
  if (clusterTrustBundle !== undefined)
    validateTrustBundle(at.field('clusterTrustBundle'), clusterTrustBundle);
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const CERTIFICATE_PATHS = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;

function validatePodCertificate(
  at: FieldPath,
  source: PodCertificateProjection,
  { volume, taken }: { readonly volume: FieldPath; readonly taken: Set<string> },
): void {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds, userAnnotations } = source;
  mustBeSignerName(at.field('signerName'), signerName);
  mustBeUserAnnotations(at.field('userAnnotations'), userAnnotations);
  mustBeOneOf(at.field('keyType'), keyType, KEY_TYPES);
  if (seconds !== undefined) mustBeLifetime(at.field('maxExpirationSeconds'), seconds, signerName);
  const given = CERTIFICATE_PATHS.filter((field) => (source[field] ?? '') !== '');
  for (const field of given) {
    const path = source[field] ?? '';
    mustBeUnreserved(at.field(field), path);
    refuseTakenPaths(volume, { paths: [path] }, taken);
  }
  if (given.length === 0)
    at.required('specify at least one of credentialBundlePath, keyPath, and certificateChainPath');
}

function mustBeLifetime(at: FieldPath, seconds: number, signer: string): void {
  const [least, most] = lifetimeBounds(signer);
  if (seconds < least) at.invalid(seconds, `if provided, maxExpirationSeconds must be >= ${least}`);
  if (seconds > most) at.invalid(seconds, `if provided, maxExpirationSeconds must be <= ${most}`);
}

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

function validateToken(at: FieldPath, token: ServiceAccountTokenProjection, volume: FieldPath): void {
  const { expirationSeconds: seconds = 0, path = '' } = token;
  const expiration = at.field('expirationSeconds');
  if (seconds < MIN_TOKEN_SECONDS)
    expiration.invalid(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > MAX_TOKEN_SECONDS)
    expiration.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  mustBeUnreserved(volume.field('path'), path);
}

function validateTrustBundle(at: FieldPath, source: ClusterTrustBundleProjection): void {
  validateBundleChoice(at, source);
  if ((source.path ?? '') === '') at.field('path').required();
  mustBeUnreserved(at.field('path'), source.path ?? '');
}

/** One bundle by its name, or all of a signer that labels select. */
function validateBundleChoice(at: FieldPath, source: ClusterTrustBundleProjection): void {
  const { name, signerName, labelSelector, optional = null, path = '' } = source;
  if (name !== undefined && signerName !== undefined)
    at.invalid(
      {
        ...{ Name: name, SignerName: signerName, LabelSelector: labelSelector ?? null },
        ...{ Optional: optional, Path: path },
      },
      'only one of name and signerName may be used',
    );
  else if (name === undefined && signerName === undefined)
    at.required('either name or signerName must be specified');
  else if (name === undefined) {
    if (signerName === '') at.field('signerName').required('must be a valid signer name');
    mustBeSignerName(at.field('signerName'), signerName ?? '');
    mustBeLabelSelector(at.field('labelSelector'), labelSelector);
  } else {
    if (name === '') at.field('name').required('must be a valid object name');
    for (const why of checkBundleName(name, signerIn(name)))
      at.field('name').invalid(name, `not a valid clustertrustbundlename: ${why}`);
    if (labelSelector !== undefined)
      at.field('labelSelector').invalid(labelSelector, 'labelSelector must be unset if name is specified');
  }
}

/** `example.com:foo:v1` is a bundle of the signer `example.com/foo`. */
const signerIn = (name: string): string =>
  name.slice(0, Math.max(0, name.lastIndexOf(':'))).replaceAll(':', '/');

interface Files {
  readonly name?: string;
  readonly paths: readonly (string | undefined)[];
}

/** The files of each kind of source. Skips tokens, as Kubernetes does. */
function filesOf({ secret, configMap, downwardAPI, clusterTrustBundle }: VolumeProjection): Files[] {
  const files: Files[] = [];
  for (const source of [secret, configMap, downwardAPI]) {
    if (source === undefined) continue;
    const paths = (source.items ?? []).map(({ path }) => path);
    files.push('name' in source && source.name !== undefined ? { name: source.name, paths } : { paths });
  }
  if (clusterTrustBundle !== undefined) {
    files.push({ paths: [clusterTrustBundle.path] });
  }
  return files;
}

/** Paths of files must be unique in a volume. */
function refuseTakenPaths(at: FieldPath, { name = '', paths }: Files, taken: Set<string>): void {
  for (const path of paths) {
    if (path === undefined || path === '') continue;
    if (taken.has(path)) at.invalid(name === '' ? path : name, 'conflicting duplicate paths');
    taken.add(path);
  }
}
