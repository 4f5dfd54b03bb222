/** How long work may hold the event loop at a time. */
const TURN_MS = 10;
/** Steps of a few microseconds, after which the clock is read. */
const STEPS = 64;

/** Says when it is time for others: the work must yield then (util/concurrency.ts, Steps). */
export class Turn {
  #steps = 0;
  #begunMs: number | undefined = performance.now();

  /** `steps`: how many were done since it was last asked. */
  isOver(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < STEPS) return false;
    this.#steps = 0;
    const now = performance.now();
    // Begun where the clock is first read after others have had their turn.
    this.#begunMs ??= now;
    if (now - this.#begunMs < TURN_MS) return false;
    this.#begunMs = undefined;
    return true;
  }
}
