import type { JsonObject, JsonValue } from '../api/object-meta.ts';

/** JSON Merge Patch (RFC 7386): null deletes, objects merge, everything else replaces. The input is not changed. */
export function applyMergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const out: JsonObject = isObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    if (value === null) delete out[key];
    else setField(out, key, applyMergePatch(Object.hasOwn(out, key) ? out[key] : undefined, value));
  }
  return out;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A key from a client, `__proto__` included, becomes a field like any other. */
export function setField(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
