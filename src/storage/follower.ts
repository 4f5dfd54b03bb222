import type { GroupResource } from '../api/names.ts';
import { aborted } from '../util/aborted.ts';
import { runTogether } from '../util/run-together.ts';
import { followAnew } from './follow-anew.ts';
import type { Entry, ObjectEvent, Store } from './store.ts';

/** An index over the objects of one resource. Neither method may wait. */
export interface Followed {
  /** All there is; what was known before is forgotten. */
  replace(entries: readonly Entry[]): void;
  apply(event: ObjectEvent): void;
}

interface Source {
  readonly resource: GroupResource;
  readonly index: Followed;
}

/**
 * Keeps indexes as new as the watch cache. A change is applied while the cache hands it out, not in a later turn, so who
 * sees a write answered by this server is decided by rules at least as new. An index begins with everything at once, and does
 * so again when its watch broke: there is no moment in which half of the bindings are known. A run that fails may be followed
 * by another one.
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
   * Until the signal aborts. `onFilled` is called when every index has been filled in this run.
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
    const stream = await this.#store.watch({ resource, scope: {}, start, bookmarks: false }, signal);
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
