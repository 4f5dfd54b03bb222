/** A signal that never aborts. */
export const NEVER = new AbortController().signal;

/** Resolves after `ms` milliseconds, or at once when the signal aborts. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** A pause that other code may cut short. */
export class Rest {
  #cut = new AbortController();

  /** Without a current pause it cuts the next one: its reason may have come too late for the work before. */
  cutShort(): void {
    this.#cut.abort();
  }

  /** Never rejects. */
  async take(
    { leastMs, mostMs }: { readonly leastMs: number; readonly mostMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    await pause(leastMs, signal);
    await pause(mostMs - leastMs, AbortSignal.any([signal, this.#cut.signal]));
    this.#cut = new AbortController();
  }
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Repeats `work` until the signal aborts, with a pause after each failure. Never rejects. */
export async function keepDoing(
  work: () => Promise<void>,
  signal: AbortSignal,
  { retryMs, onError }: { readonly retryMs: number; onError(error: unknown): void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      onError(error);
      await pause(retryMs, signal);
    }
  }
}

/** Does `work` again and again, with a pause of `everyMs` in between, or of `retryMs` after a failure. Never rejects. */
export function repeat(
  work: () => Promise<unknown>,
  signal: AbortSignal,
  {
    everyMs,
    retryMs = everyMs,
    onError,
  }: { readonly everyMs: number; readonly retryMs?: number; onError(error: unknown): void },
): Promise<void> {
  const round = async (): Promise<void> => {
    await work();
    await pause(everyMs, signal);
  };
  return keepDoing(round, signal, { retryMs, onError });
}

interface PersistOptions {
  /** Ends the waiting at once, even during an attempt. */
  readonly signal: AbortSignal;
  /** Whether another attempt may succeed. */
  isPassing(error: unknown): boolean;
  /** Called after each failed attempt that another one follows. */
  onFailure(error: unknown): void;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

/** The longest pause is also how late a recovery can be noticed. */
const BACKOFF: Backoff = { firstMs: 100, longestMs: 5000 };

/**
 * Tries `work` until it succeeds, each time after a longer pause.
 * @throws an error that does not pass, or the signal's reason
 */
export async function persist<Result>(work: () => Promise<Result>, options: PersistOptions): Promise<Result> {
  const { signal, random = Math.random, pause: wait = pause } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      return await unlessAborted(work, signal);
    } catch (error) {
      if (signal.aborted || !options.isPassing(error)) throw error;
      options.onFailure(error);
    }
    await wait(pauseAfter(failures, BACKOFF, random()), signal);
  }
}

/** Work that is under way when the signal aborts is left to end by itself. @throws the signal's reason */
export async function unlessAborted<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The pauses between attempts at something that others may wait for too. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * The pause after so many failures in a row: doubles each time up to a bound, and its second half is random, so that clients
 * that failed together do not retry together. `chance`: from 0 to 1.
 *
 *     pauseAfter(1, { firstMs: 100, longestMs: 2000 }, 1) → 100
 *     pauseAfter(4, { firstMs: 100, longestMs: 2000 }, 0) → 400
 *     pauseAfter(9, { firstMs: 100, longestMs: 2000 }, 1) → 2000
 */
export function pauseAfter(
  failures: number,
  { firstMs, longestMs }: Backoff,
  chance: number = Math.random(),
): number {
  const wholeMs = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return wholeMs * (0.5 + chance / 2);
}
