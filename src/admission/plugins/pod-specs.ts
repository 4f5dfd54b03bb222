import type { ApiObject, ObjectMeta } from '../../api/object-meta.ts';
import type { Pod, PodSpec } from '../../api/types/core/v1.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** The lists of containers in a pod spec, in the order in which they start. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

interface FoundPodSpec {
  readonly spec: PodSpec;
  /** The annotations of the pod, or of the template. */
  readonly annotations: ObjectMeta['annotations'];
  readonly path: string;
}

/** The pod spec of an object; undefined for objects without one, such as the bodies of subresources. */
export function podSpecOf(
  { definition }: AdmissionAttributes,
  object: ApiObject | undefined,
): FoundPodSpec | undefined {
  const { podTemplate } = definition;
  const template = object && podTemplate?.read(object);
  if (podTemplate === undefined || template?.spec === undefined) return undefined;
  return { spec: template.spec, annotations: template.metadata?.annotations, path: podTemplate.path };
}

/** The spec of a pod, to be changed in place; a pod that came without one gets an empty one. */
export function specOf(pod: Pod): PodSpec {
  pod.spec ??= {};
  return pod.spec;
}

/** Whether the kubelet made the pod to mirror one of its static pods. Plugins must not change such a pod. */
export const isMirrorPod = ({ metadata }: Pod): boolean =>
  metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
