import { constants, crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { endTurn } from '../util/turns.ts';
import { ChunkWriter } from './chunks.ts';

/** RFC 1952, section 2.3: deflate, no name, no time, packed quickly, by a Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
/** An empty last block. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** Parts are joined up to this size: each write to a socket costs as much as sending 30 kB. */
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

/** A piece is requested when the one before it is packed. */
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

/** Level 1, as Kubernetes chose: the next ones cost twice the time for a tenth less. */
const LEVEL = 1;
/** Room for a packed part, so that zlib hands it out in one piece. */
const OUTPUT_BYTES = 64 * 1024;

/** A part of a gzip file, packed by itself. It ends on a byte boundary and refers to nothing before it, so it fits anywhere. */
export interface PackedPart {
  readonly deflated: Buffer;
  /** Checksum of the bytes before packing. */
  readonly crc: number;
  readonly crcShift: number;
  readonly plainBytes: number;
}

const toPart = (deflated: Buffer, plain: Buffer): PackedPart => ({
  deflated,
  crc: crc32(plain),
  crcShift: crcShift(plain.length),
  plainBytes: plain.length,
});

/** Packs one part after the other on the thread pool. To be closed, which frees zlib's memory. */
export class Deflater {
  /** Made on first use: that takes as long as packing 30 kB. */
  #stream: DeflateRaw | undefined;
  #output: Buffer[] = [];

  /** The bytes must stay as they are until it is done. */
  async pack(plain: Buffer): Promise<PackedPart> {
    const stream = this.#open();
    this.#output = [];
    await new Promise<void>((resolve, reject) => {
      stream.write(plain, (error) => (error ? reject(error) : resolve()));
    });
    const deflated = Buffer.concat(this.#output);
    if (!deflated.subarray(-FLUSHED.length).equals(FLUSHED)) throw new Error('a packed part has no end');
    return toPart(deflated, plain);
  }

  close(): void {
    this.#stream?.destroy();
  }

  #open(): DeflateRaw {
    if (this.#stream === undefined) {
      // A full flush ends each write on a byte boundary, and makes the next one independent of it.
      this.#stream = createDeflateRaw({
        level: LEVEL,
        flush: constants.Z_FULL_FLUSH,
        chunkSize: OUTPUT_BYTES,
      });
      this.#stream.on('data', (output: Buffer) => this.#output.push(output));
    }
    return this.#stream;
  }
}

/** The empty block that a flush ends with (RFC 1951, section 3.2.4), behind its first bits. */
const FLUSHED = Buffer.from([0, 0, 0xff, 0xff]);
const MAX_BLOCK_BYTES = 0xffff;

/** Bytes that are too few to be worth packing, as blocks that are not compressed (RFC 1951, section 3.2.4). */
export function wrapPlain(plain: Buffer): PackedPart {
  const blocks: Buffer[] = [];
  for (let at = 0; at < plain.length; at += MAX_BLOCK_BYTES) {
    const bytes = plain.subarray(at, at + MAX_BLOCK_BYTES);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(bytes.length, 1);
    head.writeUInt16LE(bytes.length ^ 0xffff, 3);
    blocks.push(head, bytes);
  }
  return toPart(Buffer.concat(blocks), plain);
}

/**
 * The checksum of gzip (RFC 1952, section 8), computed from the checksums and lengths of parts, without the bytes themselves.
 * Checksums are polynomials over GF(2), the highest power in the lowest bit; appending n bytes multiplies the checksum before
 * them by x to the power of 8n, modulo the polynomial.
 *
 *   crc('ab') = appendCrc(crc('a'), crc('b'), crcShift(1))
 */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
const X = 0x40000000;

function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bits = a | 0; bits !== 0; bits <<= 1) {
    if (bits < 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}

/** The factor by which appending `sizeBytes` multiplies a checksum, for {@link appendCrc}. */
export function crcShift(sizeBytes: number): number {
  let shift = ONE;
  let power = X;
  for (let bits = sizeBytes * 8; bits > 0; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift;
}

export const appendCrc = (crc: number, next: number, shift: number): number =>
  (multiply(shift, crc) ^ next) >>> 0;
