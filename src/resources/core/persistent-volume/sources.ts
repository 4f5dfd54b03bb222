import type {
  AzureDiskVolumeSource,
  CinderPersistentVolumeSource,
  CSIPersistentVolumeSource,
  FlexPersistentVolumeSource,
  GlusterfsPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
  StorageOSPersistentVolumeSource,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustNotClimb } from '../../pod/validation/file-paths.ts';
import { mustBeName, mustBeNamed, mustHaveTexts } from '../../rules/name-rules.ts';
import * as disks from '../../rules/network-disks.ts';
import { mustBeWithin } from '../../rules/numbers.ts';
import { mustBeDriverName } from '../../storage/csi-driver.ts';

export type SourceKind = Exclude<
  keyof PersistentVolumeSpec,
  | 'accessModes'
  | 'capacity'
  | 'claimRef'
  | 'mountOptions'
  | 'nodeAffinity'
  | 'persistentVolumeReclaimPolicy'
  | 'storageClassName'
  | 'volumeAttributesClassName'
  | 'volumeMode'
>;

/** Rules of one kind of source. `volumeName` is empty for a volume inside another object. */
type SourceRule<Kind extends SourceKind> = (
  at: FieldPath,
  source: NonNullable<PersistentVolumeSpec[Kind]>,
  volumeName: string,
) => void;

/** In order of precedence. */
const RULES: { readonly [Kind in SourceKind]: SourceRule<Kind> } = {
  hostPath: validatePath,
  gcePersistentDisk: (at, source) => {
    mustHaveTexts(at, source, ['pdName']);
    disks.validatePartition(at, source);
  },
  awsElasticBlockStore: (at, source) => {
    mustHaveTexts(at, source, ['volumeID']);
    disks.validatePartition(at, source);
  },
  glusterfs: validateGlusterfs,
  flocker: disks.validateFlocker,
  nfs: (at, source) => {
    mustHaveTexts(at, source, ['server', 'path']);
    disks.validateNfs(at, source);
  },
  rbd: (at, source) => {
    disks.validateMonitors(at, source);
    mustHaveTexts(at, source, ['image']);
  },
  quobyte: (at, source) => {
    disks.validateQuobyteRegistry(at, source);
    mustHaveTexts(at, source, ['volume']);
  },
  cephfs: disks.validateMonitors,
  iscsi: validateIscsi,
  cinder: validateCinder,
  fc: disks.validateFibreChannel,
  flexVolume: validateFlexVolume,
  azureFile: (at, source) => mustHaveTexts(at, source, ['secretName', 'shareName']),
  vsphereVolume: (at, source) => mustHaveTexts(at, source, ['volumePath']),
  photonPersistentDisk: (at, source) => mustHaveTexts(at, source, ['pdID']),
  portworxVolume: (at, source) => mustHaveTexts(at, source, ['volumeID']),
  azureDisk: validateAzureDisk,
  scaleIO: (at, source) => mustHaveTexts(at, source, ['gateway', 'system', 'volumeName']),
  local: validatePath,
  storageos: validateStorageOs,
  csi: validateCsi,
};

export const SOURCE_KINDS = Object.keys(RULES) as readonly SourceKind[];

/** Exactly one source, and that one in order. */
export function validateSource(at: FieldPath, spec: PersistentVolumeSpec, volumeName: string): void {
  const given = SOURCE_KINDS.filter((kind) => spec[kind] !== undefined);
  if (given.length === 0) at.required('must specify a volume type');
  for (const [place, kind] of given.entries()) {
    // A flex volume beside another source is not refused, only validated.
    if (place > 0 && kind !== 'flexVolume')
      at.field(kind === 'cephfs' ? 'cephFS' : kind).forbidden('may not specify more than 1 volume type');
    else
      validateKind(at.field(kind === 'gcePersistentDisk' ? 'persistentDisk' : kind), spec, kind, volumeName);
    if (place === 0 && kind === 'local' && spec.nodeAffinity === undefined)
      at.field('nodeAffinity').required('Local volume requires node affinity');
  }
}

function validateKind<Kind extends SourceKind>(
  at: FieldPath,
  spec: PersistentVolumeSpec,
  kind: Kind,
  volumeName: string,
): void {
  const source = spec[kind];
  if (source !== undefined) RULES[kind](at, source, volumeName);
}

function validatePath(at: FieldPath, { path = '' }: { readonly path?: string }): void {
  if (path === '') at.field('path').required();
  else mustNotClimb(at.field('path'), path);
}

