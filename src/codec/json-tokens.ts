/**
 * The places of all values in a JSON text without white space, as objects are stored. Finding them takes a quarter of the time
 * of JSON.parse for a pod, and leaves no garbage.
 *
 * Tokens are in the order of the text: a container comes before what is in it, a key before its value.
 *
 *   {"a":[1,"x"]}    object, key a, list, number 1, text x
 */

export const OBJECT = 1;
export const LIST = 2;
/** Text without escapes. */
export const TEXT = 3;
export const ESCAPED_TEXT = 4;
export const NUMBER = 5;
export const TRUE = 6;
export const FALSE = 7;
export const NULL = 8;
/** An object under the key `fieldsV1`, whose content has no tokens: sets of managed fields are half of a pod. */
export const SET = 9;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

const LITERALS: ReadonlyMap<number, { readonly kind: number; readonly length: number }> = new Map([
  [0x74, { kind: TRUE, length: 4 }],
  [0x66, { kind: FALSE, length: 5 }],
  [0x6e, { kind: NULL, length: 4 }],
]);

const MAX_DEPTH = 256;
/** Room behind the text for quotes that end any string. */
const SENTINELS = 2;

/** Equal for equal keys. */
export function hashKey(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
  return hash;
}

const FIELDS_V1 = hashKey('fieldsV1');

export class JsonTokens {
  /** The text; behind {@link length} is other data. */
  readonly bytes: Buffer;
  length = 0;
  count = 0;
  readonly kinds: Uint8Array;
  /** Where each token begins; of a string, behind its quote. */
  readonly starts: Int32Array;
  /** Where each token ends; of a string, at its quote. */
  readonly ends: Int32Array;
  /** The token behind each value; of a key, its hash. */
  readonly nexts: Int32Array;
  readonly #open = new Int32Array(MAX_DEPTH);
  readonly #sets = new RecentTexts();

  constructor(maxBytes: number) {
    // The densest text is a list of digits, a token for each second byte.
    const maxTokens = (maxBytes >> 1) + 2;
    this.bytes = Buffer.alloc(maxBytes + SENTINELS);
    this.kinds = new Uint8Array(maxTokens);
    this.starts = new Int32Array(maxTokens);
    this.ends = new Int32Array(maxTokens);
    this.nexts = new Int32Array(maxTokens);
  }

