import { isUtf8 } from 'node:buffer';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { MAX_DEPTH, MAX_VALUES, tooDeep, tooManyValues } from '../../object/document-limits.ts';
import { isInt64, toExact } from '../../object/exact-json.ts';
import { setField } from '../../object/json-values.ts';
import { toWritten } from '../../object/written-number.ts';
import type { ParsedDocument } from '../json-text.ts';
import { MAJOR, readHalf, SIMPLE, TAG } from './format.ts';

/**
 * CBOR (RFC 8949) as a JSON value, by the rules of Kubernetes (apimachinery, serializer/cbor/internal/modes/decode.go): one item,
 * with or without the tag of self-described CBOR; map keys are strings and occur once; integers have 64 bits; of the simple
 * values there are false, true and null; NaN and the infinities do not exist; a byte string is a text, and base64 where a tag
 * says that its text is to be that. Text is UTF-8, in byte strings too: JSON could not store anything else.
 */

/** @throws SyntaxError, StatusError 413 */
export function parseCbor(bytes: Buffer): ParsedDocument {
  const decoder = new Decoder(bytes, false);
  const value = decoder.whole();
  if (!decoder.sawWholeFloat) return { value, duplicates: [], fresh: true };
  return { value, duplicates: [], fresh: true, written: () => new Decoder(bytes, true).whole() };
}

/** How the text of a byte string is made, by the tag around it. */
const LATER: ReadonlyMap<number | bigint, BufferEncoding> = new Map([
  [TAG.base64url, 'base64url'],
  [TAG.base64, 'base64'],
  [TAG.base16, 'hex'],
]);

/** The head of an item. `argument`: a bigint where a number cannot hold it; undefined: of indefinite length. */
interface Head {
  readonly major: number;
  readonly info: number;
  readonly argument: number | bigint | undefined;
}

class Decoder {
  readonly #bytes: Buffer;
  /** Whether whole floating point numbers keep their point (object/written-number.ts). */
  readonly #asWritten: boolean;
  #at = 0;
  #values = 0;
  sawWholeFloat = false;

  constructor(bytes: Buffer, asWritten: boolean) {
    this.#bytes = bytes;
    this.#asWritten = asWritten;
  }

  whole(): JsonValue {
    const value = this.#item(0);
    const rest = this.#bytes.length - this.#at;
    if (rest === 0) return value;
    throw new SyntaxError(`cbor: ${rest} bytes of extraneous data starting at index ${this.#at}`);
  }

