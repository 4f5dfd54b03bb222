import type { GroupResource } from '../api/names.ts';
import { runTogether } from '../util/concurrency.ts';
import { aborted } from '../util/pause.ts';
import { failureOf } from './errors.ts';
import type { Entry, ObjectEvent, Store } from './store.ts';

/** An index over the objects of one resource. Its methods must not wait. */
export interface Followed {
  /** Replaces all objects of the index by these. */
  replace(entries: readonly Entry[]): void;
  apply(event: ObjectEvent): void;
}

interface Source {
  readonly resource: GroupResource;
  readonly index: Followed;
}

/**
 * Follower keeps indexes as new as the watch cache. An index gets a change in the turn in which the cache applies it, so a request
 * that sees a write is decided by rules at least as new. An index is filled with all objects at once, also after its watch broke,
 * so that it never knows only half of the bindings. A failed run can be repeated.
 */
export class Follower {
  readonly #store: Store;
  readonly #sources: readonly Source[];
  readonly #ready = Promise.withResolvers<void>();

  constructor({ store, sources }: { readonly store: Store; readonly sources: readonly Source[] }) {
    this.#store = store;
    this.#sources = sources;
  }

  /** Resolves when every index has been filled once. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Follows until the signal aborts. Calls `onFilled` when this run has filled every index.
   * @throws what an index threw; StorageError
   */
  async run(signal: AbortSignal, onFilled: () => void = () => {}): Promise<void> {
    const waiting = new Set<Source>(this.#sources);
    const tellIfFilled = (): void => {
      if (waiting.size > 0) return;
      this.#ready.resolve();
      onFilled();
    };
    tellIfFilled();
    const loops = this.#sources.map((source) => (either: AbortSignal) => {
      const filled = (): void => {
        if (waiting.delete(source)) tellIfFilled();
      };
      return followAnew(() => this.#watch(source, filled, either), either);
    });
    await runTogether([aborted, ...loops], signal);
  }

  async #watch({ resource, index }: Source, onFilled: () => void, signal: AbortSignal): Promise<void> {
    const start = { kind: 'state', freshness: { kind: 'latest' } } as const;
    const stream = await this.#store.watch(
      { resource, scope: {}, start, bookmarks: false, around: true },
      signal,
    );
    let state: Entry[] | undefined = [];
    await stream.deliver((event) => {
      switch (event.type) {
        case 'BOOKMARK':
          return undefined;
        case 'INITIAL_EVENTS_END':
          index.replace(state ?? []);
          state = undefined;
          onFilled();
          return undefined;
        default:
          if (state === undefined) index.apply(event);
          else state.push(event.entry);
          return undefined;
      }
    });
  }
}

/**
 * Calls `follow` until the signal aborts, again after its history is gone (410), so that it begins with the new state.
 * @throws every other error of `follow`
 */
export async function followAnew(follow: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await follow();
    } catch (error) {
      if (failureOf(error, 'compacted') === undefined) throw error;
    }
  }
}
