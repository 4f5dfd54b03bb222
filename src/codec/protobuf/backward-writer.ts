/**
 * Writes a message from its end to its beginning, so that the length of a nested message is known when it is written: no sizes
 * are computed beforehand and no part is copied. Fields must therefore be written last first, the body before its tag.
 */
export class BackwardWriter {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  /** Everything from here on is written. */
  #at = this.#bytes.length;

  /** Bytes written so far: the length of a body is the difference between two of these. */
  get written(): number {
    return this.#bytes.length - this.#at;
  }

  reset(): void {
    this.#at = this.#bytes.length;
  }

  /** Everything, until the next {@link reset}. */
  view(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  /** A copy of everything. */
  finish(): Buffer {
    const message = Buffer.allocUnsafeSlow(this.written);
    this.#bytes.copy(message, 0, this.#at);
    return message;
  }

  /** An unsigned number below 2^53. */
  varint(value: number): void {
    const at = this.#reserve(varintLength(value));
    writeVarint(this.#bytes, value, at);
  }

  /** A tag and a zero after it: the number zero, or an empty length. Every second field of a pod is one. */
  zero(tag: number): void {
    const length = tag < 0x80 ? 1 : varintLength(tag);
    const at = this.#reserve(length + 1);
    if (length === 1) this.#bytes[at] = tag;
    else writeVarint(this.#bytes, tag, at);
    this.#bytes[at + length] = 0;
  }

  /** Negative numbers take ten bytes, as the wire format has it for int32 and int64. */
  integer(value: number | bigint): void {
    if (typeof value === 'bigint' && value >= 0n) {
      this.#large(value);
      return;
    }
    if (typeof value === 'number' && value >= 0) {
      this.varint(value);
      return;
    }
    let rest = BigInt.asUintN(64, typeof value === 'bigint' ? value : BigInt(Math.trunc(value)));
    const at = this.#reserve(NEGATIVE_BYTES);
    for (let index = 0; index < NEGATIVE_BYTES; index += 1) {
      const more = index < NEGATIVE_BYTES - 1 ? 0x80 : 0;
      this.#bytes[at + index] = Number(rest & 0x7fn) | more;
      rest >>= 7n;
    }
  }

  /** From 2^53 up to 2^63: eight or nine bytes. */
  #large(value: bigint): void {
    const length = Math.ceil(value.toString(2).length / 7);
    const at = this.#reserve(length);
    for (let index = 0; index < length; index += 1) {
      const more = index < length - 1 ? 0x80 : 0;
      this.#bytes[at + index] = Number((value >> BigInt(index * 7)) & 0x7fn) | more;
    }
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** A part of other bytes. */
  part(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    const at = this.#reserve(length);
    if (length > SHORT_BYTES) this.#bytes.set(bytes.subarray(from, to), at);
    else for (let index = 0; index < length; index += 1) this.#bytes[at + index] = bytes[from + index] ?? 0;
  }

  /** Calls into native code cost more than a short loop: most strings are names. */
  string(text: string): void {
    const { length } = text;
    if (length > SHORT_CHARS || !this.#shortAscii(text)) {
      const sizeBytes = Buffer.byteLength(text);
      const at = this.#reserve(sizeBytes);
      this.#bytes.write(text, at);
    }
  }

  #shortAscii(text: string): boolean {
    const { length } = text;
    const at = this.#reserve(length);
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) {
        this.#at += length;
        return false;
      }
      this.#bytes[at + index] = code;
    }
    return true;
  }

  #reserve(sizeBytes: number): number {
    if (this.#at < sizeBytes) this.#grow(sizeBytes);
    this.#at -= sizeBytes;
    return this.#at;
  }

  #grow(sizeBytes: number): void {
    const { written } = this;
    const larger = Buffer.allocUnsafeSlow((written + sizeBytes) * 2);
    this.#bytes.copy(larger, larger.length - written, this.#at);
    this.#bytes = larger;
    this.#at = larger.length - written;
  }
}

const NEGATIVE_BYTES = 10;
const SHORT_CHARS = 24;
const SHORT_BYTES = 64;

/** Unsigned numbers below 2^53, seven bits a byte. Above 2^32 shifts would cut them off. */

export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; length += 1) rest = shift(rest);
  return length;
}

/** Returns the offset of the next byte. */
export function writeVarint(bytes: Buffer, value: number, from: number): number {
  let at = from;
  let rest = value;
  for (; rest > 0x7f; rest = shift(rest)) {
    bytes[at] = (rest & 0x7f) | 0x80;
    at += 1;
  }
  bytes[at] = rest;
  return at + 1;
}

const shift = (value: number): number => (value > 0xffffffff ? Math.floor(value / 0x80) : value >>> 7);
