import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { MAJOR, SELF_DESCRIBED, SIMPLE, toHalf } from './format.ts';

/**
 * JSON values as CBOR, by the rules of Kubernetes (apimachinery, serializer/cbor/internal/modes/encode.go): strings and keys are
 * byte strings, which clients read as text or as base64, whichever the field is; lengths are definite; integers and floating point
 * numbers take the fewest bytes that hold them.
 */

const FIRST_BYTES = 1024;

export class CborWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #used = 0;

  /** The bytes since the last call. */
  taken(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#used);
    this.#buffer = Buffer.allocUnsafe(Math.max(FIRST_BYTES, this.#used));
    this.#used = 0;
    return bytes;
  }

  get length(): number {
    return this.#used;
  }

  selfDescribed(): this {
    this.#room(SELF_DESCRIBED.length);
    this.#used += SELF_DESCRIBED.copy(this.#buffer, this.#used);
    return this;
  }

  mapOf(count: number): void {
    this.#head(MAJOR.map, count);
  }

  arrayOf(count: number): void {
    this.#head(MAJOR.array, count);
  }

  string(text: string): void {
    const length = Buffer.byteLength(text);
    this.#head(MAJOR.bytes, length);
    this.#room(length);
    this.#used += this.#buffer.write(text, this.#used);
  }

  value(value: JsonValue | undefined): void {
    if (typeof value === 'string') this.string(value);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value === 'bigint') this.#integer(value, -1n - value);
    else if (typeof value === 'boolean') this.#head(MAJOR.simple, value ? SIMPLE.true : SIMPLE.false);
    else if (Array.isArray(value)) this.#items(value);
    else if (value === null || value === undefined) this.#head(MAJOR.simple, SIMPLE.null);
    else this.#fields(value);
  }

  #items(items: readonly JsonValue[]): void {
    this.arrayOf(items.length);
    for (const item of items) this.value(item);
  }

  /** Absent fields may be present as undefined. */
  #fields(object: JsonObject): void {
    const keys = Object.keys(object).filter((key) => object[key] !== undefined);
    this.mapOf(keys.length);
    for (const key of keys) {
      this.string(key);
      this.value(object[key]);
    }
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) this.#integer(value, -1 - value);
    else this.#float(value);
  }

  /** `complement`: what stands for a negative number. */
  #integer(value: number | bigint, complement: number | bigint): void {
    if (value < 0) this.#head(MAJOR.negative, complement);
    else this.#head(MAJOR.unsigned, value);
  }

  #float(value: number): void {
    this.#room(9);
    const half = toHalf(value);
    if (half !== undefined) {
      this.#used = this.#buffer.writeUInt8(0xf9, this.#used);
      this.#used = this.#buffer.writeUInt16BE(half, this.#used);
    } else if (Math.fround(value) === value) {
      this.#used = this.#buffer.writeUInt8(0xfa, this.#used);
      this.#used = this.#buffer.writeFloatBE(value, this.#used);
    } else {
      this.#used = this.#buffer.writeUInt8(0xfb, this.#used);
      this.#used = this.#buffer.writeDoubleBE(value, this.#used);
    }
  }

  #head(major: number, argument: number | bigint): void {
    this.#room(9);
    const first = major << 5;
    if (argument < 24) this.#used = this.#buffer.writeUInt8(first | Number(argument), this.#used);
    else if (argument < 0x100) {
      this.#used = this.#buffer.writeUInt8(first | 24, this.#used);
      this.#used = this.#buffer.writeUInt8(Number(argument), this.#used);
    } else if (argument < 0x1_0000) {
      this.#used = this.#buffer.writeUInt8(first | 25, this.#used);
      this.#used = this.#buffer.writeUInt16BE(Number(argument), this.#used);
    } else if (argument < 0x1_0000_0000) {
      this.#used = this.#buffer.writeUInt8(first | 26, this.#used);
      this.#used = this.#buffer.writeUInt32BE(Number(argument), this.#used);
    } else {
      this.#used = this.#buffer.writeUInt8(first | 27, this.#used);
      this.#used = this.#buffer.writeBigUInt64BE(BigInt(argument), this.#used);
    }
  }

  #room(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}

/** A whole document. */
export function toCbor(value: JsonValue): Buffer {
  const writer = new CborWriter().selfDescribed();
  writer.value(value);
  return writer.taken();
}
