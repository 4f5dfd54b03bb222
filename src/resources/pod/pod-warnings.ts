import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { checkName } from '../../object/formats.ts';
import { parseQuantity } from '../../object/quantity.ts';
import { part, parts, text } from '../cells.ts';
import { stringMap } from '../validation/values.ts';
import { envWarnings, portWarnings } from './container-warnings.ts';
import { containersOf } from './containers-of.ts';
import { placementWarnings } from './placement-warnings.ts';
import { APP_ARMOR_PREFIX, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD } from './profiles.ts';

/** What a caller is told of a pod that is accepted, but not what was meant (Kubernetes: api/pod, warnings.go). */

export function podWarnings(pod: ApiObject): string[] {
  const wrong = checkName(pod.metadata.name ?? '', 'dns-label');
  const advice =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [
    ...(wrong.length === 0 ? [] : [`${advice}: [${wrong.join(' ')}]`]),
    ...warnings(part(pod, 'spec'), pod.metadata.annotations ?? {}, ''),
  ];
}

/** `path` is `spec.template`, for example. */
export function podTemplateWarnings(template: JsonObject, path: string): string[] {
  const spec = part(template, 'spec');
  const annotations = stringMap(part(template, 'metadata'), 'annotations');
  return [...warnings(spec, annotations, `${path}.`), ...appArmorWarnings(spec, annotations, `${path}.`)];
}

type Annotations = Readonly<Record<string, string>>;

/** `at` ends with a dot, or is empty. */
function warnings(spec: JsonObject, annotations: Annotations, at: string): string[] {
  const path = `${at}spec`;
  return [
    ...placementWarnings(spec, path),
    ...annotationWarnings(annotations, at),
    ...volumeWarnings(spec, path),
    ...duplicateWarnings(spec, path),
    ...fractionWarnings(part(spec, 'overhead'), `${path}.overhead`, ['memory', 'ephemeral-storage']),
    ...seccompWarnings(spec, annotations, at),
    ...containersOf(spec, path).flatMap(({ container, path: of }) => [
      ...['limits', 'requests'].flatMap((list) =>
        fractionWarnings(part(container, 'resources', list), `${of}.resources.${list}`, [
          'memory',
          'ephemeral-storage',
        ]),
      ),
      ...envWarnings(container, of),
    ]),
    ...portWarnings(spec, path),
    ...(Number(spec.terminationGracePeriodSeconds) < 0
      ? [
          `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
  ];
}

const DEAD_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

function annotationWarnings(annotations: Annotations, at: string): string[] {
  return Object.entries(DEAD_ANNOTATIONS)
    .filter(([key]) => annotations[key] !== undefined)
    .map(([key, why]) => `${at}metadata.annotations[${key}]: ${why}`);
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

function volumeWarnings(spec: JsonObject, path: string): string[] {
  return parts(spec, 'volumes').flatMap((volume, at) => {
    const claim = part(volume, 'ephemeral', 'volumeClaimTemplate', 'spec', 'resources');
    const claimPath = `${path}.volumes[${at}].ephemeral.volumeClaimTemplate.spec.resources`;
    return [
      ...DEPRECATED_VOLUMES.filter(([field]) => volume[field] !== undefined).map(
        ([, shown, why]) => `${path}.volumes[${at}].${shown}: ${why}`,
      ),
      ...['requests', 'limits'].flatMap((list) =>
        fractionWarnings(part(claim, list), `${claimPath}.${list}`, ['storage']),
      ),
    ];
  });
}

const NANO = 1_000_000_000n;

/** There is no part of a byte. */
function fractionWarnings(amounts: JsonObject, path: string, names: readonly string[]): string[] {
  return names
    .filter((name) => (parseQuantity(text(amounts[name], '0'))?.nanos ?? 0n) % NANO !== 0n)
    .map((name) => {
      const amount = JSON.stringify(amounts[name]);
      return `${path}[${name}]: fractional byte value ${amount} is invalid, must be an integer`;
    });
}

function duplicateWarnings(spec: JsonObject, path: string): string[] {
  const secrets = parts(spec, 'imagePullSecrets');
  return [
    ...repeated(parts(spec, 'hostAliases'), 'ip', `${path}.hostAliases`),
    ...repeated(secrets, 'name', `${path}.imagePullSecrets`),
    ...secrets.flatMap(({ name }, at) =>
      text(name) === '' ? [`${path}.imagePullSecrets[${at}].name: invalid empty name ""`] : [],
    ),
  ];
}

function repeated(items: readonly JsonObject[], field: string, path: string): string[] {
  const values = items.map((item) => text(item[field]));
  return values.flatMap((value, at) =>
    values.indexOf(value) < at
      ? [`${path}[${at}].${field}: duplicate ${field} ${JSON.stringify(value)}`]
      : [],
  );
}

function seccompWarnings(spec: JsonObject, annotations: Annotations, at: string): string[] {
  const holders = [
    { key: SECCOMP_POD, holder: spec },
    ...containersOf(spec, '').map(({ container }) => ({
      key: `${SECCOMP_CONTAINER_PREFIX}${text(container.name)}`,
      holder: container,
    })),
  ];
  return holders
    .filter(({ key, holder }) => {
      const { seccompProfile } = part(holder, 'securityContext');
      return annotations[key] !== undefined && seccompProfile === undefined;
    })
    .map(
      ({ key }) =>
        `${at}metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    );
}

function appArmorWarnings(spec: JsonObject, annotations: Annotations, at: string): string[] {
  if (part(spec, 'securityContext').appArmorProfile !== undefined) return [];
  return containersOf(spec, '')
    .filter(({ container }) => part(container, 'securityContext').appArmorProfile === undefined)
    .map(({ container }) => `${APP_ARMOR_PREFIX}${text(container.name)}`)
    .filter((key) => annotations[key] !== undefined)
    .map(
      (key) =>
        `${at}metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    );
}
