import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { checkPercent } from '../../object/formats.ts';
import { goIntOrString, invalidShown } from './notation.ts';
import { validateNonNegative } from './values.ts';

/** Numbers of one object that cannot be negative; those that are absent are no mistake. */
export function validateCounts(object: JsonObject, names: readonly string[], path: string): FieldError[] {
  return names.flatMap((name) => validateNonNegative(`${path}.${name}`, object[name]));
}

/** `3` or `25%`; not `-1`, `25` as a text, or `a lot`. */
export function validateIntOrPercent(value: JsonValue | undefined, field: string): FieldError[] {
  if (typeof value === 'string') {
    return checkPercent(value).map((why) => invalidShown(field, goIntOrString(value), why));
  }
  return validateNonNegative(field, value);
}

/** No more than all of them; a number may exceed what there is. */
export function validateAtMostAll(value: JsonValue | undefined, field: string): FieldError[] {
  if (typeof value !== 'string' || checkPercent(value).length > 0) return [];
  return Number.parseInt(value, 10) <= 100
    ? []
    : [invalidShown(field, goIntOrString(value), 'must not be greater than 100%')];
}

/** Whether it means none at all: 0, `0%`, or a text that is neither a number nor a percentage. */
export function isZeroIntOrPercent(value: JsonValue | undefined): boolean {
  if (typeof value !== 'string') return value === undefined || value === null || value === 0;
  return !/^[+-]?0*[1-9]\d*%?$/.test(value);
}
