import { goQuote } from './go-value.ts';

/**
 * Go's message for text that is no JSON (encoding/json, scanner.go), which clients know and tests compare. The messages of
 * JSON.parse differ between versions of the engine and quote the text. Undefined for valid JSON.
 *
 *   jsonSyntaxError('')        → 'unexpected end of JSON input'
 *   jsonSyntaxError('{"a":1,}') → "invalid character '}' looking for beginning of object key string"
 *
 * One pass without recursion; memory grows with the depth alone.
 */
export function jsonSyntaxError(text: Uint8Array | string): string | undefined {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  try {
    new Scan(bytes).document();
    return undefined;
  } catch (error) {
    if (error instanceof Unexpected) return error.message;
    throw error;
  }
}

class Unexpected extends Error {}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const LITERALS = new Map([
  [0x74, 'true'],
  [0x66, 'false'],
  [0x6e, 'null'],
]);
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('bfnrt\\/"'));
const END = 'unexpected end of JSON input';
const VALUE = 'looking for beginning of value';
const KEY = 'looking for beginning of object key string';

/** Go refuses deeper documents with a message of its own, unless a lower limit refuses them first. */
const MAX_DEPTH = 10_000;

class Scan {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** The bracket of each object and list that is open. */
  readonly #open: number[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @throws Unexpected */
  document(): void {
    for (let before = this.#value(); ; before = this.#value()) {
      if (before === 'opened') continue;
      if (!this.#toNextValue()) return;
    }
  }

  /** A scalar, or the beginning of an object or list up to its first value. An empty one is a value. */
  #value(): 'opened' | 'closed' {
    const byte = this.#look();
    const literal = LITERALS.get(byte);
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) return this.#enter(byte);
    if (byte === QUOTE) this.#string();
    else if (byte === MINUS || isDigit(byte)) this.#number();
    else if (literal !== undefined) this.#literal(literal);
    else this.#fail(VALUE);
    return 'closed';
  }

  #enter(bracket: number): 'opened' | 'closed' {
    this.#at += 1;
    this.#open.push(bracket);
    if (this.#open.length > MAX_DEPTH) throw new Unexpected('exceeded max depth');
    if (this.#look() === closing(bracket)) {
      this.#at += 1;
      this.#open.pop();
      return 'closed';
    }
    if (bracket === OPEN_OBJECT) this.#key();
    return 'opened';
  }

  /** Moves to the next value. False at the end of the document. */
  #toNextValue(): boolean {
    for (let bracket = this.#open.at(-1); bracket !== undefined; bracket = this.#open.at(-1)) {
      const byte = this.#look();
      if (byte === COMMA) {
        this.#at += 1;
        if (bracket === OPEN_OBJECT) this.#key();
        return true;
      }
      if (byte !== closing(bracket))
        this.#fail(bracket === OPEN_OBJECT ? 'after object key:value pair' : 'after array element');
      this.#at += 1;
      this.#open.pop();
    }
    this.#look();
    if (this.#at < this.#bytes.length) this.#fail('after top-level value');
    return false;
  }

  #key(): void {
    if (this.#look() !== QUOTE) this.#fail(KEY);
    this.#string();
    if (this.#look() !== COLON) this.#fail('after object key');
    this.#at += 1;
  }

  #string(): void {
    this.#at += 1;
    for (let byte = this.#byte(); byte !== QUOTE; byte = this.#byte()) {
      if (byte < SPACE) this.#fail('in string literal');
      if (this.#at >= this.#bytes.length) throw new Unexpected(END);
      this.#at += 1;
      if (byte === BACKSLASH) this.#escape();
    }
    this.#at += 1;
  }

  #escape(): void {
    const byte = this.#byte();
    if (!ESCAPED.has(byte) && byte !== 0x75) this.#fail('in string escape code');
    this.#at += 1;
    if (byte !== 0x75) return;
    for (let digits = 0; digits < 4; digits += 1) {
      if (!isHexDigit(this.#byte())) this.#fail('in \\u hexadecimal character escape');
      this.#at += 1;
    }
  }

  #number(): void {
    if (this.#byte() === MINUS) this.#at += 1;
    if (this.#byte() === ZERO) this.#at += 1;
    else this.#digits('in numeric literal');
    if (this.#byte() === DOT) {
      this.#at += 1;
      this.#digits('after decimal point in numeric literal');
    }
    if ((this.#byte() | 0x20) !== 0x65) return;
    this.#at += 1;
    if (this.#byte() === MINUS || this.#byte() === 0x2b) this.#at += 1;
    this.#digits('in exponent of numeric literal');
  }

  /** One at least. */
  #digits(where: string): void {
    if (!isDigit(this.#byte())) this.#fail(where);
    while (isDigit(this.#byte())) this.#at += 1;
  }

  #literal(literal: string): void {
    for (const letter of literal) {
      if (this.#byte() !== letter.charCodeAt(0))
        this.#fail(`in literal ${literal} (expecting ${goCharacter(letter.charCodeAt(0))})`);
      this.#at += 1;
    }
  }

  /** The next byte that is no white space. */
  #look(): number {
    while (isSpace(this.#bytes[this.#at])) this.#at += 1;
    return this.#byte();
  }

  /** Go appends a space to its input, to see whether a number is complete. */
  #byte(): number {
    return this.#bytes[this.#at] ?? SPACE;
  }

  /** `where`: the end of Go's message. */
  #fail(where: string): never {
    const ended = this.#at >= this.#bytes.length && !WITHIN_TOKEN.test(where);
    throw new Unexpected(ended ? END : `invalid character ${goCharacter(this.#byte())} ${where}`);
  }
}

/** Inside a token the end of the text is an unexpected space; everywhere else it is an unexpected end. */
const WITHIN_TOKEN = /^in |^after decimal point/;

const closing = (bracket: number): number => (bracket === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST);

const isSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39;

const isHexDigit = (byte: number): boolean =>
  isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

/** Treats the byte as the code point of a character. */
function goCharacter(byte: number): string {
  if (byte === 0x27) return "'\\''";
  return byte === QUOTE ? `'"'` : `'${goQuote(String.fromCharCode(byte)).slice(1, -1)}'`;
}
