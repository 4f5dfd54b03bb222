import { type Revision, toRevision } from '../revision.ts';
import type { StoredObject } from '../revision-log.ts';
import { Slab } from './slab.ts';

/** Signature, flags, and the length of what may follow them. */
const HEADER_BYTES = 11 + 4 + 4;
const COLUMNS = 7;
const EMPTY = Buffer.alloc(0);
/** Objects handed on at a time. */
const BATCH = 500;
const END = -1;

/** PostgreSQL's documentation of COPY, "Binary Format": a header, then for each row the number of its columns and their bytes. */
export class BinaryRows {
  readonly #batch: (objects: readonly StoredObject[]) => void;
  #objects: StoredObject[] = [];
  #rest: Buffer = EMPTY;
  #hasHeader = false;
  readonly #slab = new Slab();
  /** Rows come ordered by these, so each text is made once for all that share it. */
  readonly #group = new LastText();
  readonly #resource = new LastText();
  readonly #namespace = new LastText();

  constructor(batch: (objects: readonly StoredObject[]) => void) {
    this.#batch = batch;
  }

  /** Takes what it needs of the bytes, which are `pg`'s and will be overwritten. */
  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    if (!this.#hasHeader) {
      const headerEnd = findHeaderEnd(bytes);
      this.#hasHeader = headerEnd !== undefined;
      at = headerEnd ?? 0;
    }
    for (let end = this.#rowEnd(bytes, at); end !== undefined; end = this.#rowEnd(bytes, at)) {
      if (end > at + 2) this.#add(bytes, at + 2);
      at = end;
    }
    this.#rest = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
  }

  #rowEnd(bytes: Buffer, from: number): number | undefined {
    return this.#hasHeader ? findRowEnd(bytes, from) : undefined;
  }

  flush(): void {
    if (this.#objects.length > 0) this.#batch(this.#objects);
    this.#objects = [];
  }

  #add(bytes: Buffer, from: number): void {
    const columns = new Columns(bytes, from);
    const key = {
      group: columns.shared(this.#group),
      resource: columns.shared(this.#resource),
      namespace: columns.shared(this.#namespace),
      name: columns.text(),
    };
    this.#objects.push({
      key,
      uid: columns.text(),
      revision: columns.revision(),
      json: columns.ownBytes(this.#slab),
    });
    if (this.#objects.length >= BATCH) this.flush();
  }
}

/** Where the first row begins; undefined when the header is not all there. */
function findHeaderEnd(bytes: Buffer): number | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const end = HEADER_BYTES + bytes.readInt32BE(HEADER_BYTES - 4);
  return end > bytes.length ? undefined : end;
}

/** Where the next row begins; undefined when this one is not all there. */
function findRowEnd(bytes: Buffer, from: number): number | undefined {
  if (bytes.length < from + 2) return undefined;
  const count = bytes.readInt16BE(from);
  let at = from + 2;
  if (count === END) return at;
  if (count !== COLUMNS) throw new Error(`a row of ${count} columns instead of ${COLUMNS}`);
  for (let column = 0; column < count; column += 1) {
    if (bytes.length < at + 4) return undefined;
    at += 4 + Math.max(0, bytes.readInt32BE(at));
  }
  return at > bytes.length ? undefined : at;
}

class Columns {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, from: number) {
    this.#bytes = bytes;
    this.#at = from;
  }

  text(): string {
    const from = this.#next();
    return this.#bytes.toString('utf8', from, this.#at);
  }

  shared(last: LastText): string {
    const from = this.#next();
    return last.read(this.#bytes, from, this.#at);
  }

  revision(): Revision {
    return toRevision(this.#bytes.readBigInt64BE(this.#next()));
  }

  ownBytes(slab: Slab): Buffer {
    const from = this.#next();
    return slab.copy(this.#bytes, from, this.#at);
  }

  /** Begin of the next column; the position is behind it afterwards. */
  #next(): number {
    const from = this.#at + 4;
    const length = this.#bytes.readInt32BE(this.#at);
    if (length < 0) throw new Error('a live object lacks a column');
    this.#at = from + length;
    return from;
  }
}

/** The text that was read last, for as long as the bytes stay the same. */
class LastText {
  #bytes: Buffer = EMPTY;
  #text = '';

  read(bytes: Buffer, from: number, to: number): string {
    if (to - from === this.#bytes.length && this.#bytes.compare(bytes, from, to) === 0) return this.#text;
    this.#bytes = Buffer.from(bytes.subarray(from, to));
    this.#text = bytes.toString('utf8', from, to);
    return this.#text;
  }
}
