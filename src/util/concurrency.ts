type Loop = (signal: AbortSignal, also: AlsoRun) => Promise<void>;

/** Lets a loop start other loops beside itself. */
export type AlsoRun = (loop: Loop) => void;

/**
 * Runs loops that need each other, until the signal aborts. When one fails, the others are stopped and awaited, so that all can
 * begin again. @throws the error of the first loop that failed
 */
export async function runTogether(loops: readonly Loop[], signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const start = (loop: Loop): void => {
    const run = loop(either, start)
      .catch((error: unknown) => {
        errors.push(error);
        stop.abort();
      })
      .finally(() => running.delete(run));
    running.add(run);
  };
  for (const loop of loops) start(loop);
  while (running.size > 0) await Promise.all(running);
  if (errors.length > 0) throw errors[0];
}

/** Runs at most `count` jobs at once; the others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

interface Batches<Item> {
  /** So many batches are worked on at once. */
  readonly workers: number;
  readonly batchSize: number;
  readonly work: (item: Item) => Promise<unknown>;
}

/**
 * Works on the items of a batch concurrently, on several batches at a time. After a failure it starts no batch, and waits for
 * running ones before it rejects. @throws the first failure
 */
export async function workInBatches<Item>(
  items: readonly Item[],
  { workers, batchSize, work }: Batches<Item>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const batch = items.slice(next, next + batchSize);
      next += batch.length;
      const outcomes = await Promise.allSettled(batch.map(work));
      for (const outcome of outcomes) if (outcome.status === 'rejected') failures.push(outcome.reason);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
}

/**
 * Resolves after one round of the event loop, so that other work, timers and the network run. A single immediate would directly
 * follow network input.
 */
export const endTurn = (): Promise<void> => new Promise((resolve) => setImmediate(setImmediate, resolve));

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

/** Like Array.map, for items of a few kilobytes each. */
export async function mapInTurns<From, To>(
  items: readonly From[],
  make: (item: From, at: number) => To,
): Promise<To[]> {
  const pace = new Pace(8);
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

/** Waits for a promise within steps. @throws its rejection */
export function* waitFor<Value>(promise: Promise<Value>): Steps<Value> {
  const settled: PromiseSettledResult<Value>[] = [];
  yield Promise.allSettled([promise]).then(([outcome]) => void settled.push(outcome));
  const [outcome] = settled;
  if (outcome?.status === 'fulfilled') return outcome.value;
  throw outcome?.reason;
}
