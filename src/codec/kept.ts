/** What was made from an object and may be needed again. */
export interface Sized {
  readonly sizeBytes: number;
}

/** How long what is kept stays at least, once there is no more room. */
const MIN_GENERATION_MS = 10_000;

/**
 * What was made from objects and costs more to make than to keep. It goes with its object, or when it was not used while as
 * much again was made. When there is no more room the first to come stay for a while: a list larger than the room, read over
 * and over, would otherwise find nothing of itself each time.
 */
export class Kept<T extends Sized> {
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
