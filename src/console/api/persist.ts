import { effect, signal } from '@preact/signals';
import { ApiError, ask, isReachable } from './ask.ts';
import { whenVisible } from './visibility.ts';

/** Requests that retry while the server is unavailable. */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Growing pauses, the first of them zero, with random lengths so that pages spread. */
export class Backoff {
  #ms = 0;

  get isFirst(): boolean {
    return this.#ms === 0;
  }

  reset(): void {
    this.#ms = 0;
  }

  nextMs(): number {
    const ms = this.#ms * (0.75 + Math.random() / 2);
    this.#ms = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#ms * 2));
    return ms;
  }

  wait(signal: AbortSignal): Promise<void> {
    return pause(this.nextMs(), signal);
  }
}

/** Ends early when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** Temporary errors: no answer, too many requests, or a server that is unavailable. */
export const isPassing = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 0 || error.code === 429 || error.code >= 500);

const late = signal<readonly ApiError[]>([]);

/** The error that keeps the page from updating; undefined: none. */
export const lateBecauseOf = (): ApiError | undefined => late.value[0];

/** A part of the page that shows outdated data. */
export class Lateness {
  #reported: ApiError | undefined;

  report(error: ApiError | undefined): void {
    if (error === this.#reported) return;
    const others = late.value.filter((one) => one !== this.#reported);
    late.value = error === undefined ? others : [...others, error];
    this.#reported = error;
  }
}

export interface PersistOptions {
  readonly signal: AbortSignal;
  /** Whether older data stays visible until the answer comes. */
  keeps(): boolean;
  /** Called for each failure while nothing is shown. */
  onTrouble(error: ApiError): void;
}

/** @throws ApiError that retries cannot help */
export async function persist<T>(request: () => Promise<T>, options: PersistOptions): Promise<T> {
  const { signal, keeps, onTrouble } = options;
  const backoff = new Backoff();
  backoff.nextMs();
  const lateness = new Lateness();
  try {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error;
        if (keeps()) lateness.report(error);
        else onTrouble(error);
        if (error.code === 0) await whenReachable(signal);
        else await backoff.wait(signal);
        await whenVisible(signal);
        signal.throwIfAborted();
      }
    }
  } finally {
    lateness.report(undefined);
  }
}

/** One request probes whether the server is back; all others wait for it. */
effect(() => {
  if (!isReachable.value) void probe();
});

const probing = new AbortController().signal;

async function probe(): Promise<void> {
  const backoff = new Backoff();
  backoff.nextMs();
  while (!isReachable.value) {
    await backoff.wait(probing);
    await whenVisible(probing);
    // Any answer, even an error, counts.
    await ask('version').catch(() => {});
  }
}

export function whenReachable(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let end = (): void => {};
    const done = (): void => {
      end();
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted || isReachable.value) return resolve();
    signal.addEventListener('abort', done);
    end = isReachable.subscribe((isBack) => {
      if (isBack) done();
    });
  });
}
