import { endTurn } from '../util/turns.ts';

/**
 * Puts many small pieces together into chunks of a size that sockets like. Sending a list of 10,000 objects as 30,000
 * buffers costs more than copying them once.
 */
export const CHUNK_BYTES = 256 * 1024;

/**
 * A buffer that is filled piece by piece. Before a piece that does not fit, its user sends the {@link filled} part and begins
 * again. A large answer reuses one chunk: fresh memory for each chunk costs a list of 10,000 pods as much in page faults and
 * garbage collection as the rest of its work.
 */
export class ChunkWriter {
  readonly #reuses: boolean;
  #chunk: Buffer;
  #used = 0;

  /** `reuses`: bytes that were handed out are no longer needed when {@link begin} is called. */
  constructor(sizeBytes: number, { reuses }: { reuses: boolean }) {
    this.#chunk = Buffer.allocUnsafeSlow(sizeBytes);
    this.#reuses = reuses;
  }

  fits(sizeBytes: number): boolean {
    return this.#used + sizeBytes <= this.#chunk.length;
  }

  /** The bytes written since the chunk was begun. */
  filled(): Buffer {
    return this.#used === this.#chunk.length ? this.#chunk : this.#chunk.subarray(0, this.#used);
  }

  /** Begins a new chunk with room for at least `sizeBytes`. */
  begin(sizeBytes: number): void {
    this.#used = 0;
    if (this.#reuses && sizeBytes <= this.#chunk.length) return;
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, sizeBytes));
  }

  /** ASCII only. */
  ascii(text: string): void {
    this.#used += this.#chunk.write(text, this.#used, 'latin1');
  }

  /** Takes up to three bytes for each UTF-16 code unit. */
  text(text: string): void {
    this.#used += this.#chunk.write(text, this.#used);
  }

  bytes(bytes: Buffer, from = 0, to = bytes.length): void {
    this.#used += bytes.copy(this.#chunk, this.#used, from, to);
  }
}

/** A body as responses have it: chunks that exist, and a rest that is made while it is sent. */
export interface Body {
  readonly chunks: readonly Buffer[];
  /** An empty piece yields the event loop. */
  readonly rest?: Iterable<Buffer>;
  readonly sizeBytes?: number;
  /** The whole body packed by gzip, where that is cheaper than packing the chunks. */
  readonly packed?: () => AsyncIterable<Buffer>;
}

export interface ItemList<Item, Made> {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Between two items; ASCII. */
  readonly separator: string;
  readonly items: readonly Item[];
  /** Roughly the size of an item, without making it. */
  estimateBytes(item: Item): number;
  /** Whether the estimates are exact. */
  readonly exact: boolean;
  /** Called for one item after the other, each just before it is written. */
  make(item: Item): Made;
  /** Never less than what {@link write} writes. */
  boundBytes(made: Made): number;
  write(made: Made, writer: ChunkWriter): void;
}

/** Items between a head and a tail. A body that fits into one chunk is made at once, a larger one as it is sent. */
export async function writeItems<Item, Made>(list: ItemList<Item, Made>): Promise<Body> {
  const itemBytes = await sumBytes(list.items, (item) => list.estimateBytes(item));
  const separators = list.separator.length * Math.max(0, list.items.length - 1);
  const sizeBytes = list.head.length + itemBytes + separators + list.tail.length;
  if (sizeBytes <= CHUNK_BYTES) return writeAtOnce(list, sizeBytes);
  const rest = chunksOf(list);
  return list.exact ? { chunks: [], rest, sizeBytes } : { chunks: [], rest };
}

/** Items that are measured in one turn, which takes half a millisecond. */
const MEASURED_AT_ONCE = 10_000;

/** Yields the event loop between parts of a long list. */
export async function sumBytes<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
): Promise<number> {
  let sizeBytes = 0;
  let at = 0;
  for (const item of items) {
    at += 1;
    if (at % MEASURED_AT_ONCE === 0) await endTurn();
    sizeBytes += sizeOf(item);
  }
  return sizeBytes;
}

/** For few items. */
export const writeAtOnce = <Item, Made>(list: ItemList<Item, Made>, sizeBytes: number): Body => ({
  chunks: [...piecesOf(list, new ChunkWriter(sizeBytes, { reuses: false }))],
});

/** The chunk is allocated with the first piece, because a packed list needs none. */
function* chunksOf<Item, Made>(list: ItemList<Item, Made>): Iterable<Buffer> {
  yield* piecesOf(list, new ChunkWriter(CHUNK_BYTES, { reuses: true }));
}

function* piecesOf<Item, Made>(list: ItemList<Item, Made>, writer: ChunkWriter): Iterable<Buffer> {
  if (!writer.fits(list.head.length)) writer.begin(list.head.length);
  writer.bytes(list.head);
  let separator = '';
  for (const item of list.items) {
    const made = list.make(item);
    const boundBytes = list.boundBytes(made) + separator.length;
    if (!writer.fits(boundBytes)) {
      yield writer.filled();
      writer.begin(boundBytes);
    }
    if (separator !== '') writer.ascii(separator);
    list.write(made, writer);
    separator = list.separator;
  }
  if (!writer.fits(list.tail.length)) {
    yield writer.filled();
    writer.begin(list.tail.length);
  }
  writer.bytes(list.tail);
  yield writer.filled();
}
