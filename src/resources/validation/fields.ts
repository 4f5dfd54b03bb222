import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { duplicate, invalidValue } from '../../object/field-errors.ts';

/** Reading of loosely typed objects, and mistakes that can be made in any list or field. */

export const has = (object: JsonObject, name: string): boolean =>
  object[name] !== undefined && object[name] !== null;

/** A list of texts inside an object; empty when it is absent. */
export function texts(object: JsonObject, name: string): string[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Any value as an object; empty when it is none. */
export const toObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** One error for each value that came before. An empty value is somebody else's mistake. */
export function duplicates(values: readonly string[], pathOf: (at: number) => string): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [at, value] of values.entries()) {
    if (value !== '' && seen.has(value)) errors.push(duplicate(pathOf(at), value));
    seen.add(value);
  }
  return errors;
}

/** All that is wrong with a value as one error. */
export const joinedInvalid = (field: string, value: unknown, reasons: readonly string[]): FieldError[] =>
  reasons.length === 0 ? [] : [invalidValue(field, value, reasons.join(','))];

export const immutableField = (
  field: string,
  value: JsonValue | undefined,
  old: JsonValue | undefined,
): FieldError[] => (equal(value, old) ? [] : [invalidValue(field, value ?? null, 'field is immutable')]);
