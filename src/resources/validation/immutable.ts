import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import type { GoText } from '../../object/go-value.ts';
import { isObject } from '../../object/merge-patch.ts';
import { part } from '../../object/parts.ts';
import { goLabelSelector, invalidShown } from './notation.ts';

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

/** Fields of one object that keep the value they had, be it none. */
export function validateImmutable(
  object: JsonObject,
  old: JsonObject,
  names: readonly string[],
  path: string,
): FieldError[] {
  return names
    .filter((name) => !equal(object[name], old[name]))
    .map((name) => invalidValue(`${path}.${name}`, object[name] ?? null, WHY));
}

/** The pods that something has once claimed stay its own. */
export function validateImmutableSelector(spec: JsonObject, old: JsonObject): FieldError[] {
  if (equal(spec.selector, old.selector)) return [];
  const selector = spec.selector === undefined ? undefined : part(spec, 'selector');
  return [invalidShown('spec.selector', goLabelSelector(selector), WHY)];
}
