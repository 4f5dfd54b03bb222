import { parentPort } from 'node:worker_threads';
import type { Piece } from './file-index.ts';
import { PieceShaper, type ShapedPieces } from './piece-shaper.ts';
import { Refused, type Shape, Shaped, Shapes } from './shapes.ts';
import type { ShapingStart } from './shaping-start.ts';
import type { Unread } from './source.ts';

/** What the thread sends: the stored forms one behind another, and what belongs to each. */
export interface ShapedMessage {
  readonly bytes: ArrayBuffer;
  readonly taken: readonly (SentShape | { readonly name: string; readonly reason: string })[];
  readonly unread: readonly Unread[];
}

export interface SentShape extends Omit<Shape, 'json'> {
  readonly size: number;
}

/** Runs in a thread of shaping-threads.ts: shapes what it is sent, in order. */
export function shapeForOthers({ definitions }: ShapingStart): void {
  const shapes = new Shapes();
  shapes.learn(definitions);
  const shaper = new PieceShaper(shapes);
  parentPort?.on('message', (pieces: readonly Piece[]) => {
    const message = toMessage(shaper.shape(pieces));
    parentPort?.postMessage(message, [message.bytes]);
  });
}

function toMessage({ taken, unread }: ShapedPieces): ShapedMessage {
  const shaped = taken.filter((one) => one instanceof Shaped);
  const bytes = Buffer.from(new ArrayBuffer(shaped.reduce((sum, { json }) => sum + json.length, 0)));
  let at = 0;
  for (const { json } of shaped) at += json.copy(bytes, at);
  return {
    bytes: bytes.buffer,
    taken: taken.map((one) =>
      one instanceof Refused ? { name: one.name, reason: one.reason } : toSent(one),
    ),
    unread,
  };
}

const toSent = ({ key, uid, json, digest, isNew, ownerUids, own }: Shaped): SentShape => ({
  ...{ key, uid, digest, isNew, ownerUids, own },
  size: json.length,
});
