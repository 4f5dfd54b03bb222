import type { Gates } from '../../api/feature-gates.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';

/** A rule of a whole object. `old`: the stored object of an update. */
type Rule<T extends ApiObject> = (at: FieldPath, object: T, old?: T) => void;
/** A rule that restricts an update. */
type UpdateRule<T extends ApiObject> = (at: FieldPath, object: T, old: T) => void;

/** Converts rules to functions of a strategy, which return lists of errors. */
export const checked =
  <T extends ApiObject>(rule: Rule<T>) =>
  (object: T, old?: T, isOn?: Gates): FieldError[] =>
    problemsOf((at) => rule(at, object, old), '', isOn);

export const checkedUpdate =
  <T extends ApiObject>(rule: UpdateRule<T>) =>
  (object: T, old: T, isOn?: Gates): FieldError[] =>
    problemsOf((at) => rule(at, object, old), '', isOn);

/**
 * For rules about the spec alone: an unchanged spec counts as valid. Controllers write the status of workloads many times for
 * each change of their templates.
 */
export const whenSpecChanged =
  <T extends ApiObject>(rule: Rule<T>): Rule<T> =>
  (at, object, old) => {
    if (old === undefined || !equal(object.spec, old.spec)) rule(at, object);
  };

/**
 * A rule that was made stricter after objects had been stored. An object that breaks it already may go on breaking it, so that
 * a change of something else is not stopped by it; one that keeps it may not begin to break it (Kubernetes: the options of
 * validation that are computed from the old object).
 */
export interface Ratchet<T extends ApiObject = ApiObject> {
  /** Whether an error is of this rule. */
  covers(error: FieldError, object: T): boolean;
  /** Whether `old` may break the rule. Absent: it may if it does so already. */
  allows?(old: T, object: T): boolean;
  /** The very same value must have been there before. */
  readonly sameValue?: boolean;
}

type Validate = (object: ApiObject, old?: ApiObject, isOn?: Gates) => FieldError[];

/** Validates the stored object only when the new one would be refused. */
export const ratcheted =
  (validate: Validate, ratchets: readonly Ratchet[]): Validate =>
  (object, old, isOn) => {
    const errors = validate(object, old, isOn);
    if (old === undefined || errors.length === 0) return errors;
    const before = validate(old, undefined, isOn);
    const open = ratchets.filter((ratchet) => isOpen(ratchet, { object, old, errors, before }));
    return errors.filter((error) => !open.some(({ covers }) => covers(error, object)));
  };

interface Change {
  readonly object: ApiObject;
  readonly old: ApiObject;
  readonly errors: readonly FieldError[];
  readonly before: readonly FieldError[];
}

function isOpen({ covers, allows, sameValue }: Ratchet, { object, old, errors, before }: Change): boolean {
  if (allows !== undefined) return allows(old, object);
  const broken = before.filter((error) => covers(error, old));
  if (sameValue !== true) return broken.length > 0;
  return errors.some(
    (error) => covers(error, object) && broken.some(({ message }) => message === error.message),
  );
}

/** Errors of a field, and if it is given also of a text. */
export const ratchetOf = (field: RegExp, message?: RegExp): Ratchet => ({
  covers: (error) => field.test(error.field) && (message === undefined || message.test(error.message)),
});

/** Values in the requirements of a label selector, which once could be any text. */
export const selectorRatchet = (path: string): Ratchet =>
  ratchetOf(new RegExp(`^${path}\\.matchExpressions\\[\\d+\\]\\.values\\[\\d+\\]$`));
