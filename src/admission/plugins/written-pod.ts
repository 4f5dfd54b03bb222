import type { Pod, PodSpec } from '../../api/types/core/v1.ts';

/** The spec of a pod, to be changed in place; a pod that came without one gets an empty one. */
export function specOf(pod: Pod): PodSpec {
  pod.spec ??= {};
  return pod.spec;
}

/** The kubelet shows pods of its own files so; whatever it shows must not be changed. */
export const isMirrorPod = ({ metadata }: Pod): boolean =>
  metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
