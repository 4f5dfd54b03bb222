/** How long work may hold the event loop at a time. */
const TURN_MS = 10;
/** Steps of a few microseconds between readings of the clock. */
const STEPS = 64;

/** Says when work must yield (util/concurrency.ts, Steps). */
export class Turn {
  #steps = 0;
  #begunMs: number | undefined = performance.now();

  /** `steps`: how many were done since the last call. */
  isOver(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < STEPS) return false;
    this.#steps = 0;
    const now = performance.now();
    // The turn begins at the first reading of the clock after a yield.
    this.#begunMs ??= now;
    if (now - this.#begunMs < TURN_MS) return false;
    this.#begunMs = undefined;
    return true;
  }
}
