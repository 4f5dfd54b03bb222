import { CborWriter, toCbor } from '../../codec/cbor/write-cbor.ts';
import { type Body, sumBytes } from '../../codec/chunks.ts';
import type { Form, FormOptions, Frames, ListHead, Stored } from './form.ts';
import { converted, framesOf, LARGE_BYTES, type Values } from './values.ts';

const PIECE_BYTES = 64 * 1024;
/** Yields the event loop. */
const PAUSE = Buffer.alloc(0);

/** Writes CBOR, one item after the other. */
export class CborForm implements Form {
  readonly contentType: string;
  readonly frames: Frames;
  readonly #values: Values;

  constructor({ representation }: FormOptions, values: Values) {
    this.contentType = representation.contentType;
    this.#values = values;
    this.frames = framesOf(values, representation, toCbor);
  }

  object(stored: Stored): Body {
    if (stored.json.length <= LARGE_BYTES) return { chunks: [toCbor(this.#values.object(stored))] };
    return { chunks: [], rest: this.#largeObject(stored) };
  }

  async list(entries: readonly Stored[], head: ListHead): Promise<Body> {
    const pieces = this.#listPieces(entries, head);
    const sizeBytes = await sumBytes(entries, ({ json }) => json.length);
    return sizeBytes <= LARGE_BYTES ? { chunks: [...pieces] } : { chunks: [], rest: pieces };
  }

  *#listPieces(entries: readonly Stored[], head: ListHead): Iterable<Buffer> {
    const fields = Object.entries(this.#values.list(head));
    const writer = new CborWriter().selfDescribed();
    writer.mapOf(fields.length + 1);
    for (const [key, value] of fields) {
      writer.string(key);
      writer.value(value);
    }
    writer.string(this.#values.itemsField);
    writer.arrayOf(entries.length);
    for (const stored of entries) {
      if (stored.json.length > LARGE_BYTES) yield* this.#large(stored, 'item', writer);
      else writer.value(this.#values.item(stored));
      if (writer.length >= PIECE_BYTES) yield writer.taken();
    }
    yield writer.taken();
  }

  *#largeObject(stored: Stored): Iterable<Buffer> {
    const writer = new CborWriter().selfDescribed();
    yield* this.#large(stored, 'object', writer);
    yield writer.taken();
  }

  *#large(stored: Stored, as: 'object' | 'item', writer: CborWriter): Iterable<Buffer> {
    writer.value(yield* converted(this.#values, stored, as, PAUSE));
  }
}
