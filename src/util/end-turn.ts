/** Resolves after one round of the event loop, in which other work and the network have had their turn. */
export const endTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How long long-running work may hold the event loop at a time. */
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

  /** `stepsBetween`: the clock is read once in so many steps. */
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

/**
 * Work that can be interrupted: a generator that yields between two steps. Small work is done at once, large work in turns
 * with other work.
 */
export type Steps<Result> = Generator<void, Result>;

export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    await endTurn();
    step = steps.next();
  }
  return step.value;
}
