import type { JsonValue } from '../../api/object-meta.ts';

/** A list of strings inside an object; empty when it is absent. */
export const texts = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.map(String) : [];
