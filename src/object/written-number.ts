import type { JsonValue } from '../api/object-meta.ts';

/**
 * Numbers that keep their text. `1.0`, `1e3` and `1.50` are no integers in Go and differ from `1`, `1000` and `1.5` where texts
 * are compared, but JSON.parse loses the difference. In a document that is parsed as written, such a number is a symbol with
 * the text as its description: no object, so that patches carry it along like any number, and equal only to itself.
 *
 *   parseAsWritten('[1, 1.0, 1.5]')   → [1, Symbol(1.0), 1.5]
 */

/** Whether Go would format the number differently. Digits alone are an integer, however many. */
export const isWrittenOddly = (source: string, value: number): boolean =>
  /[.eE]/.test(source) && String(value) !== source;

export const toWritten = (source: string): symbol => Symbol(source);

/** The type of JSON lacks symbols: they exist from parsing to decoding. */
export const isWritten = (value: unknown): value is symbol => typeof value === 'symbol';

export const sourceOf = (value: symbol): string => value.description ?? '';

/** The value with numbers in place of symbols. Changes the value; parts without symbols are only read. */
export function withoutWritten<Value extends JsonValue>(value: Value): Value;
export function withoutWritten(value: JsonValue): JsonValue {
  if (isWritten(value)) return Number(sourceOf(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const plain = withoutWritten(item);
      if (plain !== item) value[at] = plain;
    }
    return value;
  }
  for (const [key, item] of Object.entries(value)) {
    const plain = withoutWritten(item ?? null);
    if (plain !== item && item !== undefined) value[key] = plain;
  }
  return value;
}

/** A replacer for JSON.stringify that shows numbers as they were written. */
export const showWritten = (_key: string, value: unknown): unknown =>
  isWritten(value) ? JSON.rawJSON(sourceOf(value)) : value;