function validateAzureDisk(at: FieldPath, source: AzureDiskVolumeSource): void {
  mustHaveTexts(at, source, ['diskName', 'diskURI']);
  disks.validateAzureDiskUri(at, source);
}

function validateFlexVolume(at: FieldPath, source: FlexPersistentVolumeSource): void {
  mustHaveTexts(at, source, ['driver']);
  disks.validateFlexOptions(at, source);
}

/** Validated secrets; the one for staging never was (Kubernetes: validateCSIPersistentVolumeSource). */
const SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
] as const;

function validateCsi(at: FieldPath, source: CSIPersistentVolumeSource): void {
  mustBeDriverName(at.field('driver'), source.driver ?? '');
  mustHaveTexts(at, source, ['volumeHandle']);
  for (const field of SECRETS) {
    const secret = source[field];
    if (secret !== undefined) validateSecret(at.field(field), secret);
  }
}

/** Requires valid name and namespace. */
function validateSecret(at: FieldPath, { name = '', namespace = '' }: SecretReference): void {
  mustBeNamed(at.field('name'), name, 'dns-subdomain');
  mustBeNamed(at.field('namespace'), namespace, 'dns-label');
}

/** The kernel's rule for the name of an interface. */
const MAX_INTERFACE_CHARS = 64;
const TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

function validateIscsi(at: FieldPath, source: ISCSIPersistentVolumeSource, volumeName: string): void {
  const { targetPortal: portal = '', initiatorName } = source;
  mustHaveTexts(at, source, ['targetPortal']);
  // Kubernetes writes these two fields in lower case.
  if (initiatorName !== undefined && `${volumeName}:${portal}`.length > MAX_INTERFACE_CHARS)
    at.field('targetportal').invalid(portal, TOO_LONG);
  validateTarget(at, source);
  if (initiatorName !== undefined) mustBeIscsiName(at.field('initiatorname'), initiatorName);
}

function validateTarget(at: FieldPath, source: ISCSIPersistentVolumeSource): void {
  const { iqn = '', lun, secretRef } = source;
  if (iqn === '') at.field('iqn').required();
  else mustBeIscsiName(at.field('iqn'), iqn);
  mustBeWithin(at.field('lun'), lun, { least: 0, most: 255 });
  const isAuthenticated = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (secretRef !== undefined) mustHaveTexts(at.field('secretRef'), secretRef, ['name']);
  else if (isAuthenticated) at.field('secretRef').required();
}

const IQN = /iqn\.\d{4}-\d{2}\.[A-Za-z0-9\-.]+:[^,;*&$|\s]+$/;
const EUI = /^eui.[A-Za-z0-9]{16}$/;
const NAA = /^naa.[A-Za-z0-9]{32}$/;

/** Names of targets and initiators (RFC 3720, section 3.2.6.3): iqn., eui. or naa. */
function mustBeIscsiName(at: FieldPath, name: string): void {
  const isName = (name.startsWith('iqn') && IQN.test(name)) || EUI.test(name) || NAA.test(name);
  if (!isName) at.invalid(name, 'must be valid format');
}

/** Disks over the network, as far as volumes of pods have other rules for them, or none. */

function validateGlusterfs(at: FieldPath, source: GlusterfsPersistentVolumeSource): void {
  const { endpointsNamespace: namespace } = source;
  const path = at.field('endpointsNamespace');
  mustHaveTexts(at, source, ['endpoints', 'path']);
  if (namespace === '')
    path.invalid(namespace, 'if the endpointnamespace is set, it must be a valid namespace name');
  else if (namespace !== undefined) mustBeName(path, namespace, 'dns-label');
}

function validateCinder(at: FieldPath, source: CinderPersistentVolumeSource): void {
  mustHaveTexts(at, source, ['volumeID']);
  mustNameSecret(at, source);
}

function validateStorageOs(at: FieldPath, source: StorageOSPersistentVolumeSource): void {
  const { volumeName = '', volumeNamespace = '' } = source;
  mustBeNamed(at.field('volumeName'), volumeName, 'dns-label');
  if (volumeNamespace !== '') mustBeName(at.field('volumeNamespace'), volumeNamespace, 'dns-label');
  mustNameSecret(at, source);
}

interface HoldsSecret {
  readonly secretRef?: { readonly name?: string; readonly namespace?: string };
}

/** A secret that is referred to must be named, with its namespace. */
function mustNameSecret(at: FieldPath, { secretRef }: HoldsSecret): void {
  if (secretRef !== undefined) mustHaveTexts(at.field('secretRef'), secretRef, ['name', 'namespace']);
}
