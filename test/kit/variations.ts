import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';

/** A copy of an object with one place changed. `path` is `spec.containers.0.image`; undefined takes the field away. */
export function vary(object: JsonObject, path: string, value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(object);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let place: JsonObject = copy;
  for (const key of keys) {
    place[key] ??= {};
    place = place[key] as JsonObject;
  }
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

/** Several places at once. */
export function varyAll(
  object: JsonObject,
  changes: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  return Object.entries(changes).reduce((varied, [path, value]) => vary(varied, path, value), object);
}
