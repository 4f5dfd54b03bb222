import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue } from '../../object/field-errors.ts';
import { checkName, type NameRule } from '../../object/formats.ts';

/** Reading and walking loosely typed objects, as every validator does. */

/** Absent, or written as null, which means the same. */
export const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

export function strings(object: JsonObject, name: string): string[] {
  const value = object[name];
  return Array.isArray(value) ? value.map(String) : [];
}

export function numbers(object: JsonObject, name: string): number[] {
  const value = object[name];
  return Array.isArray(value) ? value.map(Number) : [];
}

/** What is returned may be the object's own map: it is for reading. */
export function stringMap(object: JsonObject, name: string): Readonly<Record<string, string>> {
  const value = object[name];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  if (holdsStrings(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]));
}

function holdsStrings(object: JsonObject): object is Record<string, string> {
  for (const name in object) if (typeof object[name] !== 'string') return false;
  return true;
}

/** Every item of a list under its own path: `spec.containers[0]`. */
export function each<T>(
  items: readonly T[],
  path: string,
  validate: (item: T, path: string, at: number) => FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, item] of items.entries()) errors.push(...validate(item, `${path}[${at}]`, at));
  return errors;
}

export function validateName(path: string, name: string, rule: NameRule): FieldError[] {
  return eachInvalid(path, name, checkName(name, rule));
}

/** Integers that a number cannot hold are numbers too. */
export const isNumber = (value: JsonValue | undefined): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** An absent number is nothing to complain of. */
export function validateNonNegative(path: string, value: JsonValue | undefined): FieldError[] {
  return isNumber(value) && value < 0
    ? [invalidValue(path, value, 'must be greater than or equal to 0')]
    : [];
}

export function validateRange(
  path: string,
  value: JsonValue | undefined,
  least: number,
  most: number,
): FieldError[] {
  return isNumber(value) && (value < least || value > most)
    ? [invalidValue(path, value, `must be between ${least} and ${most}, inclusive`)]
    : [];
}
