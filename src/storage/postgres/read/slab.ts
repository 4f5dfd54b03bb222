const SLAB_BYTES = 64 * 1024;
/** Larger values have memory of their own. */
const MAX_SHARED_BYTES = SLAB_BYTES / 4;
const NOTHING = Buffer.alloc(0);

/**
 * Slab is memory for objects that are loaded together, several to an allocation: for 100,000 objects of 5 kB allocations are half
 * of the CPU time of loading them. An object that stays keeps its neighbours' memory, so this is for the load at the start, where
 * neighbours are of one resource and change alike, and at worst as much is kept as was loaded; and for rows that live no longer
 * than their request.
 */
export class Slab {
  #memory: Buffer = NOTHING;
  #used = 0;
  /** Bytes still to come, as far as known. */
  #leftBytes: number;

  /** `sizeBytes` is the size of all its contents, so that a small slab takes no more memory than that. */
  constructor(sizeBytes = Number.POSITIVE_INFINITY) {
    this.#leftBytes = sizeBytes;
  }

  /** Returns the bytes of a text. */
  write(text: string): Buffer {
    const length = Buffer.byteLength(text);
    const bytes = this.#take(length);
    bytes.write(text);
    return bytes;
  }

  /** Copies a part of `bytes`. */
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
