import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import type { GoText } from '../../object/go-value.ts';
import { isObject } from '../../object/merge-patch.ts';

const WHY = 'field is immutable';

/** One value. Absent equals null. `show` writes a struct as messages have it. */
export function validateImmutableField(
  path: string,
  value: JsonValue | undefined,
  old: JsonValue | undefined,
  show?: (value: JsonObject) => GoText,
): FieldError[] {
  if (equal(value ?? null, old ?? null)) return [];
  const given = show !== undefined && isObject(value) ? show(value) : (value ?? null);
  return [invalidValue(path, given, WHY)];
}
