import { NEVER, pause } from '../util/pause.ts';

/** Kubernetes' figures (apiserver, util/webhook; options/authentication.go, DefaultAuthWebhookRetryBackoff). */
const TRIES = 5;
const FIRST_WAIT_MS = 500;
const WAIT_FACTOR = 1.5;

/** Waits between tries; tests do not wait. */
export type PauseFor = (ms: number, signal: AbortSignal) => Promise<void>;

interface RetryOptions {
  /** Ends the tries. Default: never. */
  readonly signal?: AbortSignal;
  /** Whether another try may succeed. */
  readonly isTransient: (error: unknown) => boolean;
  readonly firstWaitMs?: number | undefined;
  /** Lengthens each wait, in milliseconds. */
  readonly lengthen?: (ms: number) => number;
  readonly pauseFor?: PauseFor | undefined;
}

/** Tries to reach a webhook, five times at most. @throws the error of the last try */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  {
    signal = NEVER,
    isTransient,
    firstWaitMs = FIRST_WAIT_MS,
    lengthen = (ms) => ms,
    pauseFor = pause,
  }: RetryOptions,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === TRIES || signal.aborted || !isTransient(error)) throw error;
    }
    await pauseFor(lengthen(firstWaitMs * WAIT_FACTOR ** (tries - 1)), signal);
  }
}
