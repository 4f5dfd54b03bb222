import type { JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';

/** An absent value equals null. */
export function validateImmutableField(
  path: string,
  value: JsonValue | undefined,
  old: JsonValue | undefined,
): FieldError[] {
  return equal(value ?? null, old ?? null) ? [] : [invalidValue(path, value ?? null, 'field is immutable')];
}
