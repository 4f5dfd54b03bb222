const SLAB_BYTES = 64 * 1024;
/** Larger ones have memory of their own. */
const MAX_SHARED_BYTES = SLAB_BYTES / 4;
const NOTHING = Buffer.alloc(0);

/**
 * Memory for objects that are loaded together, several to an allocation: for 100,000 objects of 5 kB allocations are half of
 * the CPU time of loading them. One that stays keeps its neighbours' memory, so this is for what is loaded at the start, of
 * which neighbours are of one resource and change alike, and at worst as much is kept as was loaded; and for what goes with
 * the request that it was read for.
 */
export class Slab {
  #memory: Buffer = NOTHING;
  #used = 0;
  /** What is still to come, as far as is known. */
  #leftBytes: number;

  /** `sizeBytes`: of all that will be in it, so that what is small does not keep more memory than it has bytes. */
  constructor(sizeBytes = Number.POSITIVE_INFINITY) {
    this.#leftBytes = sizeBytes;
  }

  /** The bytes of a text. */
  write(text: string): Buffer {
    const length = Buffer.byteLength(text);
    const bytes = this.#take(length);
    bytes.write(text);
    return bytes;
  }

  /** A copy of a part of `bytes`. */
  copy(bytes: Buffer, from: number, to: number): Buffer {
    return copyInto(this.#take(to - from), bytes, from, to);
  }

  #take(length: number): Buffer {
    const leftBytes = this.#leftBytes;
    this.#leftBytes -= length;
    if (length > MAX_SHARED_BYTES) return Buffer.allocUnsafeSlow(length);
    if (this.#used + length > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(Math.max(length, Math.min(SLAB_BYTES, leftBytes)));
      this.#used = 0;
    }
    const taken = this.#memory.subarray(this.#used, this.#used + length);
    this.#used += length;
    return taken;
  }
}

function copyInto(target: Buffer, bytes: Buffer, from: number, to: number): Buffer {
  bytes.copy(target, 0, from, to);
  return target;
}
