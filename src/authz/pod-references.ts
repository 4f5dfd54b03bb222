import type { PersistentVolumeSpec, Pod, SecretReference } from '../api/types/core/v1.ts';
import { podConfigMapNames, podSecretNames } from '../object/pod-spec.ts';
import { type Reference, type RelatedKind, toReference } from './node-relations.ts';

/**
 * The objects that pods and volumes refer to, which their node may therefore read (Kubernetes: node authorizer, graph;
 * pkg/api/v1/pod, VisitPodConfigmapNames).
 */

const MIRROR = 'kubernetes.io/config.mirror';

/** A mirror pod gives its node nothing, because the node itself makes such pods. */
export function podReferences(pod: Pod): Reference[] {
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
  return (spec?.resourceClaims ?? []).map(
    ({ name = '', resourceClaimName }) => resourceClaimName ?? made.get(name) ?? '',
  );
}

/** The secrets that a node needs to mount a persistent volume. */
export function volumeSecrets(spec: PersistentVolumeSpec): Reference[] {
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
