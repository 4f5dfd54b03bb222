import type { Gates } from '../../api/feature-gates.ts';
import type { Pod, PodSpec, PodTemplateSpec, Volume } from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import { FieldPath } from '../../object/field-path.ts';
import { parseQuantity } from '../../object/quantity.ts';
import { checkName } from '../../object/text-formats.ts';
import { ipWarningsSince33, warningsOfEach } from '../rules/ip-warnings.ts';
import { addEnvWarnings, addPortNameWarnings, addPortWarnings } from './container-warnings.ts';
import { containersOf } from './containers-of.ts';
import { addOverlapWarnings } from './overlapping-paths.ts';
import { addPlacementWarnings } from './placement-warnings.ts';
import {
  APP_ARMOR_PREFIX,
  fromAnnotation,
  holdsAppArmor,
  holdsSeccomp,
  SECCOMP_CONTAINER_PREFIX,
  SECCOMP_POD,
} from './security-profiles.ts';

/** Warnings about a pod that is valid, but hardly meant so (Kubernetes: api/pod, warnings.go). */

export function podWarnings({ metadata, spec = {} }: Pod, isOn?: Gates): string[] {
  const said: string[] = [];
  const wrong = checkName(metadata.name ?? '', 'dns-label');
  const advice =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  if (wrong.length > 0) said.push(`${advice}: [${wrong.join(' ')}]`);
  addWarnings(said, FieldPath.root([], isOn), spec, metadata.annotations ?? {});
  return said;
}

/** `path` is `spec.template`, for example. */
export function podTemplateWarnings(
  { metadata = {}, spec = {} }: PodTemplateSpec,
  path: string,
  isOn?: Gates,
): string[] {
  const said: string[] = [];
  const at = FieldPath.root([], isOn).field(path);
  addWarnings(said, at, spec, metadata.annotations ?? {});
  // Since 1.34 a profile of the whole pod makes up only for the annotations that say the same.
  if (spec.securityContext?.appArmorProfile === undefined || at.minor >= 34)
    addAppArmorWarnings(said, at, spec, metadata.annotations ?? {});
  return said;
}

/** About a new pod, whose annotations become fields next (Kubernetes: pod strategy, applyAppArmorVersionSkew). */
export function sentPodWarnings({ metadata, spec = {} }: Pod): string[] {
  const said: string[] = [];
  if (spec.os?.name !== 'windows')
    addAppArmorWarnings(said, FieldPath.root(), spec, metadata.annotations ?? {});
  return said;
}

type Texts = Readonly<Record<string, string>>;

const BYTES = ['memory', 'ephemeral-storage'];

