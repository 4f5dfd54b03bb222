import type { JsonObject } from '../../api/object-meta.ts';
import { type FieldError, invalid } from '../../api/status.ts';
import { forbiddenField } from '../../object/field-errors.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { listOf, podSpecOf } from './pod-specs.ts';

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'];

/** Without --allow-privileged no container may be privileged, in pods and in templates of pods. */
export const refusePrivileged: AdmissionPlugin = {
  name: 'PrivilegedContainers',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    const found = podSpecOf(attributes, attributes.object);
    if (found === undefined || !hasPrivileged(found.spec)) return;
    const before = podSpecOf(attributes, attributes.old)?.spec;
    // An object from a time when it was allowed can still be labelled, finished and deleted.
    if (before !== undefined && hasPrivileged(before)) return;
    const path = found.path.join('.');
    const errors = LISTS.flatMap((list) => privilegedIn(found.spec, list, `${path}.${list}`));
    throw invalid(attributes.definition, attributes.object?.metadata.name ?? '', errors);
  },
};

const hasPrivileged = (spec: JsonObject): boolean =>
  LISTS.some((list) => spec[list] !== undefined && listOf(spec, list).some(isPrivileged));

const isPrivileged = ({ securityContext }: JsonObject): boolean =>
  isObject(securityContext) && securityContext.privileged === true;

function privilegedIn(spec: JsonObject, list: string, path: string): FieldError[] {
  return listOf(spec, list).flatMap((container, at) =>
    isPrivileged(container)
      ? [forbiddenField(`${path}[${at}].securityContext.privileged`, 'disallowed by cluster policy')]
      : [],
  );
}
