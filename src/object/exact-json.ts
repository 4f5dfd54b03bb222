import type { JsonValue } from '../api/object-meta.ts';
import { assertWithinLimits } from './document-limits.ts';
import { parseFaithfully } from './faithful-keys.ts';

/**
 * JSON whose integers keep their digits. Where a number would lose some, beyond 2^53, the value is a bigint; all others are
 * numbers, as everywhere. Few documents have such integers, so they are looked for first: 1 µs for a body of 8 kB, in which
 * every sixteenth byte is looked at. Only a document that has one is read by the slow way, which takes ten times as long.
 */

declare global {
  interface BigInt {
    toJSON(): unknown;
  }
  interface JSON {
    rawJSON(text: string): object;
  }
}

// The one form a bigint has in JSON; without it JSON.stringify throws.
BigInt.prototype.toJSON = function toJSON(): unknown {
  return JSON.rawJSON(this.toString());
};

/** The least number of digits of an integer that a number may not hold: 2^53 has 16. */
const MIN_DIGITS = 16;
/** Longer ones are no integers of anything, and reading a million digits takes its time. */
const MAX_DIGITS = 64;
const INTEGER = /^-?\d+$/;

/** @throws SyntaxError */
export function parseJsonBytes(bytes: Buffer): JsonValue {
  const text = bytes.toString('utf8');
  return hasLongInteger(bytes) ? parseExactly(text) : parsePlainly(text);
}

/** For JSON inside of a document, such as an annotation or a field of protobuf. @throws SyntaxError, StatusError 413 */
export function parseJson(text: string): JsonValue {
  return parseFaithfully(text, /\d{16}/.test(text) ? readExactly : readPlainly, assertWithinLimits);
}

/** Whatever its integers are. @throws SyntaxError */
export const parseExactly = (text: string): JsonValue => parseFaithfully(text, readExactly);

/** A text that has no long integers. @throws SyntaxError */
export const parsePlainly = (text: string): JsonValue => parseFaithfully(text, readPlainly);

const readExactly = (text: string): JsonValue => JSON.parse(text, revive) as JsonValue;
const readPlainly = (text: string): JsonValue => JSON.parse(text) as JsonValue;

function revive(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined || source.length < MIN_DIGITS) return value;
  return source.length <= MAX_DIGITS && INTEGER.test(source) ? toExact(BigInt(source)) : value;
}

/** A number where that is exact. */
export function toExact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

export const isInt64 = (value: bigint): boolean => value >= MIN_INT64 && value <= MAX_INT64;

/**
 * Whether an integer of so many digits may be in the text. Digits in strings seldom count: before the run there must be what
 * stands before a value, and behind it what stands behind one.
 */
export function hasLongInteger(bytes: Uint8Array): boolean {
  const { length } = bytes;
  for (let at = MIN_DIGITS - 1; at < length; at += MIN_DIGITS) {
    if (!isDigit(bytes[at] ?? 0)) continue;
    let first = at;
    while (first > 0 && isDigit(bytes[first - 1] ?? 0)) first -= 1;
    let end = at + 1;
    while (end < length && isDigit(bytes[end] ?? 0)) end += 1;
    if (end - first >= MIN_DIGITS && BEFORE.has(bytes[first - 1]) && BEHIND.has(bytes[end])) return true;
    at = end - 1;
  }
  return false;
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

const BEFORE: ReadonlySet<number | undefined> = new Set([undefined, ...Buffer.from(':,[- \t\r\n')]);
const BEHIND: ReadonlySet<number | undefined> = new Set([undefined, ...Buffer.from(',]} \t\r\n')]);

/**
 * A value of no type, as Kubernetes reads one: integers beyond 64 bits become floating point numbers. Nothing is copied
 * when there are none.
 */
export function withinInt64(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return isInt64(value) ? value : Number(value);
  if (typeof value !== 'object' || value === null || !hasBeyond(value)) return value;
  if (Array.isArray(value)) return value.map(withinInt64);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withinInt64(item ?? null)]));
}

function hasBeyond(value: JsonValue | undefined): boolean {
  if (typeof value === 'bigint') return !isInt64(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasBeyond);
}
