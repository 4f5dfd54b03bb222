import { CLAIMS, NODES, PODS } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/types/core/v1.ts';
import type { PodGroup } from '../../api/types/scheduling/v1alpha2.ts';
import type { VolumeAttributesClass } from '../../api/types/storage/v1beta1.ts';
import { toObject } from '../../storage/object-reader.ts';
import type { Entry } from '../../storage/store.ts';
import type { Client } from '../../verbs/client/client.ts';
import type { DueRule } from './due-objects.ts';

/** Objects that are being deleted, but have nothing in the cluster that would remove their finalizers. */

const VOLUMES: ResourceOf<PersistentVolume> = { group: '', resource: 'persistentvolumes' };

const DELETION_FIELD = Buffer.from('"deletionTimestamp":');
const isEnding = ({ json, metadataEnd }: Entry): boolean =>
  json.subarray(0, metadataEnd).includes(DELETION_FIELD);

const isHeldBy = ({ metadata }: ApiObject, finalizer: string): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);

/** Removes the finalizer from the object of this entry; not from a new object of the same name. */
async function release(
  resource: ResourceOf<ApiObject>,
  { namespace, name, uid }: Entry,
  finalizer: string,
  client: Client,
): Promise<void> {
  await client.update(resource, { namespace, name }, (copy) => {
    if (copy.metadata.uid !== uid || !isHeldBy(copy, finalizer)) return copy;
    const finalizers = (copy.metadata.finalizers ?? []).filter((one) => one !== finalizer);
    return { ...copy, metadata: { ...copy.metadata, finalizers } };
  });
}

const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';

/** Volumes that no claim has (Kubernetes: pkg/controller/volume/pvprotection). */
export const unboundVolumes: DueRule<PersistentVolume> = {
  resource: VOLUMES,
  manager: 'pv-protection-controller',
  mayBeDue: isEnding,
  dueAt: (volume) => (isHeldBy(volume, VOLUME_FINALIZER) && volume.status?.phase !== 'Bound' ? 0 : undefined),
  act: async (entry, client) => {
    await release(VOLUMES, entry, VOLUME_FINALIZER, client);
    return undefined;
  },
};

/** The interval of checks of an object in use. */
const IN_USE_MS = 5000;

/** Objects that keep their finalizer while something uses them, and lose it after. */
const unused = <T extends ApiObject>(
  resource: ResourceOf<T>,
  manager: string,
  finalizer: string,
  isUsed: (entry: Entry, client: Client) => Promise<boolean>,
): DueRule<T> => ({
  resource,
  manager,
  mayBeDue: isEnding,
  dueAt: (object) => (isHeldBy(object, finalizer) ? 0 : undefined),
  act: async (entry, client) => {
    if (await isUsed(entry, client)) return IN_USE_MS;
    await release(resource, entry, finalizer, client);
    return undefined;
  },
});

/** Claims that no pod on a node uses (Kubernetes: pkg/controller/volume/pvcprotection). */
export const unusedClaims: DueRule<PersistentVolumeClaim> = unused(
  CLAIMS,
  'pvc-protection-controller',
  'kubernetes.io/pvc-protection',
  (entry, client) => isUsed(toObject<PersistentVolumeClaim>(entry), client),
);

/** Whether a pod uses the claim. A cached yes suffices; a no requires the newest pods. */
async function isUsed(claim: PersistentVolumeClaim, client: Client): Promise<boolean> {
  const { namespace = '', name = '' } = claim.metadata;
  // The claim of an ephemeral volume is named after pod and volume.
  const names = [Buffer.from(`"claimName":${JSON.stringify(name)}`), Buffer.from('"ephemeral":')];
  for (const trust of ['cached', 'latest'] as const) {
    for (const entry of await client.entries(PODS, { namespace }, trust)) {
      if (names.some((text) => entry.json.includes(text)) && usesClaim(toObject<Pod>(entry), claim))
        return true;
    }
  }
  return false;
}

