/** DER (X.690): one element after another. Strict, because bytes that two readers understand differently are a way to attack. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  set: 0x31,
} as const;

/** `[n]`, for a choice or an optional field; constructed unless it holds a plain value. */
export const contextTag = (number: number, { constructed }: { readonly constructed: boolean }): number =>
  (constructed ? 0xa0 : 0x80) | number;

interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag and length included. */
  readonly whole: Buffer;
}

/** @throws Error for bytes that are no DER, or another element than the expected one */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The content of the only element in `bytes`. */
  static only(bytes: Buffer, tag: number): Buffer {
    const reader = new DerReader(bytes);
    const content = reader.take(tag);
    reader.end();
    return content;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  end(): void {
    if (!this.isAtEnd) throw new Error('asn1: syntax error: trailing data');
  }

  next(): DerElement {
    const start = this.#at;
    const tag = this.#byte();
    // None of the standards in use has a tag number beyond 30.
    if ((tag & 0x1f) === 0x1f) throw new Error('asn1: syntax error: tag too large');
    const length = this.#length();
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Error('asn1: syntax error: data truncated');
    const content = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return { tag, content, whole: this.#bytes.subarray(start, end) };
  }

  nextOf(tag: number): DerElement {
    const element = this.next();
    if (element.tag !== tag) throw new Error('asn1: structure error: tags do not match');
    return element;
  }

  take(tag: number): Buffer {
    return this.nextOf(tag).content;
  }

  sequence(): DerReader {
    return new DerReader(this.take(TAG.sequence));
  }

  /** Undefined when the next element, if there is one, has another tag. */
  optional(tag: number): Buffer | undefined {
    return !this.isAtEnd && this.#bytes[this.#at] === tag ? this.take(tag) : undefined;
  }

  oid(): string {
    return toOid(this.take(TAG.oid));
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('asn1: syntax error: data truncated');
    this.#at += 1;
    return byte;
  }

  #length(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new Error('asn1: structure error: length is indefinite or too large');
    let length = 0;
    for (let at = 0; at < count; at += 1) length = length * 256 + this.#byte();
    if (length < 0x80 || length < 256 ** (count - 1)) {
      throw new Error('asn1: structure error: non-minimal length');
    }
    return length;
  }
}

/** `2.5.4.3` */
function toOid(content: Buffer): string {
  const numbers: number[] = [];
  let number = 0;
  let isOpen = false;
  for (const byte of content) {
    if (!isOpen && byte === 0x80) throw new Error('asn1: syntax error: integer is not minimally encoded');
    number = number * 128 + (byte & 0x7f);
    if (number > Number.MAX_SAFE_INTEGER)
      throw new Error('asn1: structure error: base 128 integer too large');
    isOpen = byte >= 0x80;
    if (isOpen) continue;
    numbers.push(number);
    number = 0;
  }
  const [first, ...others] = numbers;
  if (first === undefined || isOpen) throw new Error('asn1: syntax error: malformed object identifier');
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...others].join('.');
}

export function toBoolean(content: Buffer): boolean {
  const [byte] = content;
  if (content.length !== 1 || (byte !== 0 && byte !== 0xff)) {
    throw new Error('asn1: syntax error: invalid boolean');
  }
  return byte === 0xff;
}

/** A number that is not negative. Very large numbers become the largest safe one. */
export function toCount(content: Buffer): number {
  const [first = 0x80, second = 0x80] = content;
  if (first >= 0x80) throw new Error('asn1: structure error: not a count');
  if (content.length > 1 && first === 0 && second < 0x80) {
    throw new Error('asn1: structure error: integer not minimally-encoded');
  }
  return content.length > 6 ? Number.MAX_SAFE_INTEGER : content.readUIntBE(0, content.length);
}

/** A bit string of whole bytes, as keys and signatures are. */
export function toBytes(content: Buffer): Buffer {
  if (content[0] !== 0) throw new Error('asn1: syntax error: not a bit string of whole bytes');
  return content.subarray(1);
}

/** One element with this content. */
export function writeDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content)]), content]);
}

function lengthOf({ length }: Buffer): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 + bytes.length, ...bytes];
}
