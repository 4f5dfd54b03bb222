import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, invalidValue } from '../../object/field-errors.ts';

/** Reading of loosely typed objects, and mistakes that can be made in any list or field. */

export const has = (object: JsonObject, name: string): boolean =>
  object[name] !== undefined && object[name] !== null;

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
