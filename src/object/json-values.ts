import type { JsonObject, JsonValue } from '../api/object-meta.ts';

/** Reads JSON whose types are not checked: a value that is absent or of another type counts as empty. */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A key from a client, `__proto__` included, becomes a field like any other. */
export function setField(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The object at a path of fields; empty when there is none. */
export function objectAt(object: JsonObject | undefined, ...path: readonly string[]): JsonObject {
  let value: JsonValue | undefined = object;
  // By index: the compiler then makes no list of the arguments, and validators call this a hundred times for a pod.
  for (let at = 0; at < path.length; at += 1) {
    const name = path[at] ?? '';
    value = isObject(value) ? value[name] : undefined;
  }
  return isObject(value) ? value : {};
}

const EMPTY: Readonly<JsonObject> = Object.freeze({});
const NO_OBJECTS: readonly JsonObject[] = Object.freeze([]);

/** A value as an object to read; empty for other types. The engine optimizes fields that are read by name. */
export const objectOf = (value: JsonValue | undefined): Readonly<JsonObject> =>
  isObject(value) ? value : EMPTY;

/** A value as a list of objects to read; empty for other types. */
export const objectsOf = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as JsonObject[]) : NO_OBJECTS;

/** A value as text; empty for other types. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const stringOf = (value: JsonValue | undefined, fallback = ''): string =>
  value === undefined || value === null || value === '' ? fallback : String(value);

/** Rounded beyond 2^53: for comparisons, not for messages. */
export const numberOf = (value: JsonValue | undefined): number =>
  typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : 0;

/** The value at a path of fields; undefined where the path leaves the object. */
export function valueAt(object: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = value[name];
  }
  return value;
}
