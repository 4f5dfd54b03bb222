/** A value made from an object. */
export interface Sized {
  readonly sizeBytes: number;
}

/** The least time that a generation lasts once it is full. */
const MIN_GENERATION_MS = 10_000;

/**
 * A cache of values that were made from objects and cost more to make than to keep. A value goes with its object, or when it is
 * not used while a whole generation fills up. A generation that is full takes no more values until it has lasted
 * {@link MIN_GENERATION_MS}: otherwise a list larger than the cache, read repeatedly, would find none of its values.
 */
export class DerivedCache<T extends Sized> {
  readonly #generationBytes: number;
  readonly #now: () => number;
  #young = new WeakMap<object, T>();
  #old = new WeakMap<object, T>();
  #youngBytes = 0;
  #begunAt: number;

  constructor(maxBytes: number, now: () => number = Date.now) {
    this.#generationBytes = maxBytes / 2;
    this.#now = now;
    this.#begunAt = now();
  }

  get(object: object): T | undefined {
    const young = this.#young.get(object);
    if (young !== undefined) return young;
    const old = this.#old.get(object);
    if (old !== undefined) this.set(object, old);
    return old;
  }

  set(object: object, value: T): void {
    if (this.#youngBytes + value.sizeBytes > this.#generationBytes && !this.#turn()) return;
    this.#youngBytes += value.sizeBytes;
    this.#young.set(object, value);
  }

  #turn(): boolean {
    const now = this.#now();
    if (now - this.#begunAt < MIN_GENERATION_MS) return false;
    this.#begunAt = now;
    this.#old = this.#young;
    this.#young = new WeakMap();
    this.#youngBytes = 0;
    return true;
  }
}
