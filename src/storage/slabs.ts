/**
 * Slabs keeps the encoded bytes of objects in memory that threads share, many objects to an allocation.
 *
 * - Another thread sees the same bytes: a message with views carries the slab, not its contents. Send many objects in one message:
 *   each slab then crosses once, and has one wrapper there.
 * - The collector frees a slab once no thread has a view of it. So a small object that stays keeps its neighbours' memory. That is bounded,
 *   because the last of 139 neighbours lives five times as long as the average: where random ones of 6,000 objects of 7.5 kB change, 45 MB
 *   grow to 310 and stay there, with slabs of a sixteenth of the size to 205. Small objects gain nothing from smaller slabs.
 * - Objects leave their slabs when they are compressed (watch-cache/compression.ts), in all threads at about the same time.
 * - V8 does not count shared memory, and would not collect for its sake: 20 MB in use grew to 3.2 GB. Each slab has a companion of
 *   its size that is counted and never touched, so that it takes addresses but no memory.
 *
 * Buffers over shared memory work wherever Node takes bytes (sockets, HTTP/2, TLS, zlib, crypto, decoders). One thing differs:
 * `copy` and `set` read them word by word, four times slower; `keep` does not.
 *
 * A kept object of 7.5 kB costs 5 to 7 µs, most of it the kernel's for fresh memory, and 116 bytes beside its own; in memory of its
 * own 7 to 8 µs, and 211 bytes.
 */
export class Slabs {
  #slab = NOTHING;
  #used = 0;

  /** Returns a view of a copy. It is part of the last slab, or the whole of one of its own. */
  keep(bytes: Uint8Array): Buffer {
    const kept = this.#take(bytes.length);
    copyBytes(bytes, kept);
    return kept;
  }

  #take(length: number): Buffer {
    if (length > MAX_SHARED_BYTES) return allocateShared(length);
    if (this.#used + length > this.#slab.length) {
      this.#slab = allocateShared(SLAB_BYTES);
      this.#used = 0;
    }
    const taken = this.#slab.subarray(this.#used, this.#used + length);
    this.#used += length;
    return taken;
  }
}

/** Returns memory that threads share, filled with zeros, and that V8 counts. */
export function allocateShared(sizeBytes: number): Buffer {
  const slab = new SharedArrayBuffer(sizeBytes);
  counted.set(slab, new ArrayBuffer(sizeBytes, { maxByteLength: sizeBytes }));
  return Buffer.from(slab);
}

/** Less means more mappings of memory, of which Linux allows a process 65,530. */
const SLAB_BYTES = 1024 * 1024;
/** Larger objects have memory of their own. */
const MAX_SHARED_BYTES = SLAB_BYTES / 8;
const NOTHING: Buffer = Buffer.alloc(0);

/** The companions of slabs. A resizable buffer is mapped, and its pages are not touched. */
const counted = new WeakMap<SharedArrayBuffer, ArrayBuffer>();

/**
 * Copies from shared memory as fast as from any other: `fill` copies in one piece where `set` copies word by word, as other threads
 * might write there. The bytes of objects never change, so 7.5 kB take 1.7 µs instead of 6.
 */
export function copyBytes(bytes: Uint8Array, target: Buffer): void {
  if (bytes.length > 0) target.fill(bytes, 0, bytes.length);
}
