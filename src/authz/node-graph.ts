import type { GroupResource } from '../api/names.ts';
import type { PersistentVolume, Pod } from '../api/types/core/v1.ts';
import type { ResourceSlice } from '../api/types/resource/v1alpha3.ts';
import type { VolumeAttachment } from '../api/types/storage/v1.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { Followed } from '../storage/follower.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { type NodeRelations, type Reference, type RelatedKind, toReference } from './node-relations.ts';
import { podReferences, volumeSecrets } from './pod-references.ts';

interface RunningPod {
  readonly uid: string;
  readonly node: string;
  readonly references: readonly Reference[];
  /** References to claims made for the pod come with its status; all others are as immutable as the pod's node. */
  readonly mayGain: boolean;
}

interface BoundVolume {
  readonly claim: Reference;
  readonly secrets: readonly Reference[];
}

/**
 * The relations of nodes, from watches of pods, persistent volumes, volume attachments and resource slices:
 *
 *   node ← pod ← secret, config map, claim, service account, resource claim
 *                claim ← persistent volume ← secret
 *   node ← volume attachment, resource slice
 */
export class NodeGraph implements NodeRelations {
  readonly #pods = new Map<string, RunningPod>();
  /** For what pods refer to: on which nodes, and for how many pods. */
  readonly #nodesOf = new Map<Reference, Map<string, number>>();
  readonly #volumes = new Map<string, BoundVolume>();
  readonly #volumesOfSecret = new Map<Reference, Set<string>>();
  /** Attachments and slices: the one node each belongs to. */
  readonly #owners = new Map<Reference, string>();

  /** What has to be followed. */
  readonly sources: readonly { readonly resource: GroupResource; readonly index: Followed }[] = [
    { resource: { group: '', resource: 'pods' }, index: this.#podIndex() },
    { resource: { group: '', resource: 'persistentvolumes' }, index: this.#volumeIndex() },
    {
      resource: { group: 'storage.k8s.io', resource: 'volumeattachments' },
      index: this.#ownerIndex('volumeattachment'),
    },
    {
      resource: { group: 'resource.k8s.io', resource: 'resourceslices' },
      index: this.#ownerIndex('resourceslice'),
    },
  ];

  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean {
    if (kind === 'persistentvolume') return this.#usesVolume(node, name);
    const reference = toReference(kind, namespace, name);
    if (kind === 'volumeattachment' || kind === 'resourceslice') return this.#owners.get(reference) === node;
    if (this.#nodesOf.get(reference)?.has(node) === true) return true;
    if (kind !== 'secret') return false;
    for (const volume of this.#volumesOfSecret.get(reference) ?? [])
      if (this.#usesVolume(node, volume)) return true;
    return false;
  }

  #usesVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(name);
    return volume !== undefined && this.#nodesOf.get(volume.claim)?.has(node) === true;
  }

  #podIndex(): Followed {
    return {
      replace: (entries) => {
        this.#pods.clear();
        this.#nodesOf.clear();
        for (const entry of entries) this.#addPod(entry);
      },
      apply: ({ type, entry }: ObjectEvent) => {
        if (type === 'DELETED') this.#removePod(podKey(entry));
        else this.#addPod(entry);
      },
    };
  }

  #addPod(entry: Entry): void {
    const node = entry.fields['spec.nodeName'] ?? '';
    if (node === '') return;
    const key = podKey(entry);
    const known = this.#pods.get(key);
    // Status changes often; what the pod refers to does not.
    if (known?.uid === entry.uid && known.node === node && !known.mayGain) return;
    this.#removePod(key);
    const pod = parseStored<Pod>(entry.json);
    const references = [...new Set(podReferences(pod))];
    for (const reference of references) count(this.#nodesOf, reference, node, 1);
    const mayGain = pod.spec?.resourceClaims !== undefined;
    this.#pods.set(key, { uid: entry.uid, node, references, mayGain });
  }

  #removePod(key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    for (const reference of pod.references) count(this.#nodesOf, reference, pod.node, -1);
    this.#pods.delete(key);
  }

  #volumeIndex(): Followed {
    return {
      replace: (entries) => {
        this.#volumes.clear();
        this.#volumesOfSecret.clear();
        for (const entry of entries) this.#addVolume(entry);
      },
      apply: ({ type, entry }: ObjectEvent) => {
        this.#removeVolume(entry.name);
        if (type !== 'DELETED') this.#addVolume(entry);
      },
    };
  }

  /** A volume that no claim is bound to concerns no node. */
  #addVolume(entry: Entry): void {
    const { spec = {} } = parseStored<PersistentVolume>(entry.json);
    if (spec.claimRef === undefined) return;
    const { namespace = '', name = '' } = spec.claimRef;
    const claim = toReference('persistentvolumeclaim', namespace, name);
    const secrets = volumeSecrets(spec);
    this.#volumes.set(entry.name, { claim, secrets });
    for (const secret of secrets) {
      const volumes = this.#volumesOfSecret.get(secret);
      if (volumes === undefined) this.#volumesOfSecret.set(secret, new Set([entry.name]));
      else volumes.add(entry.name);
    }
  }

  #removeVolume(name: string): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesOfSecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret);
    }
    this.#volumes.delete(name);
  }

  #ownerIndex(kind: 'volumeattachment' | 'resourceslice'): Followed {
    const set = (entry: Entry): void => {
      const nodeName = parseStored<VolumeAttachment | ResourceSlice>(entry.json).spec?.nodeName;
      const reference = toReference(kind, '', entry.name);
      if (nodeName === undefined || nodeName === '') this.#owners.delete(reference);
      else this.#owners.set(reference, nodeName);
    };
    return {
      replace: (entries) => {
        for (const key of this.#owners.keys()) if (key.startsWith(`${kind}\0`)) this.#owners.delete(key);
        for (const entry of entries) set(entry);
      },
      apply: ({ type, entry }: ObjectEvent) => {
        if (type === 'DELETED') this.#owners.delete(toReference(kind, '', entry.name));
        else set(entry);
      },
    };
  }
}

const podKey = ({ namespace, name }: Entry): string => `${namespace}\0${name}`;

function count(
  nodesOf: Map<Reference, Map<string, number>>,
  reference: Reference,
  node: string,
  by: 1 | -1,
): void {
  const nodes = nodesOf.get(reference) ?? new Map<string, number>();
  const pods = (nodes.get(node) ?? 0) + by;
  if (pods > 0) nodes.set(node, pods);
  else nodes.delete(node);
  if (nodes.size > 0) nodesOf.set(reference, nodes);
  else nodesOf.delete(reference);
}
