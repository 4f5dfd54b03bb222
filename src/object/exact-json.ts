import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { assertWithinLimits } from './document-limits.ts';
import { setField } from './json-values.ts';
import { endOfString, parseWithNumbers } from './marked-numbers.ts';
import { isWrittenOddly, toWritten } from './written-number.ts';

/**
 * JSON whose integers keep their digits: an integer that a number cannot hold, beyond 2^53, becomes a bigint. Few documents
 * have one, so a scan looks for long integers first; it visits every sixteenth byte and takes 1 µs for 8 kB. Only a document
 * with a long integer takes the exact way.
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
/** A longer integer means nothing, and converting a million digits takes long. */
const MAX_DIGITS = 64;
const INTEGER = /^-?\d+$/;

/** @throws SyntaxError */
export function parseJsonBytes(bytes: Buffer): JsonValue {
  const text = bytes.toString('utf8');
  return hasLongInteger(bytes) ? parseExactly(text) : parsePlainly(text);
}

/** For JSON inside a document, such as an annotation or a field of protobuf. @throws SyntaxError, StatusError 413 */
export function parseJson(text: string): JsonValue {
  return parseFaithfully(text, /\d{16}/.test(text) ? readExactly : readPlainly, assertWithinLimits);
}

/** Keeps integers of any length. @throws SyntaxError */
export const parseExactly = (text: string): JsonValue => parseFaithfully(text, readExactly);

/** For a text without long integers. @throws SyntaxError */
export const parsePlainly = (text: string): JsonValue => parseFaithfully(text, readPlainly);

/** Numbers that are written otherwise than Go would write them become symbols (written-number.ts). @throws SyntaxError */
export const parseAsWritten = (text: string): JsonValue => parseFaithfully(text, readAsWritten);

const readPlainly = (text: string): JsonValue => JSON.parse(text);

const readExactly = (text: string): JsonValue => parseWithNumbers(text, exactly);

const readAsWritten = (text: string): JsonValue =>
  parseWithNumbers(text, (source) =>
    isWrittenOddly(source, Number(source)) ? toWritten(source) : exactly(source),
  );

const exactly = (source: string): JsonValue | undefined =>
  source.length >= MIN_DIGITS && source.length <= MAX_DIGITS && INTEGER.test(source)
    ? toExact(BigInt(source))
    : undefined;

/** A number where a number is exact, else the bigint. */
export function toExact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

export const isInt64 = (value: bigint): boolean => value >= MIN_INT64 && value <= MAX_INT64;

/**
 * Whether the text may hold an integer of {@link MIN_DIGITS} digits or more. The characters around the digits must be those
 * around a JSON value, so that digits inside strings seldom count.
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
 * A value without a type, as Kubernetes reads it: integers beyond 64 bits become floating point numbers. A value without such
 * integers is returned as it is.
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

/**
 * Works around a defect of JSON.parse in Node 24, which reads some keys as others. Where an object looks like an earlier one,
 * the parser compares the next key as it is written, escapes included, with the key it expects, over as many characters as
 * the expected key has once unescaped:
 *
 *   JSON.parse('{"p":1,"k\\\\\\\\":1}')     expects from now on the key k\\
 *   JSON.parse('{"p":1,"k\\\\{":1}')        has the key k\{, written k\\{, and comes out with k\\
 *
 * A key that was read wrongly therefore has a backslash. When any key of the value has one, the document is parsed again with
 * its escaped keys replaced by names that need no escapes. The check takes 6 µs, and 1 µs for a text without escapes.
 *
 * `inspect` sees the value before the check and may refuse it.
 */
function parseFaithfully(
  text: string,
  parse: (text: string) => JsonValue,
  inspect?: (value: JsonValue) => void,
): JsonValue {
  const value = parse(text);
  inspect?.(value);
  if (!text.includes('\\') || !hasBackslashKey(value)) return value;
  const { renamed, names } = nameKeys(text);
  return withNames(parse(renamed), names);
}

function hasBackslashKey(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (hasBackslashKey(item)) return true;
    return false;
  }
  for (const key in value) if (key.includes('\\') || hasBackslashKey(value[key])) return true;
  return false;
}

/** Replaces the keys that have escapes by names that have none. The text is known to be valid JSON. */
function nameKeys(text: string): { renamed: string; names: ReadonlyMap<string, string> } {
  // Random, so that no key of the document equals a name.
  const mark = `${randomUUID()}-`;
  const names = new Map<string, string>();
  const marks = new Map<string, string>();
  const pieces: string[] = [];
  let copied = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfString(text, at + 1);
    if (isKey(text, end + 1) && text.slice(at, end).includes('\\')) {
      const key: string = JSON.parse(text.slice(at, end + 1));
      const name = marks.get(key) ?? `${mark}${marks.size}`;
      marks.set(key, name);
      names.set(name, key);
      pieces.push(text.slice(copied, at), `"${name}"`);
      copied = end + 1;
    }
    at = end + 1;
  }
  return { renamed: pieces.join('') + text.slice(copied), names };
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (' \t\r\n'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ':';
}

function withNames(value: JsonValue | undefined, names: ReadonlyMap<string, string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setField(out, names.get(key) ?? key, withNames(value[key], names));
  return out;
}
