import { type Revision, toRevision } from '../../revision.ts';
import type { EncodedBytes, StoredObject } from '../../revision-log.ts';
import { NO_JSON } from './rows.ts';

/** Signature, flags, and the length of a header extension. */
const HEADER_BYTES = 11 + 4 + 4;
const COLUMNS = 9;
const EMPTY = Buffer.alloc(0);
/** Objects handed on at a time. */
const BATCH = 500;
const END = -1;

/** Copies a part of what was read, for as long as an object of the resource lives. */
type KeepBytes = (resource: string, bytes: Buffer, from: number, to: number) => Buffer;

/**
 * BinaryRows reads PostgreSQL's COPY, "Binary Format": a header, then for each row the number of its columns and their bytes. A
 * message has one row (Frontend/Backend Protocol, "CopyData"); the header precedes the first or is a message of its own.
 */
export class BinaryRows {
  readonly #batch: (objects: readonly StoredObject[]) => void;
  readonly #keep: KeepBytes;
  #objects: StoredObject[] = [];
  #hasHeader = false;
  /** Neighbours mostly share these; each text is kept once. */
  readonly #group = new LastText();
  readonly #resource = new LastText();
  readonly #namespace = new LastText();

  constructor(batch: (objects: readonly StoredObject[]) => void, keep: KeepBytes) {
    this.#batch = batch;
    this.#keep = keep;
  }

  /** Reads one message. @throws Error for other columns */
  read(bytes: Buffer, from: number, to: number): void {
    const at = this.#hasHeader ? from : from + HEADER_BYTES + bytes.readInt32BE(from + HEADER_BYTES - 4);
    this.#hasHeader = true;
    if (at === to) return;
    const count = bytes.readInt16BE(at);
    if (count === END) return;
    if (count !== COLUMNS) throw new Error(`a row of ${count} columns instead of ${COLUMNS}`);
    this.#add(new Columns(bytes, at + 2));
  }

  flush(): void {
    if (this.#objects.length > 0) this.#batch(this.#objects);
    this.#objects = [];
  }

  #add(columns: Columns): void {
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
      ...columns.bytes(key.resource, this.#keep),
    });
    if (this.#objects.length >= BATCH) this.flush();
  }
}

const LACKING = 'a live object lacks a column';

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

  /** Reads JSON, or bytes in another form and their media type. */
  bytes(resource: string, keep: KeepBytes): { readonly json: Buffer; readonly encoded?: EncodedBytes } {
    const json = this.#kept(resource, keep);
    const bytes = this.#kept(resource, keep);
    if (json !== undefined) return { json };
    if (bytes === undefined) throw new Error(LACKING);
    return { json: NO_JSON, encoded: { bytes, mediaType: this.text() } };
  }

  #kept(resource: string, keep: KeepBytes): Buffer | undefined {
    if (this.#bytes.readInt32BE(this.#at) < 0) {
      this.#at += 4;
      return undefined;
    }
    const from = this.#next();
    return keep(resource, this.#bytes, from, this.#at);
  }

  /** Returns where the next column begins, and moves behind it. */
  #next(): number {
    const from = this.#at + 4;
    const length = this.#bytes.readInt32BE(this.#at);
    if (length < 0) throw new Error(LACKING);
    this.#at = from + length;
    return from;
  }
}

/** LastText decodes a text unless its bytes are those of the last one; equal texts are the same string. */
class LastText {
  readonly #known = new Map<string, string>();
  #bytes: Buffer = EMPTY;
  #text = '';

  read(bytes: Buffer, from: number, to: number): string {
    if (to - from === this.#bytes.length && this.#bytes.compare(bytes, from, to) === 0) return this.#text;
    this.#bytes = Buffer.from(bytes.subarray(from, to));
    const text = bytes.toString('utf8', from, to);
    this.#text = this.#known.get(text) ?? text;
    this.#known.set(this.#text, this.#text);
    return this.#text;
  }
}
