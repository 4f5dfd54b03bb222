import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';

/** A rule of a whole object. `old` is what is stored, on an update. */
export type Rule<T extends ApiObject> = (at: FieldPath, object: T, old?: T) => void;
/** A rule of a change: what an update may not do. */
export type UpdateRule<T extends ApiObject> = (at: FieldPath, object: T, old: T) => void;

/** Rules as the strategy of a resource takes them: a list of what they find. */
export const checked =
  <T extends ApiObject>(rule: Rule<T>) =>
  (object: T, old?: T): FieldError[] =>
    problemsOf((at) => rule(at, object, old));

export const checkedUpdate =
  <T extends ApiObject>(rule: UpdateRule<T>) =>
  (object: T, old: T): FieldError[] =>
    problemsOf((at) => rule(at, object, old));

/**
 * For rules that look at nothing but the spec: one that is as it was stored is good. Controllers write the status of
 * workloads many times for each change of their templates.
 */
export const whenSpecChanged =
  <T extends ApiObject>(rule: Rule<T>): Rule<T> =>
  (at, object, old) => {
    if (old === undefined || !equal(object.spec, old.spec)) rule(at, object);
  };