/** `at` is the pod or its template. */
function addWarnings(said: string[], at: FieldPath, spec: PodSpec, annotations: Texts): void {
  const path = at.field('spec');
  const ofAnnotations = at.field('metadata').field('annotations');
  addPlacementWarnings(said, path, spec);
  for (const [key, why] of DEAD_ANNOTATIONS)
    if (annotations[key] !== undefined) said.push(`${ofAnnotations.item(key)}: ${why}`);
  for (const [item, volume] of path.field('volumes').each(spec.volumes))
    addVolumeWarnings(said, item, volume);
  if (at.minor >= 32) for (const volume of spec.volumes ?? []) addOverlapWarnings(said, volume);
  addDuplicateWarnings(said, path, spec);
  addFractionWarnings(said, path.field('overhead'), spec.overhead, BYTES);
  addSeccompWarnings(said, ofAnnotations, spec, annotations);
  for (const { container, at: item } of containersOf(spec, path)) {
    const { limits, requests } = container.resources ?? {};
    const resources = item.field('resources');
    addFractionWarnings(said, resources.field('limits'), limits, BYTES);
    addFractionWarnings(said, resources.field('requests'), requests, BYTES);
    addEnvWarnings(said, item.field('env'), container.env ?? []);
  }
  addPortWarnings(said, path, spec);
  if (at.minor >= 33) addPortNameWarnings(said, path, spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    said.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  addAddressWarnings(said, path, spec);
}

function addAddressWarnings(said: string[], at: FieldPath, { dnsConfig, hostAliases }: PodSpec): void {
  const servers = at.field('dnsConfig').field('nameservers').each(dnsConfig?.nameservers);
  said.push(...warningsOfEach(servers, ipWarningsSince33));
  const aliases = at.field('hostAliases').each(hostAliases);
  said.push(...warningsOfEach(aliases, (path, { ip = '' }) => ipWarningsSince33(path.field('ip'), ip)));
}

const DEAD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  [
    'security.alpha.kubernetes.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
];

/** The field, how Kubernetes spells it here, and why. */
const DEPRECATED_VOLUMES = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

const CLAIMED = ['storage'];

function addVolumeWarnings(said: string[], at: FieldPath, volume: Volume): void {
  const isOff = at.minor >= 33 && !at.isOn('GitRepoVolumeDriver');
  const gitRepo = `deprecated in v1.11${isOff ? ', and disabled by default in v1.33+' : ''}`;
  if (volume.gitRepo !== undefined) said.push(`${at}.gitRepo: ${gitRepo}`);
  for (const [field, spelling, why] of DEPRECATED_VOLUMES)
    if (volume[field] !== undefined) said.push(`${at}.${spelling}: ${why}`);
  if (volume.ephemeral === undefined) return;
  const { requests, limits } = volume.ephemeral.volumeClaimTemplate?.spec?.resources ?? {};
  const claim = at.field('ephemeral.volumeClaimTemplate.spec.resources');
  addFractionWarnings(said, claim.field('requests'), requests, CLAIMED);
  addFractionWarnings(said, claim.field('limits'), limits, CLAIMED);
}

const NANO = 1_000_000_000n;

/** There is no part of a byte. */
function addFractionWarnings(
  said: string[],
  at: FieldPath,
  amounts: Texts | undefined,
  names: readonly string[],
): void {
  if (amounts === undefined) return;
  for (const name of names) {
    const amount = amounts[name] ?? '';
    if (amount === '' || (parseQuantity(amount)?.nanos ?? 0n) % NANO === 0n) continue;
    said.push(
      `${at.item(name)}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
    );
  }
}

function addDuplicateWarnings(said: string[], at: FieldPath, spec: PodSpec): void {
  const secrets = at.field('imagePullSecrets');
  addRepeated(said, at.field('hostAliases'), spec.hostAliases, 'ip');
  addRepeated(said, secrets, spec.imagePullSecrets, 'name');
  for (const [path, { name = '' }] of secrets.each(spec.imagePullSecrets))
    if (name === '') said.push(`${path}.name: invalid empty name ""`);
}

function addRepeated<Field extends string>(
  said: string[],
  at: FieldPath,
  items: readonly { readonly [name in Field]?: string }[] | undefined,
  field: Field,
): void {
  const seen = new Set<string>();
  for (const [path, item] of at.each(items)) {
    const value = item[field] ?? '';
    if (seen.has(value)) said.push(`${path}.${field}: duplicate ${field} ${JSON.stringify(value)}`);
    seen.add(value);
  }
}

/** `at` is the annotations. */
function addSeccompWarnings(said: string[], at: FieldPath, spec: PodSpec, annotations: Texts): void {
  if (!holdsSeccomp(annotations)) return;
  const warn = (key: string, { securityContext }: Pick<PodSpec, 'securityContext'>): void => {
    if (annotations[key] === undefined || securityContext?.seccompProfile !== undefined) return;
    said.push(`${at.item(key)}: non-functional in v1.27+; use the "seccompProfile" field instead`);
  };
  warn(SECCOMP_POD, spec);
  for (const { container } of containersOf(spec))
    warn(`${SECCOMP_CONTAINER_PREFIX}${container.name ?? ''}`, container);
}

/** Warns of annotations of AppArmor for which no field makes up. */
function addAppArmorWarnings(said: string[], at: FieldPath, spec: PodSpec, annotations: Texts): void {
  if (!holdsAppArmor(annotations)) return;
  const ofPod = spec.securityContext?.appArmorProfile;
  const path = at.field('metadata').field('annotations');
  for (const { container } of containersOf(spec)) {
    const key = `${APP_ARMOR_PREFIX}${container.name ?? ''}`;
    const isInField = container.securityContext?.appArmorProfile !== undefined;
    if (isInField || annotations[key] === undefined) continue;
    if (ofPod !== undefined && equal(ofPod, fromAnnotation(annotations[key]))) continue;
    said.push(`${path.item(key)}: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}

/** Warnings about the addresses that a kubelet reports. */
export function podStatusWarnings({ status = {} }: Pod, _: Pod, isOn?: Gates): string[] {
  const at = FieldPath.root([], isOn).field('status');
  const ofEach = (name: 'podIPs' | 'hostIPs'): string[] =>
    warningsOfEach(at.field(name).each(status[name]), (path, { ip = '' }) =>
      ipWarningsSince33(path.field('ip'), ip),
    );
  return [...ofEach('podIPs'), ...ofEach('hostIPs')];
}
