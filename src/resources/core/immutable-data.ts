import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';

/** Config maps and secrets that are marked immutable stay so, and so do their contents. */
export function validateImmutableData(
  object: ApiObject,
  old: ApiObject,
  fields: readonly string[],
): FieldError[] {
  if (old.immutable !== true) return [];
  const changed = fields.filter((field) => !equal(object[field], old[field]));
  if (object.immutable !== true) changed.unshift('immutable');
  return changed.map((field) => ({
    type: 'FieldValueForbidden',
    field,
    message: 'Forbidden: field is immutable when `immutable` is set',
  }));
}
