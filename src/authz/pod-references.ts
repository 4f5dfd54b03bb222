import type { PersistentVolumeSpec, Pod, SecretReference } from '../api/types/core/v1.ts';
import { podConfigMapNames, podSecretNames } from '../object/pod-spec.ts';
import { type Reference, type RelatedKind, toReference } from './node-relations.ts';

/**
 * What pods and volumes refer to, and the node that runs them therefore may read (Kubernetes: node authorizer, graph;
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

/** A claim made from a template is known by the pod's status, once it is there. */
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
  // These are in a namespace of their own, or else in that of the claim.
  const beside = [
    { namespace: azureFile?.secretNamespace, name: azureFile?.secretName },
    ...[cephfs, flexVolume, iscsi, rbd, scaleIO].map((source) => source?.secretRef),
  ].map((secret) => ({ name: secret?.name, namespace: secret?.namespace || claimRef?.namespace }));
  // These have their namespace beside them in any case. Of a CSI volume's secrets, some are the controller's alone.
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
