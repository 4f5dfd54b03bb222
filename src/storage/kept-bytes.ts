import type { Dictionary } from '../codec/condensing.ts';

/** What decides which objects stay as JSON (object-memory.ts). */
export interface Residence {
  /** The present turn. Objects of this turn stay. */
  readonly turn: number;
  /** Takes an object that was read into the present turn, if there is room. */
  admits(read: KeptBytes): boolean;
  /** Returns a copy for as long as the object stays. */
  copy(json: Buffer): Buffer;
  /** Takes an object that is to be condensed, once there is time. */
  condense(bytes: KeptBytes): void;
}

/** Condensed objects of one resource and one dictionary, or objects that condensing does not make smaller. */
export interface CondensedSlab {
  readonly bytes: Buffer;
  /** Undefined: as they are. */
  readonly dictionary: Dictionary | undefined;
  /** An object in it was replaced. */
  release(sizeBytes: number): void;
}

/** Where an object is in a slab. */
interface Place {
  readonly slab: CondensedSlab;
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * KeptBytes is the JSON of an object in the cache: at hand, condensed in a slab, or both. An object that is read stays at hand while
 * there is room, and keeps its condensed form, so that it need not be condensed again.
 */
export class KeptBytes {
  readonly sizeBytes: number;
  /** In which it came, or was read last and taken in. */
  turn: number;
  /** Replaced or deleted: it is not worth any work. */
  isOver = false;
  readonly #residence: Residence;
  #json: Buffer | undefined;
  #slab: CondensedSlab | undefined;
  #offset = 0;
  #condensedBytes = 0;

  constructor(json: Buffer, residence: Residence) {
    this.sizeBytes = json.length;
    this.#json = json;
    this.#residence = residence;
    this.turn = residence.turn;
  }

  get json(): Buffer {
    return this.#atHand() ?? Buffer.from(this.#expanded());
  }

  /** The same for use at once: the bytes may be overwritten when another object is read. */
  get jsonAtOnce(): Buffer {
    return this.#atHand() ?? this.#expanded();
  }

  /** Reads it without any effect on where it stays. As {@link jsonAtOnce}. */
  look(): Buffer {
    return this.#json ?? this.#expanded();
  }

  /** Returns the bytes as they are in the slab. */
  condensed(): Buffer | undefined {
    return this.#slab?.bytes.subarray(this.#offset, this.#offset + this.#condensedBytes);
  }

  get isCondensed(): boolean {
    return this.#slab !== undefined;
  }

  moveTo({ slab, offset, sizeBytes }: Place): void {
    this.#slab = slab;
    this.#offset = offset;
    this.#condensedBytes = sizeBytes;
  }

  /** Lets go of the JSON at hand, once it is in a slab too. */
  rest(): void {
    if (this.#slab !== undefined) this.#json = undefined;
    else if (!this.isOver) this.#residence.condense(this);
  }

  /** To be called when another state replaces it, or it is deleted. Its users may still read it. */
  retire(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#slab?.release(this.#condensedBytes);
  }

  #atHand(): Buffer | undefined {
    const residence = this.#residence;
    if (this.turn !== residence.turn && residence.admits(this))
      this.#json = residence.copy(this.#json ?? this.#expanded());
    return this.#json;
  }

  #expanded(): Buffer {
    const slab = this.#slab;
    if (slab === undefined) throw new Error('an object has no bytes');
    if (slab.dictionary !== undefined)
      return slab.dictionary.expand(slab.bytes, this.#offset, this.sizeBytes);
    return slab.bytes.subarray(this.#offset, this.#offset + this.sizeBytes);
  }
}
