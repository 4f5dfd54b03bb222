import type { ApiObject, ObjectMeta } from '../../api/object-meta.ts';
import type { PodSpec } from '../../api/types/core/v1.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** Where a pod spec has its containers, in the order they begin. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export interface FoundPodSpec {
  readonly spec: PodSpec;
  /** The annotations that the pods have, or would get. */
  readonly annotations: ObjectMeta['annotations'];
  readonly path: string;
}

/** The pod spec of an object; undefined for objects that have none, as the bodies of subresources. */
export function podSpecOf(
  { definition }: AdmissionAttributes,
  object: ApiObject | undefined,
): FoundPodSpec | undefined {
  const { podTemplate } = definition;
  const template = object && podTemplate?.read(object);
  if (podTemplate === undefined || template?.spec === undefined) return undefined;
  return { spec: template.spec, annotations: template.metadata?.annotations, path: podTemplate.path };
}
