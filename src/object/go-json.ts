import type { JsonValue } from '../api/object-meta.ts';

/**
 * Writes JSON as Go's encoding/json does for an untyped value: sorted keys, and characters escaped that are special in HTML.
 *
 *   goJson({ b: 1, a: '<' })   → '{"a":"\u003c","b":1}'
 */
export function goJson(value: JsonValue | undefined): string {
  if (typeof value !== 'object' || value === null) return goEscaped(JSON.stringify(value ?? null));
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${goEscaped(JSON.stringify(key))}:${goJson(value[key])}`);
  return `{${fields.join(',')}}`;
}

/** JSON with escapes for characters that are special in HTML. */
export const goEscaped = (text: string): string =>
  text.replace(/[<>&\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
