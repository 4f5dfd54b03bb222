import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue } from '../../object/field-errors.ts';
import { checkPercent } from '../../object/formats.ts';
import { goIntOrString, invalidShown } from './notation.ts';

/** Numbers that cannot be negative; those that are absent are no mistake. */
export function validateNonNegative(
  object: JsonObject,
  names: readonly string[],
  path: string,
): FieldError[] {
  return names.flatMap((name) => {
    const value = object[name];
    return typeof value === 'number' && value < 0
      ? [invalidValue(`${path}.${name}`, value, 'must be greater than or equal to 0')]
      : [];
  });
}

/** `3` or `25%`; not `-1`, `25` as a text, or `a lot`. */
export function validateIntOrPercent(value: JsonValue | undefined, field: string): FieldError[] {
  if (typeof value === 'string') {
    return checkPercent(value).map((why) => invalidShown(field, goIntOrString(value), why));
  }
  return typeof value === 'number' && value < 0
    ? eachInvalid(field, value, ['must be greater than or equal to 0'])
    : [];
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
