import { constants, crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { crcShift } from './crc32.ts';

/** Level 1, as Kubernetes chose: the next ones cost twice the time for a tenth less. */
const LEVEL = 1;
/** Room for what a part becomes, so that it comes out in one. */
const OUTPUT_BYTES = 64 * 1024;

/** A part of a gzip file, packed by itself. It ends with a byte and refers to nothing before it, so it fits anywhere. */
export interface PackedPart {
  readonly deflated: Buffer;
  /** Of what was packed. */
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

/** Packs one part after the other on the thread pool. To be closed: what it works with is freed with it. */
export class Deflater {
  /** Made when there is something to pack: that takes as long as packing 30 kB. */
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
      // A full flush ends each write with a byte, and what follows begins as a file of its own does.
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

/** What is too small to be worth packing, as blocks that are not compressed (RFC 1951, section 3.2.4). */
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
