import { allocateShared, copyBytes } from '../../slabs.ts';

const SLAB_BYTES = 64 * 1024;
/** The C library maps memory of this size for itself (Linux: mallopt(3), M_MMAP_THRESHOLD), and unmaps it when it is freed. */
const MAPPED_BYTES = 33 * 1024 * 1024;
/** Loaded bytes of a resource from which on mapped slabs are worth it. */
const LARGE_BYTES = 8 * 1024 * 1024;
/** Values larger than this part of a slab have memory of their own. */
const MAX_SHARE = 1 / 4;
const NOTHING = Buffer.alloc(0);

type Allocate = (sizeBytes: number) => Buffer;

/**
 * Slab is memory for values that are let go together, such as the rows of a request: several to an allocation. For 100,000 objects of
 * 5 kB, allocations are half of the CPU time of loading them.
 */
export class Slab {
  #memory: Buffer = NOTHING;
  #used = 0;
  #takenBytes = 0;
  readonly #sizeBytes: number;
  readonly #allocate: Allocate;

  /** `sizeBytes`: of all its contents, so that a small slab takes no more memory than that. */
  constructor(sizeBytes = Number.POSITIVE_INFINITY, allocate: Allocate = Buffer.allocUnsafeSlow) {
    this.#sizeBytes = sizeBytes;
    this.#allocate = allocate;
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
    const taken = this.#take(to - from);
    copyBytes(bytes.subarray(from, to), taken);
    return taken;
  }

  #take(length: number): Buffer {
    const nextBytes = this.#takenBytes > LARGE_BYTES ? MAPPED_BYTES : SLAB_BYTES;
    const leftBytes = this.#sizeBytes - this.#takenBytes;
    this.#takenBytes += length;
    if (length > nextBytes * MAX_SHARE) return this.#allocate(length);
    if (this.#used + length > this.#memory.length) {
      this.#memory = this.#allocate(Math.max(length, Math.min(nextBytes, leftBytes)));
      this.#used = 0;
    }
    const taken = this.#memory.subarray(this.#used, this.#used + length);
    this.#used += length;
    return taken;
  }
}

/**
 * ResourceSlabs keeps the objects that are loaded at the start, each resource in slabs of its own. Objects of a large one leave
 * its slabs when they are compressed (watch-cache/compression.ts), and the system gets the slabs back: of 100,000 objects that were
 * each freed alone it got back nothing. Those of a small one stay, and change alike.
 */
export class ResourceSlabs {
  readonly #slabs = new Map<string, Slab>();
  readonly #allocate: Allocate;

  /** `areShared`: in memory that all threads see. */
  constructor(areShared: boolean) {
    this.#allocate = areShared ? allocateShared : Buffer.allocUnsafeSlow;
  }

  copy(resource: string, bytes: Buffer, from: number, to: number): Buffer {
    let slab = this.#slabs.get(resource);
    if (slab === undefined) {
      slab = new Slab(undefined, this.#allocate);
      this.#slabs.set(resource, slab);
    }
    return slab.copy(bytes, from, to);
  }
}
