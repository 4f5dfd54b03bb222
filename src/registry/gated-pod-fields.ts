import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { isObject } from '../object/merge-patch.ts';
import type { GatedFeature } from './gated-feature.ts';

/** Fields of pods behind gates, wherever the spec of a pod is (Kubernetes: api/pod, DropDisabledPodFields). */

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'];
const STATUSES = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm';

const inEach = (lists: readonly string[], ...fields: readonly string[]): string[] =>
  lists.flatMap((list) => fields.map((field) => `${list}.${field}`));

const LABEL_KEYS = ['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
  [REQUIRED, PREFERRED].flatMap((term) =>
    ['matchLabelKeys', 'mismatchLabelKeys'].map((field) => `affinity.${kind}.${term}.${field}`),
  ),
);

/** Those that just go. */
const FIELDS: readonly (readonly [gate: string, fields: readonly string[]])[] = [
  ['UserNamespacesSupport', ['hostUsers']],
  ['SupplementalGroupsPolicy', ['securityContext.supplementalGroupsPolicy']],
  ['NodeInclusionPolicyInPodTopologySpread', ['topologySpreadConstraints.nodeTaintsPolicy']],
  ['NodeInclusionPolicyInPodTopologySpread', ['topologySpreadConstraints.nodeAffinityPolicy']],
  ['MatchLabelKeysInPodTopologySpread', ['topologySpreadConstraints.matchLabelKeys']],
  ['MatchLabelKeysInPodAffinity', LABEL_KEYS],
  ['DynamicResourceAllocation', ['resourceClaims', ...inEach(CONTAINERS, 'resources.claims')]],
  ['ClusterTrustBundleProjection', ['volumes.projected.sources.clusterTrustBundle']],
  ['InPlacePodVerticalScaling', inEach(CONTAINERS, 'resizePolicy')],
  ['SidecarContainers', ['initContainers.restartPolicy']],
  ['RecursiveReadOnlyMounts', inEach(CONTAINERS, 'volumeMounts.recursiveReadOnly')],
];

/** `path` leads to the spec of the pod. */
export function podFeatures(path: string): GatedFeature[] {
  const at = (fields: readonly string[]): string[] => fields.map((field) => `${path}.${field}`);
  const specOf = (object: ApiObject): JsonObject => inside(object, path.split('.'));
  return [
    ...FIELDS.map(([gate, fields]) => ({ gate, paths: at(fields) })),
    {
      // The field was once filled in for everybody, so it goes back to what it was filled in with.
      gate: 'ProcMountType',
      paths: at(inEach(CONTAINERS, 'securityContext.procMount')),
      neutral: 'Default',
    },
    {
      gate: 'PodLifecycleSleepAction',
      paths: at(inEach(CONTAINERS, 'lifecycle.preStop.sleep', 'lifecycle.postStart.sleep')),
      drop: (object) => dropSleep(specOf(object)),
    },
    {
      gate: 'ImageVolume',
      paths: at(['volumes.image']),
      drop: (object) => dropImageVolumes(specOf(object)),
    },
  ];
}

/** What nodes tell of pods that use a feature. */
export function podStatusFeatures(): GatedFeature[] {
  const told = (gate: string, fields: readonly string[], usedBy: readonly string[] = []): GatedFeature => ({
    gate,
    paths: fields.map((field) => `status.${field}`),
    usedBy: usedBy.map((field) => `spec.${field}`),
  });
  return [
    told(
      'InPlacePodVerticalScaling',
      ['resize', ...inEach(STATUSES, 'allocatedResources', 'resources')],
      inEach(CONTAINERS, 'resizePolicy'),
    ),
    told('DynamicResourceAllocation', ['resourceClaimStatuses'], ['resourceClaims']),
    told(
      'RecursiveReadOnlyMounts',
      inEach(STATUSES, 'volumeMounts'),
      inEach(CONTAINERS, 'volumeMounts.recursiveReadOnly'),
    ),
    told('ResourceHealthStatus', inEach(STATUSES, 'allocatedResourcesStatus')),
    told('SupplementalGroupsPolicy', inEach(STATUSES, 'user'), ['securityContext.supplementalGroupsPolicy']),
  ];
}

/** A hook that did nothing else goes with its action. */
function dropSleep(spec: JsonObject): void {
  for (const container of containersOf(spec)) {
    const { lifecycle } = container;
    if (!isObject(lifecycle)) continue;
    for (const name of ['preStop', 'postStart']) {
      const hook = lifecycle[name];
      if (!isObject(hook)) continue;
      delete hook.sleep;
      if (isEmpty(hook)) delete lifecycle[name];
    }
    if (isEmpty(lifecycle)) delete container.lifecycle;
  }
}

/** Volumes of images go whole, and their mounts with them. */
function dropImageVolumes(spec: JsonObject): void {
  const volumes = objects(spec.volumes);
  const names = new Set(volumes.filter(({ image }) => image !== undefined).map(({ name }) => name));
  spec.volumes = volumes.filter(({ image }) => image === undefined);
  for (const container of containersOf(spec)) {
    if (container.volumeMounts === undefined) continue;
    container.volumeMounts = objects(container.volumeMounts).filter(({ name }) => !names.has(name));
  }
}

const objects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const containersOf = (spec: JsonObject): JsonObject[] => CONTAINERS.flatMap((list) => objects(spec[list]));

const isEmpty = (object: JsonObject): boolean => Object.values(object).every((value) => value === undefined);

function inside(object: JsonObject, path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((at, name) => {
    const next = at[name];
    return isObject(next) ? next : {};
  }, object);
}
