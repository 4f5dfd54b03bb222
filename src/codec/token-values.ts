import type { JsonValue } from '../api/object-meta.ts';
import { parseJsonBytes } from '../object/exact-json.ts';
import { ESCAPED_TEXT, type JsonTokens, NUMBER, SET, TEXT } from './json-tokens.ts';

/** What the tokens of a JSON text mean, read from its bytes. */

const TIME_MARKS = Buffer.from('0000-00-00T00:00:00Z');
const DIGIT = 0x30;

/** Seconds since 1970 of a time as the server writes it, 2006-01-02T15:04:05Z; -1 for any other text. */
export function secondsOf(tokens: JsonTokens, token: number): number {
  const { bytes, starts, ends } = tokens;
  const start = starts[token] ?? 0;
  if ((ends[token] ?? 0) - start !== TIME_MARKS.length) return -1;
  for (let at = 0; at < TIME_MARKS.length; at += 1)
    if (TIME_MARKS[at] !== DIGIT && bytes[start + at] !== TIME_MARKS[at]) return -1;
  const year = digits(bytes, start, 4);
  const month = digits(bytes, start + 5, 2);
  const day = digits(bytes, start + 8, 2);
  const hour = digits(bytes, start + 11, 2);
  const minute = digits(bytes, start + 14, 2);
  const second = digits(bytes, start + 17, 2);
  // Each month has 28 days. The others are left to Date, as is every text that is not a time.
  const isTime = year >= 1970 && month > 0 && month <= 12 && day > 0 && day <= 28;
  if (!isTime || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
  return Date.UTC(year, month - 1, day) / 1000 + hour * 3600 + minute * 60 + second;
}

/** -1: not digits alone. */
function digits(bytes: Buffer, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

const MAX_DIGITS = 15;

/** The value of digits alone; -1 for any other number. */
export function smallNumber({ bytes, starts, ends }: JsonTokens, token: number): number {
  const start = starts[token] ?? 0;
  const end = ends[token] ?? 0;
  return end - start > MAX_DIGITS ? -1 : digits(bytes, start, end - start);
}

/** The value of any token but a key. Undefined for a set, which may contain what a parser of sets alone reads. */
export function valueAt(tokens: JsonTokens, token: number): JsonValue | undefined {
  const { bytes, kinds, starts, ends } = tokens;
  const kind = kinds[token];
  const start = starts[token] ?? 0;
  const end = ends[token] ?? 0;
  if (kind === TEXT) return bytes.toString('utf8', start, end);
  // With its quotes.
  if (kind === ESCAPED_TEXT) return JSON.parse(bytes.toString('utf8', start - 1, end + 1));
  if (kind === SET) return undefined;
  const number = kind === NUMBER ? smallNumber(tokens, token) : -1;
  return number < 0 ? parseJsonBytes(bytes.subarray(start, end)) : number;
}

/** Keys are equal, or their order as UTF-16 may be another than that of their bytes. */
export const UNCLEAR = 0;

/** Less than zero where a key without escapes sorts before another; {@link UNCLEAR} where that is not clear from their bytes. */
export function compareKeys({ bytes, starts, ends }: JsonTokens, one: number, other: number): number {
  const start = starts[one] ?? 0;
  const length = (ends[one] ?? 0) - start;
  const otherStart = starts[other] ?? 0;
  const otherLength = (ends[other] ?? 0) - otherStart;
  for (let at = 0; at < length && at < otherLength; at += 1) {
    const a = bytes[start + at] ?? 0;
    const b = bytes[otherStart + at] ?? 0;
    if (a > MAX_ASCII || b > MAX_ASCII) return UNCLEAR;
    if (a !== b) return a - b;
  }
  return length - otherLength;
}

const MAX_ASCII = 0x7f;
