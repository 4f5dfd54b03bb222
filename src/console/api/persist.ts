import { effect, signal } from '@preact/signals';
import { ApiError, ask, isReachable } from './client.ts';
import { whenVisible } from './visibility.ts';

/** Requests that go on asking while the server is away, restarts, or cannot reach its database. */

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Longer and longer pauses, the first of them none; not two pages at the same time. */
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

/** What passes by itself: no answer, too many requests, or a server that cannot answer now. */
export const isPassing = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === 0 || error.code === 429 || error.code >= 500);

const late = signal<readonly ApiError[]>([]);

/** Why the page shows what it had before; undefined: it does not. */
export const lateBecauseOf = (): ApiError | undefined => late.value[0];

/** One part of the page that shows what it had before. */
export class Lateness {
  #told: ApiError | undefined;

  tell(error: ApiError | undefined): void {
    if (error === this.#told) return;
    const others = late.value.filter((one) => one !== this.#told);
    late.value = error === undefined ? others : [...others, error];
    this.#told = error;
  }
}

export interface PersistOptions {
  readonly signal: AbortSignal;
  /** Whether something is shown that stays until the answer comes. */
  keeps(): boolean;
  /** Told of each failure while nothing is shown. */
  onTrouble(error: ApiError): void;
}

/** @throws ApiError what asking again does not help against */
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
        if (keeps()) lateness.tell(error);
        else onTrouble(error);
        if (error.code === 0) await whenReachable(signal);
        else await backoff.wait(signal);
        await whenVisible(signal);
        signal.throwIfAborted();
      }
    }
  } finally {
    lateness.tell(undefined);
  }
}

/** One request alone finds out when the server is back; all others wait for it. */
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
    // An answer that says no is an answer.
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
