import type { JsonValue } from '../api/object-meta.ts';
import { MAX_DEPTH, MAX_VALUES, tooDeep, tooManyValues } from '../object/document-limits.ts';
import { hasLongInteger, parseAsWritten, parseExactly, parsePlainly } from '../object/exact-json.ts';
import { jsonSyntaxError } from '../object/json-syntax-error.ts';
import { endOfString, findRepeatedKeys } from './json-fields.ts';

/**
 * Reads a JSON document and finds fields that appear twice, which JSON.parse accepts silently. A first scan compares hashes of
 * the keys within each object, 6 µs for a body of 2.5 kB that takes JSON.parse 18 µs; a second, exact scan follows only when two
 * hashes are equal. The first scan also enforces the limits of documents (object/document-limits.ts).
 */
export interface ParsedDocument {
  readonly value: JsonValue;
  /** Repeated fields, whose last value counts: of JSON their paths, `spec.replicas`, of YAML a message each (yaml-problems.ts). */
  readonly duplicates: readonly string[];
  /** Given when a number has a point or an exponent: the value with such numbers as they are written (object/written-number.ts). */
  readonly written?: () => JsonValue;
  /** The value has no other users, so that decoding may modify it. */
  readonly fresh: true;
}

/** @throws SyntaxError for invalid JSON or too deep nesting, StatusError 413 for too many values */
export function parseJsonText(bytes: Buffer): ParsedDocument {
  const found = look(bytes);
  const text = bytes.toString('utf8');
  const value = readText(text, bytes);
  const duplicates = (found & REPEATED_KEY) === 0 ? [] : findRepeatedKeys(bytes);
  if ((found & FRACTION) === 0) return { value, duplicates, fresh: true };
  return { value, duplicates, fresh: true, written: () => parseAsWritten(text) };
}

/** @throws SyntaxError in the words of Kubernetes, not of the engine */
function readText(text: string, bytes: Buffer): JsonValue {
  try {
    return hasLongInteger(bytes) ? parseExactly(text) : parsePlainly(text);
  } catch (cause) {
    throw new SyntaxError(jsonSyntaxError(bytes) ?? 'invalid JSON', { cause });
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const COLON = 0x3a;
const CAPITAL_E = 0x45;
const LETTER_E = 0x65;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const UNICODE_ESCAPE = 0x75;

/** Findings of the first scan. Both can be false alarms; neither is ever missed. */
const REPEATED_KEY = 1;
const FRACTION = 2;

/**
 * Two different keys may share a hash, and one written with `\u` is not compared. Malformed text is JSON.parse's to refuse.
 * @throws SyntaxError, StatusError 413
 */
function look(bytes: Buffer): number {
  const { length } = bytes;
  let found = 0;
  openKeys.clear();
  let hash = 0;
  let certain = true;
  let values = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] ?? 0;
    // Most bytes of a formatted document are spaces.
    if (byte <= SPACE) continue;
    if (byte === QUOTE) {
      hash = 5381;
      certain = true;
      for (at += 1; at < length && bytes[at] !== QUOTE; at += 1) {
        if (bytes[at] === BACKSLASH) {
          at += 1;
          if (bytes[at] === UNICODE_ESCAPE) certain = false;
        }
        hash = (Math.imul(hash, 33) ^ (bytes[at] ?? 0)) | 0;
      }
    } else if (byte === COLON) {
      if (!certain) {
        found |= REPEATED_KEY;
        values += ESCAPED_KEY_VALUES;
      }
      openKeys.add(hash);
      if (bytes[at + 1] === QUOTE) at = endOfString(bytes, at + 2);
    } else if (byte === COMMA) values += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      // Brackets are two apart in ASCII.
      if (bytes[at + 1] !== byte + 2) values += 2;
      openKeys.open();
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (openKeys.closeHasRepeated()) found |= REPEATED_KEY;
    } else if (byte === DOT || (byte === LETTER_E && isDigit(bytes[at - 1])) || byte === CAPITAL_E)
      found |= FRACTION;
    if (values > MAX_VALUES) throw tooManyValues();
  }
  return found;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** A key with an escape must be unescaped before it can be compared, which takes as long as several other keys. */
const ESCAPED_KEY_VALUES = 3;

/** Few documents need more; a longer array is not kept for the next document. */
const KEPT_HASHES = 1024;
/** Up to this many keys are compared each with each; of more, the hashes are sorted first. */
const FEW_KEYS = 24;

/** Hashes of the keys of all open objects, the innermost object's last. A set for each object takes four times as long. */
class OpenKeys {
  #hashes = new Int32Array(KEPT_HASHES);
  #top = 0;
  /** Where the hashes of each open object begin. A list is an object without keys. */
  readonly #starts = new Int32Array(MAX_DEPTH + 1);
  #depth = 0;

  clear(): void {
    this.#top = 0;
    this.#depth = 0;
    if (this.#hashes.length > KEPT_HASHES) this.#hashes = new Int32Array(KEPT_HASHES);
  }

  /** @throws SyntaxError */
  open(): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw tooDeep();
    this.#starts[this.#depth] = this.#top;
  }

  add(hash: number): void {
    if (this.#top === this.#hashes.length) {
      const longer = new Int32Array(2 * this.#top);
      longer.set(this.#hashes);
      this.#hashes = longer;
    }
    this.#hashes[this.#top] = hash;
    this.#top += 1;
  }

  closeHasRepeated(): boolean {
    const start = this.#starts[this.#depth] ?? 0;
    const keys = this.#top - start;
    const repeated = keys > 1 && (keys > FEW_KEYS ? this.#sortedHasEqual(start) : this.#hasEqual(start));
    this.#top = start;
    this.#depth = Math.max(0, this.#depth - 1);
    return repeated;
  }

  #hasEqual(start: number): boolean {
    const hashes = this.#hashes;
    for (let at = start + 1; at < this.#top; at += 1) {
      const hash = hashes[at];
      for (let before = start; before < at; before += 1) if (hashes[before] === hash) return true;
    }
    return false;
  }

  #sortedHasEqual(start: number): boolean {
    const sorted = this.#hashes.subarray(start, this.#top).sort();
    for (let at = 1; at < sorted.length; at += 1) if (sorted[at] === sorted[at - 1]) return true;
    return false;
  }
}

/** One for all scans, which follow one another. */
const openKeys = new OpenKeys();
