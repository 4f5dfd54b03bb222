import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import { qosClass } from '../../object/pod-qos.ts';

/** As it was found when the pod was created. */
export const qosClassOf = (pod: ApiObject): string =>
  text(part(pod, 'status').qosClass, qosClass(part(pod, 'spec')));
