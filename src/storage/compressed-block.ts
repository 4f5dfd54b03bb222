import zlib from 'node:zlib';

/** Node.js has zstd since 22.15. Without it, everything stays as it is. */
export const canCompress = typeof zlib.zstdCompressSync === 'function';

/**
 * CompressedBlock is the bytes of several objects in one piece, compressed. Reading one of them inflates all, which then stay inflated for
 * as long as one of them is read now and then. Neighbours are much alike: 64 kB of pods take 2 kB, and inflating them takes as long as a
 * fifth of a get.
 *
 * A dictionary for each resource, and each object compressed alone, was tried: 130 bytes a pod beside 210, but a list of 10,000 would
 * inflate 10,000 times, at 25 µs each, and a block does it at 3 µs an object.
 */
export class CompressedBlock {
  readonly #compressed: Buffer;
  /** Where each part ends. */
  readonly #ends: readonly number[];
  readonly #inflated: Set<CompressedBlock>;
  #parts: readonly Buffer[] | undefined;
  #wasRead = false;

  private constructor(compressed: Buffer, ends: readonly number[], inflated: Set<CompressedBlock>) {
    this.#compressed = compressed;
    this.#ends = ends;
    this.#inflated = inflated;
  }

  /**
   * While the block is inflated, it is in `inflated`. Returns undefined when less than three quarters would be saved: a block stays
   * until its last object is gone, which then lives several times as long as the average.
   *
   * 64 kB take 60 µs. In a thread of the pool they take as much of this one, for the way there and back.
   */
  static of(parts: readonly Buffer[], inflated: Set<CompressedBlock>): CompressedBlock | undefined {
    const ends: number[] = [];
    let sizeBytes = 0;
    for (const part of parts) {
      sizeBytes += part.length;
      ends.push(sizeBytes);
    }
    const compressed = zlib.zstdCompressSync(Buffer.concat(parts, sizeBytes), OPTIONS);
    if (compressed.length * LEAST_RATIO > sizeBytes) return undefined;
    // What zlib returns is a part of a larger piece of memory, and so is what Buffer.from returns.
    const kept = Buffer.allocUnsafeSlow(compressed.length);
    compressed.copy(kept);
    return new CompressedBlock(kept, ends, inflated);
  }

  /** The bytes of a part: the same Buffer for as long as the block is inflated. */
  read(part: number): Buffer {
    this.#wasRead = true;
    this.#parts ??= this.#inflate();
    return this.#parts[part] as Buffer;
  }

  #inflate(): readonly Buffer[] {
    const chunkSize = Math.max(this.#ends.at(-1) ?? 0, zlib.constants.Z_MIN_CHUNK);
    const bytes = zlib.zstdDecompressSync(this.#compressed, { chunkSize });
    this.#inflated.add(this);
    return this.#ends.map((end, at) => bytes.subarray(this.#ends[at - 1] ?? 0, end));
  }

  /** Forgets the inflated bytes, unless one was read since the last call. */
  cool(): void {
    if (!this.#wasRead) {
      this.#parts = undefined;
      this.#inflated.delete(this);
    }
    this.#wasRead = false;
  }
}

const LEAST_RATIO = 4;
const OPTIONS: zlib.ZstdOptions = {
  params: { [zlib.constants.ZSTD_c_compressionLevel]: 1, [zlib.constants.ZSTD_c_checksumFlag]: 0 },
};
