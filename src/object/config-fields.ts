import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { notSupported, required } from './field-errors.ts';

/** How files that configure the server are checked: `problems` takes what is wrong, so that all of it is told at once. */

export function checkOneOf(
  value: JsonValue | undefined,
  supported: readonly string[],
  field: string,
  problems: FieldError[],
): void {
  if (value === undefined || value === '') problems.push(required(field));
  else if (!supported.some((one) => one === value)) problems.push(notSupported(field, value, supported));
}

/** A name that nobody knows is a mistake that would weaken or close the server unseen. */
export function checkFields(
  object: JsonObject,
  known: readonly string[],
  path: string,
  problems: FieldError[],
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    problems.push({
      type: 'FieldValueForbidden',
      field: path === '' ? name : `${path}.${name}`,
      message: 'unknown field',
    });
  }
}

/** @throws Error that names everything that is wrong, if anything is; `what` says of which file: `admission configuration` */
export function throwProblems(what: string, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  throw new Error(`${what}: ${problems.map(({ field, message }) => `${field}: ${message}`).join(', ')}`);
}

export const asObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
