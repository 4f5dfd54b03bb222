const SLAB_BYTES = 64 * 1024;
/** Larger values have memory of their own. */
const MAX_TOGETHER_BYTES = SLAB_BYTES / 4;

/**
 * SharedBytes copies bytes into memory that all threads see, several objects to an allocation. The collector frees an allocation when no
 * thread has a view of it any more. A slab holds objects that were loaded or changed one after the other, so that an object that stays
 * keeps little beside itself.
 */
export class SharedBytes {
  #memory: Buffer<SharedArrayBuffer> = allocate(0);
  #used = 0;

  /** Returns the same bytes in shared memory: a copy, unless they are there already. */
  share(bytes: Buffer): Buffer {
    const { length } = bytes;
    if (length === 0 || bytes.buffer instanceof SharedArrayBuffer) return bytes;
    if (length > MAX_TOGETHER_BYTES) return copy(bytes, allocate(length));
    if (this.#used + length > this.#memory.length) {
      this.#memory = allocate(SLAB_BYTES);
      this.#used = 0;
    }
    const place = this.#memory.subarray(this.#used, this.#used + length);
    this.#used += length;
    return copy(bytes, place);
  }
}

const allocate = (sizeBytes: number): Buffer<SharedArrayBuffer> =>
  Buffer.from(new SharedArrayBuffer(sizeBytes));

function copy(bytes: Buffer, place: Buffer): Buffer {
  bytes.copy(place);
  return place;
}
