const SLAB_BYTES = 64 * 1024;
/** Larger ones have memory of their own. */
const MAX_SHARED_BYTES = SLAB_BYTES / 4;

/**
 * Memory for objects that are loaded together, several to an allocation: for 100,000 objects of 5 kB allocations are half of
 * the CPU time of loading them. One that stays keeps its neighbours' memory, so this is for what is loaded at the start, of
 * which neighbours are of one resource and change alike; at worst as much is kept as was loaded.
 */
export class Slab {
  #memory = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #used = 0;

  /** A copy of a part of `bytes`. */
  copy(bytes: Buffer, from: number, to: number): Buffer {
    const length = to - from;
    if (length > MAX_SHARED_BYTES) return copyInto(Buffer.allocUnsafeSlow(length), bytes, from, to);
    if (this.#used + length > SLAB_BYTES) {
      this.#memory = Buffer.allocUnsafeSlow(SLAB_BYTES);
      this.#used = 0;
    }
    const copy = this.#memory.subarray(this.#used, this.#used + length);
    this.#used += length;
    return copyInto(copy, bytes, from, to);
  }
}

function copyInto(target: Buffer, bytes: Buffer, from: number, to: number): Buffer {
  bytes.copy(target, 0, from, to);
  return target;
}
