/**
 * Resolves after one round of the event loop, so that other work, timers and the network run. A single immediate would directly
 * follow network input.
 */
export const endTurn = (): Promise<void> => new Promise((resolve) => setImmediate(setImmediate, resolve));

/** How long long-running work may hold the event loop at a time. */
const TURN_MS = 10;

interface PaceOptions {
  /** The clock is read once in so many steps. Default: 64, for steps of a few microseconds. */
  readonly stepsBetween?: number;
  readonly turnMs?: number;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
}

/**
 * Says when work must yield the event loop. In a loop that may wait:
 *
 *   const pace = new Pace();
 *   for (const item of items) {
 *     if (pace.isOver()) await pace.rest();
 *     …
 *   }
 *
 * In {@link Steps}: `if (pace.isOver()) yield* pace.pass();`
 */
export class Pace {
  readonly #stepsBetween: number;
  readonly #turnMs: number;
  readonly #now: () => number;
  #steps = 0;
  #begunMs: number;

  constructor({ stepsBetween = 64, turnMs = TURN_MS, now = () => performance.now() }: PaceOptions = {}) {
    this.#stepsBetween = stepsBetween;
    this.#turnMs = turnMs;
    this.#now = now;
    this.#begunMs = now();
  }

  /** `steps`: how many were done since the last call. */
  isOver(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < this.#stepsBetween) return false;
    this.#steps = 0;
    return this.#now() - this.#begunMs > this.#turnMs;
  }

  async rest(): Promise<void> {
    await endTurn();
    this.#begunMs = this.#now();
  }

  *pass(): Steps<void> {
    yield;
    this.#begunMs = this.#now();
  }
}

/** Like Array.map, for items of a few kilobytes each. */
export async function mapInTurns<From, To>(
  items: readonly From[],
  make: (item: From, at: number) => To,
): Promise<To[]> {
  const pace = new Pace({ stepsBetween: 8 });
  const made: To[] = [];
  for (const [at, item] of items.entries()) {
    if (pace.isOver()) await pace.rest();
    made.push(make(item, at));
  }
  return made;
}

/**
 * Interruptible work: a generator that yields between steps. Small work runs at once, large work yields the event loop. Steps
 * that wait, such as for another server's answer, yield a promise ({@link waitFor}).
 */
export type Steps<Result> = Generator<void | Promise<void>, Result>;

/** @throws Error for steps that wait for something */
export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  for (; step.done !== true; step = steps.next())
    if (step.value instanceof Promise) throw new Error('these steps wait, and cannot be done at once');
  return step.value;
}

export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await (step.value ?? endTurn());
  return step.value;
}

/** Runs at once unless the steps wait; returns a promise only if they do. */
export function untilTheyWait<Result>(steps: Steps<Result>): Result | Promise<Result> {
  let step = steps.next();
  for (; step.done !== true; step = steps.next())
    if (step.value instanceof Promise) return step.value.then(() => inTurns(steps));
  return step.value;
}

/**
 * Work on an object has many steps that traverse all of it. For one of usual size they take less than a millisecond together;
 * for the largest, each takes as long as the event loop may be blocked at once.
 */
const LARGE_BYTES = 64 * 1024;

export const isLarge = (sizeBytes: number): boolean => sizeBytes > LARGE_BYTES;

/** Yields between steps for a large object; otherwise runs at once. Returns a promise only if there is something to wait for. */
export function runSteps<Result>(large: boolean, steps: Steps<Result>): Promise<Result> | Result {
  return large ? inTurns(steps) : untilTheyWait(steps);
}

/** Does one step of the work on an object: for a large object after yielding the event loop, otherwise at once. */
export function inOwnTurn<Result>(
  large: boolean,
  step: () => Promise<Result> | Result,
): Promise<Result> | Result {
  return large ? endTurn().then(step) : step();
}

/** Waits for a promise within steps. @throws its rejection */
export function* waitFor<Value>(promise: Promise<Value>): Steps<Value> {
  const settled: PromiseSettledResult<Value>[] = [];
  yield Promise.allSettled([promise]).then(([outcome]) => void settled.push(outcome));
  const [outcome] = settled;
  if (outcome?.status === 'fulfilled') return outcome.value;
  throw outcome?.reason;
}
