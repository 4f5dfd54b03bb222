import type { JsonObject, JsonValue } from '../api/object-meta.ts';

/** Returns an object without managed fields and resourceVersion, unless they are shown. */
export function withoutManagedFields(
  value: JsonValue,
  { isShown, isVersionShown }: { isShown: boolean; isVersionShown: boolean },
): JsonValue {
  if (!isObject(value)) return value;
  const { metadata, items } = value;
  const inside = { isShown, isVersionShown };
  if (Array.isArray(items))
    return { ...value, items: items.map((item) => withoutManagedFields(item, inside)) };
  if (!isObject(metadata)) return value;
  const kept = Object.entries(metadata).filter(
    ([name]) => (isShown || name !== 'managedFields') && (isVersionShown || name !== 'resourceVersion'),
  );
  return { ...value, metadata: Object.fromEntries(kept) };
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
