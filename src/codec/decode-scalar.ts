import type { JsonValue } from '../api/object-meta.ts';
import type { ScalarKind } from '../api/schema.ts';
import { isInt64, withinInt64 } from '../object/exact-json.ts';
import { canonicalQuantity, quantityProblem } from '../object/quantity.ts';
import { isWritten, sourceOf } from '../object/written-number.ts';
import { cannotUnmarshal, DecodeError } from './decode-error.ts';

/**
 * One scalar in its canonical form. Undefined when the value is of another type.
 * @throws DecodeError when its text is none of the format
 */
export function decodeScalar(value: JsonValue, kind: ScalarKind): JsonValue | undefined {
  if (isWritten(value)) return decodeWritten(sourceOf(value), kind);
  switch (kind) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int32':
      return decodeInteger(value, 2 ** 31);
    case 'int64':
      return decodeInt64(value);
    case 'double':
      return decodeDouble(value);
    case 'bytes':
      return decodeBase64(value);
    case 'Time':
      return decodeTime(value, 0);
    case 'MicroTime':
      return decodeTime(value, 6);
    case 'Duration':
      return typeof value === 'string' ? value : undefined;
    case 'Quantity':
      return decodeQuantity(value);
    case 'IntOrString':
      return typeof value === 'string' ? value : decodeInteger(value, 2 ** 31);
    case 'JSON':
      return withinInt64(value);
    case 'FieldsV1':
    case 'RawExtension':
      return value;
    default:
      return kind satisfies never;
  }
}

/** A number with a point or an exponent, as it is written. */
function decodeWritten(source: string, kind: ScalarKind): JsonValue | undefined {
  switch (kind) {
    case 'int32':
    case 'int64':
    case 'IntOrString':
      return undefined;
    case 'Quantity':
      return decodeQuantity(source);
    default:
      return decodeScalar(Number(source), kind);
  }
}

function decodeInt64(value: JsonValue): number | bigint | undefined {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return value;
    return Number.isInteger(value) ? decodeInt64(BigInt(value)) : undefined;
  }
  return typeof value === 'bigint' && isInt64(value) ? value : undefined;
}

/** JSON.parse makes a number that is too large infinite. */
function decodeDouble(value: JsonValue): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function decodeInteger(value: JsonValue, limit: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value < limit && value >= -limit
    ? value
    : undefined;
}

const NOT_BASE64 = /[^A-Za-z0-9+/](?!=?$)|[^A-Za-z0-9+/=]/;

function decodeBase64(value: JsonValue): string | undefined {
  if (typeof value !== 'string') return undefined;
  const compact = value.replace(/[\r\n]/g, '');
  if (compact.length % 4 === 0 && !NOT_BASE64.test(compact)) return compact;
  throw new DecodeError(`illegal base64 data at input byte ${base64Error(value) ?? value.length}`);
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Text that needs no change: only days that every month has, so that no calendar is needed. */
const CANONICAL = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z$/;

/** Normalized to UTC; whole seconds, or microseconds for MicroTime. */
function decodeTime(value: JsonValue, digits: 0 | 6): string {
  if (typeof value !== 'string') throw new DecodeError(cannotUnmarshal(value, 'string'));
  // Formatting the text anew takes five times as long as this check.
  if (value.length === (digits === 0 ? 20 : 27) && CANONICAL.test(value)) return value;
  const match = RFC3339.exec(value);
  const time = match === null ? Number.NaN : Date.parse(value);
  if (Number.isNaN(time)) throw badTime(value, digits);
  const seconds = new Date(time).toISOString().slice(0, 19);
  if (digits === 0) return `${seconds}Z`;
  return `${seconds}.${(match?.[1] ?? '').slice(1, 7).padEnd(6, '0')}Z`;
}

function badTime(value: string, digits: 0 | 6): DecodeError {
  const quoted = JSON.stringify(value);
  const layout = digits === 0 ? '2006-01-02T15:04:05Z07:00' : '2006-01-02T15:04:05.000000Z07:00';
  return new DecodeError(`parsing time ${quoted} as "${layout}": cannot parse ${quoted} as "2006"`);
}

function decodeQuantity(value: JsonValue): string {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  const trimmed = typeof text === 'string' ? text.trim() : '';
  const canonical = canonicalQuantity(trimmed);
  if (canonical === undefined) throw new DecodeError(quantityProblem(trimmed));
  return canonical;
}

const PADDING = '=';
const DIGIT = /[A-Za-z0-9+/]/;
const MORE = /[^\r\n]/;

/**
 * The offset at which Go reports that a text is no base64 (encoding/base64, decodeQuantum): the first invalid character, or the
 * beginning of an incomplete last group of four. Line breaks are skipped. Undefined for valid base64.
 */
export function base64Error(text: string): number | undefined {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '\n' || char === '\r') continue;
    if (char === PADDING) return paddingError(text, at, digits);
    if (!DIGIT.test(char)) return at;
    digits = (digits + 1) % 4;
  }
  return digits === 0 ? undefined : text.length - digits;
}

/** Checks from the first `=` on. `digits`: the digits of the last group before it. */
function paddingError(text: string, first: number, digits: number): number | undefined {
  if (digits < 2) return first;
  const rest = /^=[\r\n]*(=?)[\r\n]*/.exec(text.slice(first));
  const hasTwo = rest?.[1] === PADDING;
  if (digits === 2 && !hasTwo) {
    const next = text.slice(first + 1).search(MORE);
    return next < 0 ? text.length : first + next;
  }
  const end = first + (digits === 2 ? (rest?.[0].length ?? 1) : 1);
  const after = text.slice(end).search(MORE);
  return after < 0 ? undefined : end + after;
}
