import type { JsonObject } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import { forbiddenField } from '../../object/field-errors.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { listOf, podSpecOf } from './pod-specs.ts';

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

/** Without --allow-privileged no container may be privileged, in pods and in templates of pods. */
export const refusePrivileged: AdmissionPlugin = {
  name: 'PrivilegedContainers',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    const found = podSpecOf(attributes, attributes.object);
    if (found === undefined) return;
    const errors = LISTS.flatMap((list) => privilegedIn(found.spec, list, `${found.path}.${list}`));
    if (errors.length > 0 && !wasAllowedBefore(attributes)) {
      throw invalid(attributes.definition, attributes.object?.metadata.name ?? '', errors);
    }
  },
};

function privilegedIn(spec: JsonObject, list: string, path: string): FieldError[] {
  return listOf(spec, list).flatMap(({ securityContext }, at) =>
    isObject(securityContext) && securityContext.privileged === true
      ? [forbiddenField(`${path}[${at}].securityContext.privileged`, 'disallowed by cluster policy')]
      : [],
  );
}

/** An object from a time when it was allowed can still be labelled, finished and deleted. */
function wasAllowedBefore(attributes: AdmissionAttributes): boolean {
  const before = podSpecOf(attributes, attributes.old);
  return before !== undefined && LISTS.some((list) => privilegedIn(before.spec, list, '').length > 0);
}
