import type { GroupResource } from '../api/names.ts';
import type { PodCertificateRequest } from '../api/types/certificates/v1alpha1.ts';
import type { PersistentVolume, PersistentVolumeSpec, Pod, SecretReference } from '../api/types/core/v1.ts';
import type { ResourceSlice } from '../api/types/resource/v1alpha3.ts';
import type { VolumeAttachment } from '../api/types/storage/v1.ts';
import { parseStored } from '../codec/stored-object.ts';
import { podConfigMapNames, podSecretNames } from '../object/pod-spec.ts';
import type { Followed } from '../storage/follower.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';

/** Kinds of objects that a node may read because its pods need them. */
export type RelatedKind =
  | 'secret'
  | 'configmap'
  | 'persistentvolumeclaim'
  | 'persistentvolume'
  | 'resourceclaim'
  | 'resourceslice'
  | 'volumeattachment'
  | 'podcertificaterequest'
  | 'serviceaccount'
  | 'pod';

/** Objects that name their node. */
const OWNED = ['volumeattachment', 'resourceslice', 'podcertificaterequest'] as const;
type OwnedKind = (typeof OWNED)[number];

const isOwned = (kind: RelatedKind): kind is OwnedKind => OWNED.some((one) => one === kind);

/** Tells the Node authorizer which objects concern a node. NodeGraph answers from watches. */
export interface NodeRelations {
  /** `namespace` is '' for cluster-scoped objects. */
  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean;
}

/** One object that a pod or volume refers to, as a key. */
type Reference = string;

const toReference = (kind: RelatedKind, namespace: string, name: string): Reference =>
  `${kind}\0${namespace}\0${name}`;

interface RunningPod {
  readonly uid: string;
  readonly node: string;
  readonly references: readonly Reference[];
  /** Whether the pod may get more references: claims made for a pod come with its status, all others are immutable. */
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
 *   node ← volume attachment, resource slice, request for a certificate of a pod
 */
export class NodeGraph implements NodeRelations {
  readonly #pods = new Map<string, RunningPod>();
  /** For each referenced object, its nodes with the number of pods that refer to it. */
  readonly #nodesOf = new Map<Reference, Map<string, number>>();
  readonly #volumes = new Map<string, BoundVolume>();
  readonly #volumesOfSecret = new Map<Reference, Set<string>>();
  /** For each attachment, slice and request, its node. */
  readonly #owners = new Map<Reference, string>();

  /** The resources to follow. */
  readonly sources: readonly { readonly resource: GroupResource; readonly index: Followed }[];

  readonly #podCertificates = {
    resource: { group: 'certificates.k8s.io', resource: 'podcertificaterequests' },
    index: this.#ownerIndex('podcertificaterequest'),
  };

  readonly #usualSources = [
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

  constructor({ hasPodCertificates = false }: { readonly hasPodCertificates?: boolean } = {}) {
    this.sources = hasPodCertificates ? [...this.#usualSources, this.#podCertificates] : this.#usualSources;
  }

  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean {
    if (kind === 'persistentvolume') return this.#usesVolume(node, name);
    if (kind === 'pod') return this.#pods.get(podKey({ namespace, name }))?.node === node;
    const reference = toReference(kind, namespace, name);
    if (isOwned(kind)) return this.#owners.get(reference) === node;
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
    // The status changes often, the references do not.
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

  /** A volume without a bound claim concerns no node. */
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

  #ownerIndex(kind: OwnedKind): Followed {
    const set = (entry: Entry): void => {
      const nodeName = parseStored<VolumeAttachment | ResourceSlice | PodCertificateRequest>(entry.json).spec
        ?.nodeName;
      const reference = toReference(kind, entry.namespace, entry.name);
      if (nodeName === undefined || nodeName === '') this.#owners.delete(reference);
      else this.#owners.set(reference, nodeName);
    };
    return {
      replace: (entries) => {
        for (const key of this.#owners.keys()) if (key.startsWith(`${kind}\0`)) this.#owners.delete(key);
        for (const entry of entries) set(entry);
      },
      apply: ({ type, entry }: ObjectEvent) => {
        if (type === 'DELETED') this.#owners.delete(toReference(kind, entry.namespace, entry.name));
        else set(entry);
      },
    };
  }
}

const podKey = ({ namespace, name }: Pick<Entry, 'namespace' | 'name'>): string => `${namespace}\0${name}`;

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

/**
 * The objects that pods and volumes refer to, which their node may therefore read (Kubernetes: node authorizer, graph;
 * pkg/api/v1/pod, VisitPodConfigmapNames).
 */

const MIRROR = 'kubernetes.io/config.mirror';

/** A mirror pod gives its node nothing, because the node itself makes such pods. */
function podReferences(pod: Pod): Reference[] {
  const { metadata, spec = {} } = pod;
  const { namespace = '', annotations } = metadata;
  if (annotations?.[MIRROR] !== undefined) return [];
  const named = (kind: RelatedKind, names: readonly string[]): Reference[] =>
    names.filter((name) => name !== '').map((name) => toReference(kind, namespace, name));
  return [
    ...named('serviceaccount', [spec.serviceAccountName ?? '']),
    ...named('secret', podSecretNames(spec)),
    ...named('configmap', podConfigMapNames(spec)),
    ...named('persistentvolumeclaim', claimNames(pod)),
    ...named('resourceclaim', resourceClaimNames(pod)),
  ];
}

/** The claim of an ephemeral volume has the names of the pod and the volume. */
const claimNames = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).map(({ name = '', persistentVolumeClaim, ephemeral }) =>
    persistentVolumeClaim === undefined && ephemeral !== undefined
      ? `${metadata.name ?? ''}-${name}`
      : (persistentVolumeClaim?.claimName ?? ''),
  );

/** The status of the pod names a claim made from a template, once it exists. */
function resourceClaimNames({ spec, status }: Pod): string[] {
  const statuses = status?.resourceClaimStatuses ?? [];
  const made = new Map(
    statuses.map(({ name = '', resourceClaimName = '' }) => [name, resourceClaimName] as const),
  );
  return [
    ...(spec?.resourceClaims ?? []).map(
      ({ name = '', resourceClaimName }) => resourceClaimName ?? made.get(name) ?? '',
    ),
    status?.extendedResourceClaimStatus?.resourceClaimName ?? '',
  ];
}

/** The secrets that a node needs to mount a persistent volume. */
function volumeSecrets(spec: PersistentVolumeSpec): Reference[] {
  const { claimRef, azureFile, cephfs, flexVolume, iscsi, rbd, scaleIO, cinder, storageos, csi } = spec;
  // References with a namespace of their own; without one, that of the claim.
  const beside = [
    { namespace: azureFile?.secretNamespace, name: azureFile?.secretName },
    ...[cephfs, flexVolume, iscsi, rbd, scaleIO].map((source) => source?.secretRef),
  ].map((secret) => ({ name: secret?.name, namespace: secret?.namespace || claimRef?.namespace }));
  // References that always have a namespace. Some secrets of a CSI volume are for the controller alone, and not here.
  const placed: (Partial<SecretReference> | undefined)[] = [
    cinder?.secretRef,
    storageos?.secretRef,
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
  ];
  return [...beside, ...placed].flatMap((secret) =>
    secret?.name ? [toReference('secret', secret.namespace ?? '', secret.name)] : [],
  );
}
