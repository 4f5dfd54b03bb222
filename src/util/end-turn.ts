/** Resolves when the event loop has been around: what waits for its turn, and for the network, has had it. */
export const endTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How long work that has no end in sight may hold the event loop. */
const MAX_TURN_MS = 10;

/**
 * Long work in turns:
 *
 *   const pace = new Pace();
 *   for (const item of items) {
 *     if (pace.isOver()) await pace.rest();
 *     …
 *   }
 */
export class Pace {
  readonly #stepsBetween: number;
  #steps = 0;
  #begunMs = performance.now();

  /** `stepsBetween`: the time is looked at once in so many steps. */
  constructor(stepsBetween = 64) {
    this.#stepsBetween = stepsBetween;
  }

  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % this.#stepsBetween === 0 && performance.now() - this.#begunMs > MAX_TURN_MS;
  }

  async rest(): Promise<void> {
    await endTurn();
    this.#begunMs = performance.now();
  }
}