  #item(depth: number, later?: BufferEncoding): JsonValue {
    this.#spend();
    const head = this.#head();
    switch (head.major) {
      case MAJOR.unsigned:
      case MAJOR.negative:
        return toInteger(head);
      case MAJOR.bytes:
      case MAJOR.text:
        return this.#string(head, later);
      case MAJOR.array:
        return this.#array(head, depth, later);
      case MAJOR.map:
        return this.#map(head, depth, later);
      case MAJOR.tag:
        return this.#tagged(head, depth);
      default:
        return this.#simple(head);
    }
  }

  #spend(): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw tooManyValues();
  }

  #head(): Head {
    const first = this.#take(1)[0] ?? 0;
    const major = first >> 5;
    const info = first & 0x1f;
    if (info < 24) return { major, info, argument: info };
    switch (info) {
      case 24:
        return { major, info, argument: this.#take(1)[0] ?? 0 };
      case 25:
        return { major, info, argument: this.#take(2).readUInt16BE() };
      case 26:
        return { major, info, argument: this.#take(4).readUInt32BE() };
      case 27:
        return { major, info, argument: toExact(this.#take(8).readBigUInt64BE()) };
      case 31:
        if (major >= MAJOR.bytes && major <= MAJOR.map) return { major, info, argument: undefined };
        throw new SyntaxError(
          major === MAJOR.simple
            ? 'cbor: unexpected "break" code'
            : `cbor: invalid additional information 31`,
        );
      default:
        throw new SyntaxError(`cbor: invalid additional information ${info}`);
    }
  }

  #take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new SyntaxError('unexpected EOF');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** A count that the rest of the document can hold: each unit takes a byte at least. */
  #count(argument: number | bigint): number {
    if (argument > this.#bytes.length - this.#at) throw new SyntaxError('unexpected EOF');
    return Number(argument);
  }

  #takesBreak(): boolean {
    if (this.#bytes[this.#at] !== 0xff) return false;
    this.#at += 1;
    return true;
  }

  #string(head: Head, later: BufferEncoding | undefined): string {
    const bytes = this.#stringBytes(head);
    if (head.major === MAJOR.bytes && later !== undefined) return bytes.toString(later);
    if (!isUtf8(bytes)) throw new SyntaxError('cbor: invalid UTF-8 string');
    return bytes.toString();
  }

  /** A string of indefinite length has definite parts of its own kind. */
  #stringBytes({ major, argument }: Head): Buffer {
    if (argument !== undefined) return this.#take(this.#count(argument));
    const parts: Buffer[] = [];
    while (!this.#takesBreak()) {
      this.#spend();
      const part = this.#head();
      if (part.major !== major || part.argument === undefined)
        throw new SyntaxError('cbor: wrong element type in a string of indefinite length');
      const bytes = this.#take(this.#count(part.argument));
      if (major === MAJOR.text && !isUtf8(bytes)) throw new SyntaxError('cbor: invalid UTF-8 string');
      parts.push(bytes);
    }
    return Buffer.concat(parts);
  }

  #array({ argument }: Head, depth: number, later: BufferEncoding | undefined): JsonValue[] {
    if (depth >= MAX_DEPTH) throw tooDeep();
    const items: JsonValue[] = [];
    const count = argument === undefined ? Number.POSITIVE_INFINITY : this.#count(argument);
    while (items.length < count && !(argument === undefined && this.#takesBreak()))
      items.push(this.#item(depth + 1, later));
    return items;
  }

  #map({ argument }: Head, depth: number, later: BufferEncoding | undefined): JsonObject {
    if (depth >= MAX_DEPTH) throw tooDeep();
    const object: JsonObject = {};
    const count = argument === undefined ? Number.POSITIVE_INFINITY : this.#count(argument);
    for (let at = 0; at < count && !(argument === undefined && this.#takesBreak()); at += 1) {
      const key = this.#key();
      if (Object.hasOwn(object, key))
        throw new SyntaxError(
          `cbor: found duplicate map key ${JSON.stringify(key)} at map element index ${at}`,
        );
      setField(object, key, this.#item(depth + 1, later));
    }
    return object;
  }

  #key(): string {
    const head = this.#head();
    if (head.major === MAJOR.bytes || head.major === MAJOR.text) return this.#string(head, undefined);
    throw new SyntaxError('cbor: a map key must be a string');
  }

  #tagged({ argument = 0 }: Head, depth: number): JsonValue {
    if (depth >= MAX_DEPTH) throw tooDeep();
    if (argument === TAG.unsignedBignum || argument === TAG.negativeBignum)
      throw new SyntaxError(`cbor: integers of any length (tag ${argument}) are not supported`);
    const content = this.#item(depth + 1, LATER.get(argument));
    if (argument === TAG.timeText) return toTimeText(content);
    return argument === TAG.epochTime ? toTime(content) : content;
  }

  #simple({ info, argument = 0 }: Head): JsonValue {
    if (info === 25) return this.#float(readHalf(Number(argument)));
    if (info === 26) return this.#float(floatOf(argument, 32));
    if (info === 27) return this.#float(floatOf(argument, 64));
    if (info < 24 && argument === SIMPLE.null) return null;
    if (info < 24 && argument === SIMPLE.false) return false;
    if (info < 24 && argument === SIMPLE.true) return true;
    if (info === 24 && argument < 32)
      throw new SyntaxError(`cbor: invalid simple value ${argument} for type primitives`);
    throw new SyntaxError(`cbor: simple value ${argument} is not recognized`);
  }

  #float(value: number): JsonValue {
    if (!Number.isFinite(value))
      throw new SyntaxError('cbor: floating-point NaN and infinity are not supported');
    if (!Number.isInteger(value)) return value;
    this.sawWholeFloat = true;
    if (!this.#asWritten) return value;
    const source = Number.isSafeInteger(value) ? `${value}.0` : String(value);
    return toWritten(source) as unknown as JsonValue;
  }
}

function toInteger({ major, argument = 0 }: Head): JsonValue {
  if (typeof argument === 'number' && argument < Number.MAX_SAFE_INTEGER)
    return major === MAJOR.unsigned ? argument : -1 - argument;
  const value = major === MAJOR.unsigned ? BigInt(argument) : -1n - BigInt(argument);
  if (!isInt64(value)) throw new SyntaxError(`cbor: ${value} overflows Go's int64`);
  return toExact(value);
}

const scratch = Buffer.alloc(8);

function floatOf(bits: number | bigint, width: 32 | 64): number {
  scratch.writeBigUInt64BE(BigInt(bits));
  return width === 32 ? scratch.readFloatBE(4) : scratch.readDoubleBE(0);
}

/** RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

function toTimeText(content: JsonValue): JsonValue {
  if (typeof content === 'string' && TIME.test(content) && !Number.isNaN(Date.parse(content))) return content;
  throw new SyntaxError('cbor: the content of tag 0 must be a time of RFC 3339');
}

function toTime(content: JsonValue): JsonValue {
  const seconds = typeof content === 'number' ? content : Number.NaN;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime()))
    throw new SyntaxError('cbor: the content of tag 1 must be a time in seconds');
  return date.toISOString().replace(/\.?0*Z$/, 'Z');
}
