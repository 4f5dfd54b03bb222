import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { checkName } from '../../object/formats.ts';
import { objectOf, objectsOf, part, text } from '../../object/parts.ts';
import { parseQuantity } from '../../object/quantity.ts';
import { eachAt, stringMap } from '../validation/values.ts';
import { addEnvWarnings, addPortWarnings } from './container-warnings.ts';
import { CONTAINER_LISTS, containersOf } from './containers-of.ts';
import { addPlacementWarnings } from './placement-warnings.ts';
import { APP_ARMOR_PREFIX, holdsSeccomp, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD } from './profiles.ts';

/** What a caller is told of a pod that is accepted, but not what was meant (Kubernetes: api/pod, warnings.go). */

export function podWarnings(pod: ApiObject): string[] {
  const said: string[] = [];
  const wrong = checkName(pod.metadata.name ?? '', 'dns-label');
  const advice =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  if (wrong.length > 0) said.push(`${advice}: [${wrong.join(' ')}]`);
  addWarnings(said, part(pod, 'spec'), pod.metadata.annotations ?? {}, '');
  return said;
}

/** `path` is `spec.template`, for example. */
export function podTemplateWarnings(template: JsonObject, path: string): string[] {
  const said: string[] = [];
  const spec = part(template, 'spec');
  const annotations = stringMap(part(template, 'metadata'), 'annotations');
  addWarnings(said, spec, annotations, `${path}.`);
  addAppArmorWarnings(said, spec, annotations, `${path}.`);
  return said;
}

type Annotations = Readonly<Record<string, string>>;

const BYTES = ['memory', 'ephemeral-storage'];

/** `at` ends with a dot, or is empty. */
function addWarnings(said: string[], spec: JsonObject, annotations: Annotations, at: string): void {
  const path = `${at}spec`;
  addPlacementWarnings(said, spec, path);
  addAnnotationWarnings(said, annotations, at);
  addVolumeWarnings(said, spec, path);
  addDuplicateWarnings(said, spec, path);
  addFractionWarnings(said, spec.overhead, `${path}.overhead`, BYTES);
  addSeccompWarnings(said, spec, annotations, at);
  for (const list of CONTAINER_LISTS)
    eachAt(objectsOf(spec[list]), `${path}.${list}`, (container, of) => {
      const { limits, requests } = objectOf(container.resources);
      addFractionWarnings(said, limits, `${of}.resources.limits`, BYTES);
      addFractionWarnings(said, requests, `${of}.resources.requests`, BYTES);
      addEnvWarnings(said, objectsOf(container.env), `${of}.env`);
    });
  addPortWarnings(said, spec, path);
  if (Number(spec.terminationGracePeriodSeconds) < 0) {
    const why = 'must be >= 0; negative values are invalid and will be treated as 1';
    said.push(`${path}.terminationGracePeriodSeconds: ${why}`);
  }
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

function addAnnotationWarnings(said: string[], annotations: Annotations, at: string): void {
  for (const [key, why] of DEAD_ANNOTATIONS)
    if (annotations[key] !== undefined) said.push(`${at}metadata.annotations[${key}]: ${why}`);
}

/** `storageOS` is how Kubernetes spells it here. */
const DEPRECATED_VOLUMES: readonly (readonly [string, string, string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const CLAIMED = ['storage'];

function addVolumeWarnings(said: string[], spec: JsonObject, path: string): void {
  eachAt(objectsOf(spec.volumes), `${path}.volumes`, (volume, at) => {
    for (const [field, shown, why] of DEPRECATED_VOLUMES)
      if (volume[field] !== undefined) said.push(`${at}.${shown}: ${why}`);
    if (volume.ephemeral === undefined) return;
    const { requests, limits } = part(volume, 'ephemeral', 'volumeClaimTemplate', 'spec', 'resources');
    const claim = `${at}.ephemeral.volumeClaimTemplate.spec.resources`;
    addFractionWarnings(said, requests, `${claim}.requests`, CLAIMED);
    addFractionWarnings(said, limits, `${claim}.limits`, CLAIMED);
  });
}

const NANO = 1_000_000_000n;

/** There is no part of a byte. */
function addFractionWarnings(
  said: string[],
  list: JsonValue | undefined,
  path: string,
  names: readonly string[],
): void {
  const amounts = objectOf(list);
  for (const name of names) {
    const amount = text(amounts[name]);
    if (amount === '' || (parseQuantity(amount)?.nanos ?? 0n) % NANO === 0n) continue;
    const shown = JSON.stringify(amounts[name]);
    said.push(`${path}[${name}]: fractional byte value ${shown} is invalid, must be an integer`);
  }
}

function addDuplicateWarnings(said: string[], spec: JsonObject, path: string): void {
  const secrets = objectsOf(spec.imagePullSecrets);
  addRepeated(said, objectsOf(spec.hostAliases), 'ip', `${path}.hostAliases`);
  addRepeated(said, secrets, 'name', `${path}.imagePullSecrets`);
  eachAt(secrets, `${path}.imagePullSecrets`, ({ name }, at) => {
    if (text(name) === '') said.push(`${at}.name: invalid empty name ""`);
  });
}

function addRepeated(said: string[], items: readonly JsonObject[], field: string, path: string): void {
  const seen = new Set<string>();
  eachAt(items, path, (item, at) => {
    const value = text(item[field]);
    if (seen.has(value)) said.push(`${at}.${field}: duplicate ${field} ${JSON.stringify(value)}`);
    seen.add(value);
  });
}

function addSeccompWarnings(said: string[], spec: JsonObject, annotations: Annotations, at: string): void {
  if (!holdsSeccomp(annotations)) return;
  const warn = (key: string, holder: JsonObject): void => {
    if (annotations[key] === undefined || part(holder, 'securityContext').seccompProfile !== undefined)
      return;
    const why = 'non-functional in v1.27+; use the "seccompProfile" field instead';
    said.push(`${at}metadata.annotations[${key}]: ${why}`);
  };
  warn(SECCOMP_POD, spec);
  for (const { container } of containersOf(spec, ''))
    warn(`${SECCOMP_CONTAINER_PREFIX}${text(container.name)}`, container);
}

function addAppArmorWarnings(said: string[], spec: JsonObject, annotations: Annotations, at: string): void {
  if (part(spec, 'securityContext').appArmorProfile !== undefined) return;
  for (const { container } of containersOf(spec, '')) {
    const key = `${APP_ARMOR_PREFIX}${text(container.name)}`;
    const inField = part(container, 'securityContext').appArmorProfile !== undefined;
    if (inField || annotations[key] === undefined) continue;
    const why = 'deprecated since v1.30; use the "appArmorProfile" field instead';
    said.push(`${at}metadata.annotations[${key}]: ${why}`);
  }
}
