import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/types/core/v1.ts';
import { toObject } from '../../storage/object-reader.ts';
import type { Entry } from '../../storage/store.ts';
import type { Client } from '../../verbs/client/client.ts';
import type { DueRule } from './due-objects.ts';

/** Objects whose deletion was asked for, and which would wait for ever for somebody who lets them go. */

const PODS: ResourceOf<Pod> = { group: '', resource: 'pods' };
const NODES: ResourceOf<Node> = { group: '', resource: 'nodes' };
const CLAIMS: ResourceOf<PersistentVolumeClaim> = { group: '', resource: 'persistentvolumeclaims' };
const VOLUMES: ResourceOf<PersistentVolume> = { group: '', resource: 'persistentvolumes' };

const DELETION_FIELD = Buffer.from('"deletionTimestamp":');
const isEnding = ({ json, metadataEnd }: Entry): boolean =>
  json.subarray(0, metadataEnd).includes(DELETION_FIELD);

const isHeldBy = ({ metadata }: ApiObject, finalizer: string): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);

/** Lets the object go that the entry shows; another of its name stays. */
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

/** Volumes, when no claim has them (Kubernetes: pkg/controller/volume/pvprotection). */
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

const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
/** How often a claim is looked at again that pods use. */
const IN_USE_MS = 5000;

/** Claims, when no pod on a node uses them (Kubernetes: pkg/controller/volume/pvcprotection). */
export const unusedClaims: DueRule<PersistentVolumeClaim> = {
  resource: CLAIMS,
  manager: 'pvc-protection-controller',
  mayBeDue: isEnding,
  dueAt: (claim) => (isHeldBy(claim, CLAIM_FINALIZER) ? 0 : undefined),
  act: async (entry, client) => {
    if (await isUsed(toObject<PersistentVolumeClaim>(entry), client)) return IN_USE_MS;
    await release(CLAIMS, entry, CLAIM_FINALIZER, client);
    return undefined;
  },
};

/** What the cache knows is believed when it says yes; for a no the newest pods are read. */
async function isUsed(claim: PersistentVolumeClaim, client: Client): Promise<boolean> {
  const { namespace = '', name = '' } = claim.metadata;
  // A claim of an ephemeral volume is called after pod and volume.
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

/** For how long a pod waits for its node after its grace period, as long as pkg/controller/podgc waits for one to show up. */
const QUARANTINE_MS = 40_000;
const ON_A_NODE_MS = 20_000;

/**
 * Pods whose node is gone, so that nobody tells that they have ended. Only pods that are to end: a controller manager also ends
 * others, but without one, a pod on a node that does not exist may be somebody's test, and is no reason to delete anything.
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
