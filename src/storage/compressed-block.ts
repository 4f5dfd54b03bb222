import zlib from 'node:zlib';

/** Node.js has zstd since 22.15. Without it, everything stays as it is. */
export const canCompress = typeof zlib.zstdCompressSync === 'function';

/** The bytes of several objects in one piece, compressed, in memory that threads share. */
export interface PackedBytes {
  readonly compressed: Buffer;
  /** Where each part ends, inflated. */
  readonly ends: readonly number[];
}

/**
 * Returns undefined when less than three quarters would be saved: a block stays until its last object is gone, which then lives
 * several times as long as the average.
 *
 * 64 kB take 60 µs. In a thread of the pool they take as much of this one, for the way there and back.
 */
export function pack(parts: readonly Buffer[]): PackedBytes | undefined {
  const ends: number[] = [];
  let sizeBytes = 0;
  for (const part of parts) {
    sizeBytes += part.length;
    ends.push(sizeBytes);
  }
  const compressed = zlib.zstdCompressSync(Buffer.concat(parts, sizeBytes), OPTIONS);
  if (compressed.length * LEAST_RATIO > sizeBytes) return undefined;
  // What zlib returns is a part of a larger piece of memory.
  const kept = Buffer.from(new SharedArrayBuffer(compressed.length));
  compressed.copy(kept);
  return { compressed: kept, ends };
}

/**
 * CompressedBlock reads packed bytes. Reading one part inflates all, which then stay inflated for as long as one of them is read now and
 * then. Neighbours are much alike: 64 kB of pods take 2 kB, and inflating them takes as long as a third of a get.
 *
 * A dictionary for each resource, and each object compressed alone, was tried: 130 bytes a pod beside 210, but a list of 10,000 would
 * inflate 10,000 times, at 25 µs each, and a block does it at 5 µs an object.
 */
export class CompressedBlock {
  readonly packed: PackedBytes;
  readonly #inflated: InflatedBlocks;
  #parts: readonly Buffer[] | undefined;
  #wasRead = false;

  /** See {@link InflatedBlocks.blockOf}. */
  constructor(packed: PackedBytes, inflated: InflatedBlocks) {
    this.packed = packed;
    this.#inflated = inflated;
  }

  sizeOf(part: number): number {
    const { ends } = this.packed;
    return (ends[part] ?? 0) - (ends[part - 1] ?? 0);
  }

  /** The bytes of a part: the same Buffer for as long as the block is inflated. */
  read(part: number): Buffer {
    this.#wasRead = true;
    this.#parts ??= this.#inflate();
    return this.#parts[part] as Buffer;
  }

  #inflate(): readonly Buffer[] {
    const { compressed, ends } = this.packed;
    // One byte more, or zlib makes room for more when the last one is full.
    const chunkSize = Math.max((ends.at(-1) ?? 0) + 1, zlib.constants.Z_MIN_CHUNK);
    const bytes = zlib.zstdDecompressSync(compressed, { chunkSize });
    this.#inflated.add(this);
    return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
  }

  /** Returns whether a part was read since the last call. */
  takeRead(): boolean {
    const wasRead = this.#wasRead;
    this.#wasRead = false;
    return wasRead;
  }

  /** Forgets the inflated bytes. Those who have some of them keep them. */
  deflate(): void {
    this.#parts = undefined;
  }
}

/**
 * InflatedBlocks makes the blocks of a resource, each thread its own, and knows which of them are inflated. It has no bound: with one of
 * 128 MB, each list of 40,000 pods of 5.4 kB inflated all of them, and took ten times as long as the one before.
 */
export class InflatedBlocks {
  readonly #blocks = new Set<CompressedBlock>();
  #last: CompressedBlock | undefined;

  /** Parts that come one after the other have one block. */
  blockOf(packed: PackedBytes): CompressedBlock {
    if (this.#last?.packed !== packed) this.#last = new CompressedBlock(packed, this);
    return this.#last;
  }

  add(block: CompressedBlock): void {
    this.#blocks.add(block);
  }

  /** Deflates those of which nothing was read since the last call. Returns how many bytes they had. */
  cool(): number {
    let sizeBytes = 0;
    for (const block of this.#blocks) {
      if (block.takeRead()) continue;
      block.deflate();
      this.#blocks.delete(block);
      sizeBytes += block.packed.ends.at(-1) ?? 0;
    }
    return sizeBytes;
  }
}

const LEAST_RATIO = 4;
const OPTIONS: zlib.ZstdOptions = {
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 1, [zlib.constants.ZSTD_c_checksumFlag]: 0 },
};
