import { type FieldError, invalid } from '../../api/status.ts';
import type { Container, EphemeralContainer, PodSpec } from '../../api/types/core/v1.ts';
import { forbiddenField } from '../../object/field-errors.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { CONTAINER_LISTS, podSpecOf } from './pod-specs.ts';

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
    const errors = CONTAINER_LISTS.flatMap((list) =>
      privilegedIn(found.spec[list] ?? [], `${found.path}.${list}`),
    );
    throw invalid(attributes.definition, attributes.object?.metadata.name ?? '', errors);
  },
};

type SomeContainer = Container | EphemeralContainer;

const hasPrivileged = (spec: PodSpec): boolean =>
  CONTAINER_LISTS.some((list) => spec[list]?.some(isPrivileged) === true);

const isPrivileged = ({ securityContext }: SomeContainer): boolean => securityContext?.privileged === true;

const privilegedIn = (containers: readonly SomeContainer[], path: string): FieldError[] =>
  containers.flatMap((container, at) =>
    isPrivileged(container)
      ? [forbiddenField(`${path}[${at}].securityContext.privileged`, 'disallowed by cluster policy')]
      : [],
  );
