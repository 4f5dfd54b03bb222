import type { PodSpec, Volume, VolumeProjection } from '../../../api/types/core/v1.ts';
import { podConfigMapNames, podSecretNames } from '../../../object/pod-spec.ts';

/**
 * The first kind of object that a pod refers to. A mirror pod must refer to none: a node may read what its pods refer to, so its
 * own pods would give it access to more (Kubernetes: pkg/api/pod, HasAPIObjectReference). Undefined: the pod stands alone.
 */
export function referenceOf(spec: PodSpec): string | undefined {
  if ((spec.serviceAccountName ?? '') !== '') return 'a service account';
  if (podSecretNames(spec).length > 0) return 'secrets';
  if (podConfigMapNames(spec).length > 0) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  return (spec.volumes ?? []).map(referenceOfVolume).find((what) => what !== undefined);
}

/** Also of a volume that names no object yet. */
function referenceOfVolume(volume: Volume): string | undefined {
  const found = VOLUMES.find(([field]) => volume[field] !== undefined);
  if (found !== undefined) return found[1];
  return (volume.projected?.sources ?? [])
    .flatMap((source) => SOURCES.find(([field]) => source[field] !== undefined)?.[1] ?? [])
    .at(0);
}

const VOLUMES: readonly (readonly [keyof Volume, string])[] = [
  ['configMap', 'configmaps (via configmap volumes)'],
  ['secret', 'secrets (via secret volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['azureFile', 'secrets (via azureFile volumes)'],
];

const SOURCES: readonly (readonly [keyof VolumeProjection, string])[] = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
];
