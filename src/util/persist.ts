import { type Backoff, pauseAfter } from './backoff.ts';
import { pause } from './pause.ts';

export interface PersistOptions {
  /** Ends the waiting, and does not wait for an attempt under way. */
  readonly signal: AbortSignal;
  /** Whether another attempt may go better. */
  isPassing(error: unknown): boolean;
  /** After each attempt that failed and is followed by another. */
  onFailure(error: unknown): void;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, as Math.random. */
  readonly random?: () => number;
}

/** Nobody waits much longer for something that has come back. */
const BACKOFF: Backoff = { firstMs: 100, longestMs: 5000 };

/**
 * Does it again and again until it is done, each time after a longer pause.
 * @throws what does not pass, and the signal's reason
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

/** What is under way when the signal aborts is left to end by itself. @throws the signal's reason */
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
