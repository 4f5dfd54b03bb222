import type { Caller } from '../../request/api-request.ts';
import { StorageError } from '../errors.ts';
import type { Revision } from '../revision.ts';

interface Wait {
  readonly revision: Revision;
  readonly timeoutMs: number;
  readonly caller: Caller | undefined;
  /** How far the cache has got when the time is up. */
  applied(): Revision;
}

interface Waiter<State> {
  readonly revision: Revision;
  readonly resolve: (state: State) => void;
}

/** RevisionWaiters holds reads until the state has reached their revision. */
export class RevisionWaiters<State extends { readonly applied: Revision }> {
  readonly #waiting = new Set<Waiter<State>>();

  /** @throws StorageError future when the time is up, abandoned when the caller leaves */
  wait({ revision, timeoutMs, caller, applied }: Wait): Promise<State> {
    return new Promise((resolve, reject) => {
      const signal = caller?.signal;
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abandon);
        this.#waiting.delete(waiter);
      };
      const abandon = (): void => {
        settle();
        reject(new StorageError({ kind: 'abandoned' }));
      };
      const timer = setTimeout(() => {
        settle();
        reject(new StorageError({ kind: 'future', requested: revision, current: applied() }));
      }, timeoutMs);
      const waiter: Waiter<State> = {
        revision,
        resolve: (state) => {
          settle();
          resolve(state);
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', abandon, { once: true });
      if (signal?.aborted === true) abandon();
    });
  }

  /** Ends the waits for revisions that the state has reached. */
  wake(state: State): void {
    for (const waiter of this.#waiting) if (waiter.revision <= state.applied) waiter.resolve(state);
  }
}
