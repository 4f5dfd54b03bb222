import { Optional } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import type { JsonValue } from '../api/object-meta.ts';
import { setField } from '../object/json-values.ts';
import { entriesOf, isMap } from './cel-equality.ts';
import { durationText, timestampText } from './libraries/format-text.ts';
import { CelMessage } from './messages.ts';

/** The value of an expression as JSON: times and durations are texts, bytes are base64. @throws Error for a value that JSON lacks */
export function toJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint' || value instanceof UnsignedInt) return Number(value.valueOf());
  if (typeof value === 'number') return finite(value);
  if (value instanceof Date) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof CelMessage) return fromEntries(value.fields);
  if (value instanceof Optional) throw unfit('optional_type');
  if (isMap(value)) return fromEntries(entriesOf(value));
  throw unfit(typeof value);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw unfit(String(value));
  return value;
}

const unfit = (what: string): Error => new Error(`a value of type ${what} cannot be converted to JSON`);

function fromEntries(entries: Iterable<readonly [unknown, unknown]>): JsonValue {
  const object = {};
  for (const [key, value] of entries) {
    if (typeof key !== 'string') throw new Error(`map key ${JSON.stringify(String(key))} is not a string`);
    setField(object, key, toJson(value));
  }
  return object;
}