  /** Reads the first `length` of {@link bytes}. False for a text that is not as objects are stored. */
  read(length: number): boolean {
    const { bytes } = this;
    this.length = length;
    this.count = 0;
    bytes.fill(QUOTE, length, length + SENTINELS);
    let depth = 0;
    let at = 0;
    for (;;) {
      // A value begins here.
      const byte = bytes[at] ?? 0;
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        const inObject = byte === OPEN_OBJECT;
        const isSet = inObject && this.nexts[this.count - 1] === FIELDS_V1;
        const isEmpty = bytes[at + 1] === (inObject ? CLOSE_OBJECT : CLOSE_LIST);
        const token = this.#add(isSet ? SET : inObject ? OBJECT : LIST, at);
        if (isSet) {
          at = this.#sets.endAt(bytes, at) ?? this.#endOfSet(at);
          this.ends[token] = at;
        } else if (isEmpty) {
          at += 2;
          this.ends[token] = at;
        } else {
          if (depth === MAX_DEPTH) return false;
          this.#open[depth] = token;
          depth += 1;
          at = inObject ? this.#key(at + 1) : at + 1;
          if (at < 0) return false;
          continue;
        }
      } else {
        at = byte === QUOTE ? this.#text(at) : this.#plain(at);
        if (at < 0) return false;
      }
      // A value has ended here.
      for (;;) {
        if (depth === 0) return at === length;
        const open = this.#open[depth - 1] ?? 0;
        const inObject = this.kinds[open] === OBJECT;
        const behind = bytes[at];
        if (behind === COMMA) {
          at = inObject ? this.#key(at + 1) : at + 1;
          if (at < 0) return false;
          break;
        }
        if (behind !== (inObject ? CLOSE_OBJECT : CLOSE_LIST)) return false;
        depth -= 1;
        at += 1;
        this.nexts[open] = this.count;
        this.ends[open] = at;
      }
    }
  }

  #add(kind: number, start: number, end = start): number {
    const token = this.count;
    this.kinds[token] = kind;
    this.starts[token] = start;
    this.ends[token] = end;
    this.nexts[token] = token + 1;
    this.count = token + 1;
    return token;
  }

  /** Returns where the value of the key begins; -1 when there is no key. */
  #key(from: number): number {
    const { bytes } = this;
    if (bytes[from] !== QUOTE) return -1;
    let at = from + 1;
    let hash = 0;
    let kind = TEXT;
    for (let byte = bytes[at] ?? 0; byte !== QUOTE; byte = bytes[at] ?? 0) {
      hash = (Math.imul(hash, 31) + byte) | 0;
      if (byte === BACKSLASH) {
        kind = ESCAPED_TEXT;
        at += 1;
      }
      at += 1;
    }
    if (at >= this.length || bytes[at + 1] !== COLON) return -1;
    const token = this.#add(kind, from + 1, at);
    this.nexts[token] = hash;
    return at + 2;
  }

  #text(from: number): number {
    const { bytes } = this;
    let at = from + 1;
    let kind = TEXT;
    for (let byte = bytes[at] ?? 0; byte !== QUOTE; byte = bytes[at] ?? 0) {
      if (byte === BACKSLASH) {
        kind = ESCAPED_TEXT;
        at += 1;
      }
      at += 1;
    }
    if (at >= this.length) return -1;
    this.#add(kind, from + 1, at);
    return at + 1;
  }

  #endOfSet(from: number): number {
    const end = this.#endOfObject(from);
    this.#sets.remember(this.bytes, from, end);
    return end;
  }

  #endOfObject(from: number): number {
    const { bytes, length } = this;
    let depth = 0;
    for (let at = from; at < length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        for (at += 1; bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
      } else if (byte === OPEN_OBJECT) depth += 1;
      else if (byte === CLOSE_OBJECT) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    return length;
  }

  /** Number or literal. */
  #plain(from: number): number {
    const { bytes } = this;
    const literal = LITERALS.get(bytes[from] ?? 0);
    let at = from;
    for (
      let byte = bytes[at] ?? 0;
      byte > COMMA && byte !== CLOSE_OBJECT && byte !== CLOSE_LIST;
      byte = bytes[at] ?? 0
    )
      at += 1;
    if (at === from || at > this.length) return -1;
    if (literal !== undefined && at - from !== literal.length) return -1;
    this.#add(literal?.kind ?? NUMBER, from, at);
    return at;
  }
}

const MAX_TEXTS = 8;
const MAX_TEXT_BYTES = 8192;

/**
 * The texts of the last few sets. Objects of one controller have the same, and comparing one with another takes a tenth of the time
 * of looking for its end.
 */
class RecentTexts {
  readonly #texts = Array.from({ length: MAX_TEXTS }, () => ({
    bytes: Buffer.alloc(MAX_TEXT_BYTES),
    length: 0,
  }));
  #oldest = 0;

  /** Where a known text ends that begins here. No object begins with all of another one, so that this is its end. */
  endAt(bytes: Buffer, from: number): number | undefined {
    for (const text of this.#texts) {
      const { length } = text;
      const end = from + length;
      // Differences are mostly in names, anywhere.
      const middle = length >> 1;
      if (length === 0 || bytes[from + middle] !== text.bytes[middle] || bytes[end - 1] !== CLOSE_OBJECT)
        continue;
      if (bytes.compare(text.bytes, 0, length, from, end) === 0) return end;
    }
    return undefined;
  }

  remember(bytes: Buffer, from: number, end: number): void {
    const text = this.#texts[this.#oldest];
    if (text === undefined || end - from > MAX_TEXT_BYTES) return;
    text.length = bytes.copy(text.bytes, 0, from, end);
    this.#oldest = (this.#oldest + 1) % MAX_TEXTS;
  }
}
