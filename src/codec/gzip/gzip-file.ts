import { appendCrc } from './crc32.ts';
import { Deflater, type PackedPart } from './deflater.ts';

/** RFC 1952, section 2.3: deflate, no name, no time, packed quickly, by a Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
/** An empty last block. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** Parts are handed out together up to this: each write to a socket costs as much as sending 30 kB. */
const PIECE_BYTES = 64 * 1024;

/** One gzip file of parts that were packed apart. */
export async function* gzipParts(parts: AsyncIterable<PackedPart>): AsyncIterable<Buffer> {
  let crc = 0;
  let plainBytes = 0;
  let piece: Buffer[] = [HEADER];
  let pieceBytes = HEADER.length;
  for await (const part of parts) {
    crc = appendCrc(crc, part.crc, part.crcShift);
    plainBytes += part.plainBytes;
    piece.push(part.deflated);
    pieceBytes += part.deflated.length;
    if (pieceBytes < PIECE_BYTES) continue;
    yield Buffer.concat(piece);
    piece = [];
    pieceBytes = 0;
  }
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(plainBytes % 2 ** 32, 4);
  yield Buffer.concat([...piece, LAST_BLOCK, trailer]);
}

/** A piece is asked for when the one before it was packed. */
export const gzipPieces = (pieces: Iterable<Buffer>): AsyncIterable<Buffer> => gzipParts(packAll(pieces));

async function* packAll(pieces: Iterable<Buffer>): AsyncIterable<PackedPart> {
  const deflater = new Deflater();
  try {
    for (const piece of pieces) yield await deflater.pack(piece);
  } finally {
    deflater.close();
  }
}
