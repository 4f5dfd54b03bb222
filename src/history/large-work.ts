import { tooManyRequests } from '../api/status.ts';
import { Slots } from '../util/concurrency.ts';

/** Bounds how much large work of one kind the server does at a time, in all of its threads together. */
export interface LargeWork {
  /** Waits for a place. Resolves with the function that leaves it. @throws StatusError 429 when too many wait */
  enter(caller: { readonly aborted: boolean }): Promise<() => void>;
}

/** Reads of many states, and restores of many objects: each holds them in memory. */
export type HistoryWork = Readonly<Record<'reads' | 'restores', LargeWork>>;

/** Pieces of work of one kind at a time. */
const AT_ONCE = 2;
/** Most that wait: each occupies a seat of flow control. */
const MOST_WAITING = 8;
const RETRY_AFTER_SECONDS = 5;

export const boundHistoryWork = (): HistoryWork => ({
  reads: new BoundedWork('too many large reads of history are under way'),
  restores: new BoundedWork('too many restores of many objects are under way'),
});

class BoundedWork implements LargeWork {
  readonly #places = new Slots(AT_ONCE);
  readonly #refusal: string;

  constructor(refusal: string) {
    this.#refusal = refusal;
  }

  async enter(): Promise<() => void> {
    if (this.#places.waiting >= MOST_WAITING) throw tooManyRequests(this.#refusal, RETRY_AFTER_SECONDS);
    const left = Promise.withResolvers<void>();
    await new Promise<void>((resolve) => {
      void this.#places.run(() => {
        resolve();
        return left.promise;
      });
    });
    return left.resolve;
  }
}
