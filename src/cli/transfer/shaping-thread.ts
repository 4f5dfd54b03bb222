import { parentPort } from 'node:worker_threads';
import type { Piece } from './file-index.ts';
import { PieceShaper } from './piece-shaper.ts';
import { Refused, type Shape, type Shaped, Shapes } from './shapes.ts';
import type { ShapingStart } from './shaping-start.ts';
import type { Unread } from './source.ts';

/** What the thread sends: JSON one behind another, and what belongs to each. */
export interface ShapedMessage {
  readonly bytes: ArrayBuffer;
  readonly taken: readonly (SentShape | { readonly name: string; readonly reason: string })[];
  readonly unread: readonly Unread[];
}

export interface SentShape extends Omit<Shape, 'json'> {
  readonly size: number;
}

/** What it is sent. */
export interface ShapingJob {
  readonly pieces: readonly Piece[];
  /** To be filled; undefined: the first time. */
  readonly memory: ArrayBuffer | undefined;
}

/** Runs in a thread of shaping-threads.ts: shapes what it is sent, in order. */
export function shapeForOthers({ minor, definitions }: ShapingStart): void {
  const output = new ShapingOutput();
  const shapes = new Shapes({ minor, toBytes: (text) => output.add(text) });
  shapes.learn(definitions);
  const shaper = new PieceShaper(shapes);
  parentPort?.on('message', ({ pieces, memory }: ShapingJob) => {
    output.begin(memory);
    const { taken, unread } = shaper.shape(pieces);
    const { bytes } = output;
    const message: ShapedMessage = { bytes, taken: taken.map(toSent), unread };
    parentPort?.postMessage(message, [bytes]);
  });
}

/** More than most batches need. */
const USUAL_BYTES = 1280 * 1024;

/** ShapingOutput writes texts one behind another, into memory that is used again: fresh memory costs more than the writing. */
class ShapingOutput {
  #bytes = Buffer.of();
  #at = 0;

  get bytes(): ArrayBuffer {
    return this.#bytes.buffer as ArrayBuffer;
  }

  begin(memory: ArrayBuffer | undefined): void {
    this.#bytes = Buffer.from(memory ?? new ArrayBuffer(USUAL_BYTES));
    this.#at = 0;
  }

  add(text: string): Buffer {
    const most = text.length * 3;
    if (this.#at + most > this.#bytes.length && this.#at + Buffer.byteLength(text) > this.#bytes.length)
      this.#grow(Buffer.byteLength(text));
    const from = this.#at;
    this.#at += this.#bytes.write(text, from);
    return this.#bytes.subarray(from, this.#at);
  }

  #grow(more: number): void {
    const larger = Buffer.from(new ArrayBuffer(Math.max(this.#bytes.length * 2, this.#at + more)));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function toSent(one: Shaped | Refused): ShapedMessage['taken'][number] {
  if (one instanceof Refused) return { name: one.name, reason: one.reason };
  const { key, uid, json, digest, isNew, ownerUids, own } = one;
  return { key, uid, digest, isNew, ownerUids, own, size: json.length };
}
