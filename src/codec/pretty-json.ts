import type { Body } from './chunks.ts';

/**
 * JSON with line breaks for people at a terminal, made from compact JSON while it is sent: nothing is parsed, and a list of any
 * length takes no more memory than one of its pieces.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const LINE_END = 0x0a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

const PIECE_BYTES = 64 * 1024;
/** A smaller body is made at once. */
const SMALL_BYTES = 8 * 1024;

/** The same body with line breaks. */
export function prettyBody({ chunks, rest }: Body): Body {
  let sizeBytes = 0;
  for (const chunk of chunks) sizeBytes += chunk.length;
  if (rest !== undefined || sizeBytes > SMALL_BYTES)
    return { chunks: [], rest: prettyPieces(chunks, rest ?? []) };
  return { chunks: [...prettyPieces(chunks, [])].map((piece) => Buffer.from(piece)) };
}

/** A piece is valid until the next one is requested. */
function* prettyPieces(chunks: Iterable<Buffer>, rest: Iterable<Buffer>): Iterable<Buffer> {
  const indenter = new Indenter();
  for (const source of [chunks, rest]) {
    for (const chunk of source) {
      for (let at = 0; at < chunk.length; ) {
        at = indenter.read(chunk, at);
        if (at < chunk.length) yield indenter.take();
      }
    }
  }
  yield indenter.take();
}

/** Reads compact JSON that may be cut anywhere. */
class Indenter {
  #out = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #used = 0;
  #depth = 0;
  #isInText = false;
  /** The last byte of the text was a backslash, which escapes the next one. */
  #isEscaping = false;
  /** The last token was an opening bracket. */
  #isOpen = false;

  /** Returns where it stopped: at the end, or earlier when the output must be taken first. */
  read(json: Buffer, from: number): number {
    for (let at = from; at < json.length; at += 1) {
      if (!this.#hasRoom()) return at;
      const byte = json[at] ?? 0;
      if (this.#isInText) this.#readText(byte);
      else this.#readToken(byte);
    }
    return json.length;
  }

  take(): Buffer {
    const piece = this.#out.subarray(0, this.#used);
    this.#used = 0;
    return piece;
  }

  /** For a byte, the end of a line and the indent of the next. */
  #hasRoom(): boolean {
    const needed = 2 * this.#depth + 4;
    if (this.#used + needed <= this.#out.length) return true;
    if (this.#used === 0) this.#out = Buffer.allocUnsafeSlow(needed * 2);
    return this.#used === 0;
  }

  #readText(byte: number): void {
    this.#write(byte);
    if (this.#isEscaping) this.#isEscaping = false;
    else if (byte === BACKSLASH) this.#isEscaping = true;
    else if (byte === QUOTE) this.#isInText = false;
  }

  #readToken(byte: number): void {
    switch (byte) {
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#depth -= 1;
        if (!this.#isOpen) this.#endLine();
        this.#isOpen = false;
        this.#write(byte);
        return;
      case COMMA:
        this.#write(byte);
        this.#endLine();
        return;
      case COLON:
        this.#write(byte);
        this.#write(SPACE);
        return;
      default:
        if (this.#isOpen) this.#endLine();
        this.#isOpen = byte === OPEN_OBJECT || byte === OPEN_LIST;
        if (this.#isOpen) this.#depth += 1;
        this.#isInText = byte === QUOTE;
        this.#write(byte);
    }
  }

  #endLine(): void {
    this.#write(LINE_END);
    const end = this.#used + 2 * this.#depth;
    this.#out.fill(SPACE, this.#used, end);
    this.#used = end;
  }

  #write(byte: number): void {
    this.#out[this.#used] = byte;
    this.#used += 1;
  }
}
