import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { AdmissionAttributes } from '../admission.ts';

/** Whether it is a pod itself that is written, rather than a subresource of one. */
export const isPodWrite = ({ definition, subresource }: AdmissionAttributes): boolean =>
  definition.resource === 'pods' && definition.group === '' && subresource === '';

/** The spec of a pod, to be changed in place; a pod that came without one gets an empty one. */
export function specOf(pod: ApiObject): JsonObject {
  const { spec } = pod;
  if (isObject(spec)) return spec;
  const empty: JsonObject = {};
  pod.spec = empty;
  return empty;
}

/** The kubelet shows pods of its own files so; whatever it shows must not be changed. */
export const isMirrorPod = ({ metadata }: ApiObject): boolean =>
  metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
