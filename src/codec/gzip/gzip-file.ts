import { endTurn } from '../../util/end-turn.ts';
import { ChunkWriter } from '../chunks.ts';
import { appendCrc } from './crc32.ts';
import { Deflater, type PackedPart } from './deflater.ts';

/** RFC 1952, section 2.3: deflate, no name, no time, packed quickly, by a Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
/** An empty last block. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** Parts are handed out together up to this: each write to a socket costs as much as sending 30 kB. */
const PIECE_BYTES = 64 * 1024;

/** One gzip file of parts that were packed apart. A piece is valid until the next is asked for. */
export async function* gzipParts(parts: AsyncIterable<PackedPart>): AsyncIterable<Buffer> {
  const writer = new ChunkWriter(PIECE_BYTES, { reuses: true });
  let crc = 0;
  let plainBytes = 0;
  writer.bytes(HEADER);
  for await (const part of parts) {
    crc = appendCrc(crc, part.crc, part.crcShift);
    plainBytes += part.plainBytes;
    if (!writer.fits(part.deflated.length)) {
      yield writer.filled();
      writer.begin(part.deflated.length);
    }
    writer.bytes(part.deflated);
  }
  const end = Buffer.concat([LAST_BLOCK, checks(crc, plainBytes)]);
  if (!writer.fits(end.length)) {
    yield writer.filled();
    writer.begin(end.length);
  }
  writer.bytes(end);
  yield writer.filled();
}

/** RFC 1952, section 2.3.1: CRC32 and ISIZE. */
function checks(crc: number, plainBytes: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(crc, 0);
  bytes.writeUInt32LE(plainBytes % 2 ** 32, 4);
  return bytes;
}

/** A piece is asked for when the one before it was packed. */
export const gzipPieces = (pieces: Iterable<Buffer>): AsyncIterable<Buffer> => gzipParts(packAll(pieces));

async function* packAll(pieces: Iterable<Buffer>): AsyncIterable<PackedPart> {
  const deflater = new Deflater();
  try {
    for (const piece of pieces) {
      if (piece.length === 0) await endTurn();
      else yield await deflater.pack(piece);
    }
  } finally {
    deflater.close();
  }
}
