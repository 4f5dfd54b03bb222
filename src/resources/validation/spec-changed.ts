import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';

type Validate = (object: ApiObject, old?: ApiObject) => FieldError[];

/**
 * For rules that look at nothing but the spec: one that is as it was stored is good. Controllers write the status of
 * workloads many times for each change of their templates.
 */
export const whenSpecChanged =
  (validate: (object: ApiObject) => FieldError[]): Validate =>
  (object, old) =>
    old !== undefined && equal(object.spec, old.spec) ? [] : validate(object);
