import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { notSupported, required } from './field-errors.ts';

/** Checks of configuration files. Each check adds to `problems`, so that one error reports everything wrong with a file. */

export function checkOneOf(
  value: JsonValue | undefined,
  supported: readonly string[],
  field: string,
  problems: FieldError[],
): void {
  if (value === undefined || value === '') problems.push(required(field));
  else if (!supported.some((one) => one === value)) problems.push(notSupported(field, value, supported));
}

/** An unknown field is an error: a misspelt one, if it were ignored, would weaken or close the server unnoticed. */
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

/** `what` names the file: `admission configuration`. @throws Error with all problems, when there are any */
export function throwProblems(what: string, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  throw new Error(`${what}: ${problems.map(({ field, message }) => `${field}: ${message}`).join(', ')}`);
}

export const asObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
