import type { JsonObject } from '../../api/object-meta.ts';

/** A field that may be absent, told apart from one that is empty. */
export function optionalText(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}