/** A pod without a node has nothing mounted, and no node starts it with a claim that ends. */
function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if ((pod.spec?.nodeName ?? '') === '') return false;
  const isShutDown =
    pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0;
  const isOfPod = (claim.metadata.ownerReferences ?? []).some(
    ({ uid, controller }) => controller === true && uid === pod.metadata.uid,
  );
  return (pod.spec?.volumes ?? []).some(
    ({ name = '', persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim?.claimName === claim.metadata.name ||
      (ephemeral !== undefined &&
        !isShutDown &&
        isOfPod &&
        `${pod.metadata.name}-${name}` === claim.metadata.name),
  );
}

const ATTRIBUTES_CLASSES: ResourceOf<VolumeAttributesClass> = {
  group: 'storage.k8s.io',
  resource: 'volumeattributesclasses',
};

/** Classes that no volume or claim has, is given or is losing (Kubernetes: pkg/controller/volume/vacprotection). */
export const unusedAttributesClasses: DueRule<VolumeAttributesClass> = unused(
  ATTRIBUTES_CLASSES,
  'volumeattributesclass-protection-controller',
  'kubernetes.io/vac-protection',
  ({ name }, client) => hasAttributes(name, client),
);

async function hasAttributes(name: string, client: Client): Promise<boolean> {
  const text = Buffer.from(`AttributesClassName":${JSON.stringify(name)}`);
  for (const resource of [CLAIMS, VOLUMES])
    for (const entry of await client.entries(resource, {}, 'latest'))
      if (entry.json.includes(text) && attributesOf(toObject(entry)).includes(name)) return true;
  return false;
}

/** The classes that a claim or a volume names. Volumes have only the first. */
const attributesOf = ({ spec, status }: PersistentVolumeClaim): (string | undefined)[] => [
  spec?.volumeAttributesClassName,
  status?.currentVolumeAttributesClassName,
  status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
];

const POD_GROUPS: ResourceOf<PodGroup> = { group: 'scheduling.k8s.io', resource: 'podgroups' };

/** Groups that no running pod names (Kubernetes 1.36: pkg/controller/scheduling/podgroupprotection). */
export const unusedPodGroups: DueRule<PodGroup> = unused(
  POD_GROUPS,
  'podgroup-protection-controller',
  'scheduling.k8s.io/podgroup-protection',
  hasRunningPods,
);

async function hasRunningPods({ namespace, name }: Entry, client: Client): Promise<boolean> {
  const text = Buffer.from(`"podGroupName":${JSON.stringify(name)}`);
  for (const entry of await client.entries(PODS, { namespace }, 'latest')) {
    if (!entry.json.includes(text)) continue;
    const { spec, status } = toObject<Pod>(entry);
    const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    if (!isOver && spec?.schedulingGroup?.podGroupName === name) return true;
  }
  return false;
}

/** How long a pod waits for its node after its grace period: as in pkg/controller/podgc. */
const QUARANTINE_MS = 40_000;
const ON_A_NODE_MS = 20_000;

/**
 * Pods whose node is gone, so that no kubelet reports their end. Only pods that are being deleted: a controller manager deletes
 * others too, but in a cluster without one, pods on missing nodes may be tests and must stay.
 */
export const podsOfLostNodes: DueRule<Pod> = {
  resource: PODS,
  manager: 'pod-garbage-collector',
  mayBeDue: isEnding,
  dueAt: ({ metadata, spec }) =>
    (spec?.nodeName ?? '') === '' ? undefined : Date.parse(metadata.deletionTimestamp ?? '') + QUARANTINE_MS,
  act: async (entry, client) => {
    const { namespace, name, uid } = entry;
    const node = toObject<Pod>(entry).spec?.nodeName ?? '';
    if ((await client.get(NODES, { name: node })) !== undefined) return ON_A_NODE_MS;
    await client.remove(PODS, { namespace, name }, { uid, gracePeriodSeconds: 0 });
    return undefined;
  },
};
