import { randomBytes } from 'node:crypto';
import type { JsonValue } from '../api/object-meta.ts';

/** The value of a number; undefined: that of JSON.parse. */
type ReadNumber = (source: string) => JsonValue | symbol | undefined;

/**
 * Parses JSON with access to the text of each number. A reviver would take forty times as long: 100 ms for three megabytes of
 * numbers. Instead, random strings replace the numbers, and are replaced in the result. A misplaced number is left to
 * JSON.parse, which refuses it.
 * @throws SyntaxError
 */
export function parseWithNumbers(text: string, read: ReadNumber): JsonValue {
  const mark = randomBytes(MARK_BYTES).toString('base64url');
  const marks = new Map<string, string | undefined>();
  const numbers = new Map<string, JsonValue>();
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
      continue;
    }
    if (!mayBegin(code)) continue;
    const end = endOfNumber(text, at);
    const source = text.slice(at, end);
    if (!marks.has(source)) {
      const number = NUMBER.test(source) ? read(source) : undefined;
      const name = `${mark}${numbers.size}`;
      // The type of JSON lacks symbols.
      if (number !== undefined) numbers.set(name, number as JsonValue);
      marks.set(source, number === undefined ? undefined : `"${name}"`);
    }
    const marked = marks.get(source);
    if (marked !== undefined && !isBeforeColon(text, end)) {
      pieces.push(text.slice(copied, at), marked);
      copied = end;
    }
    at = end - 1;
  }
  const value: JsonValue = JSON.parse(pieces.length === 0 ? text : pieces.join('') + text.slice(copied));
  return pieces.length === 0 ? value : withNumbers(value, numbers, mark);
}

function withNumbers(value: JsonValue, numbers: ReadonlyMap<string, JsonValue>, mark: string): JsonValue {
  if (typeof value === 'string') return (value.startsWith(mark) ? numbers.get(value) : undefined) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) value[at] = withNumbers(value[at] ?? null, numbers, mark);
    return value;
  }
  for (const key in value) value[key] = withNumbers(value[key] ?? null, numbers, mark);
  return value;
}

/** Long enough to be unguessable, short enough to keep a text of numbers small. */
const MARK_BYTES = 12;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const COLON = 0x3a;
const SPACE = 0x20;

const mayBegin = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === MINUS;

/** Accepts the characters of JSON numbers: digits and `+-.eE`. */
function endOfNumber(text: string, from: number): number {
  let at = from;
  while (at < text.length && IN_NUMBER[text.charCodeAt(at)] === 1) at += 1;
  return at;
}

const IN_NUMBER = new Uint8Array(128);
for (const code of Buffer.from('0123456789+-.eE')) IN_NUMBER[code] = 1;

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** The closing quote of a string whose text begins at `from`. */
export function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
