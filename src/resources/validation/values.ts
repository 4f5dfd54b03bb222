import type { JsonObject } from '../../api/object-meta.ts';

export function strings(object: JsonObject, name: string): string[] {
  const value = object[name];
  return Array.isArray(value) ? value.map(String) : [];
}
