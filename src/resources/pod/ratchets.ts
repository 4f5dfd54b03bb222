import { type Ratchet, ratchetOf } from '../rules/checked.ts';

/** Rules of pods, and of templates wherever they are, that came late (Kubernetes: api/pod, GetValidationOptionsFromPodSpecAndMeta). */
export const POD_RATCHETS: readonly Ratchet[] = [
  ratchetOf(/annotations\[controller\.kubernetes\.io\/pod-deletion-cost\]$/),
  ratchetOf(/\[hugepages-[^\]]+\]$/, /is not positive integer multiple of/),
  // One switch for all selectors of the object, those that workloads find their pods by included.
  ratchetOf(/(\.affinity\.pod(Anti)?Affinity\..*|^spec\.selector)\.matchExpressions\[\d+\]\.values\[\d+\]$/),
  ratchetOf(/\.topologySpreadConstraints\[\d+\]\.labelSelector\./),
  // Where the token of a service account is put, which messages say of the volume.
  ratchetOf(/\.projected\.path$/),
  ratchetOf(/\.sysctls\[\d+\]\.name$/, /may not be specified when 'host(Network|IPC)' is true$/),
  { ...ratchetOf(/\.(env\[\d+\]\.name|envFrom\[\d+\]\.prefix)$/, /^Invalid value/), sameValue: true },
];
