import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { addInvalid, eachInvalid, invalidValue } from '../../object/field-errors.ts';
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

const NO_STRINGS: Readonly<Record<string, string>> = Object.freeze({});

/** What is returned may be the object's own map: it is for reading. */
export function stringMap(object: JsonObject, name: string): Readonly<Record<string, string>> {
  const value = object[name];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NO_STRINGS;
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

/** The same for rules that add to one list of errors, so that nothing is made for what is good. */
export function eachAt<T>(
  items: readonly T[],
  path: string,
  look: (item: T, path: string, at: number) => void,
): void {
  let at = 0;
  for (const item of items) {
    look(item, `${path}[${at}]`, at);
    at += 1;
  }
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

/** Adds what is wrong with a name under a rule. */
export function addName(errors: FieldError[], path: string, name: string, rule: NameRule): void {
  addInvalid(errors, path, name, checkName(name, rule));
}

/** However many: spreading them as arguments has a limit. */
export function addAll<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}

/** The field `name` at `path` is no number below zero. */
export function addNonNegative(
  errors: FieldError[],
  path: string,
  name: string,
  value: JsonValue | undefined,
): void {
  if (isNumber(value) && value < 0) addAll(errors, validateNonNegative(`${path}.${name}`, value));
}

/** A number that is there lies between two others, both inclusive. */
export function addRange(
  errors: FieldError[],
  path: string,
  value: JsonValue | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  addAll(errors, validateRange(path, value, least, most));
}
