import type { GroupResource } from '../api/names.ts';
import { runTogether } from '../util/concurrency.ts';
import { aborted } from '../util/pause.ts';
import { followAnew } from './follow-anew.ts';
import type { Revision } from './revision.ts';
import type { Entry, FrameEncoder, FrameSink, Store, WatchEvent } from './store.ts';

/** An index over the objects of one resource. Neither method may wait. */
export interface Followed {
  /** All there is; what was known before is forgotten. */
  replace(entries: readonly Entry[]): void;
  apply(event: WatchEvent): void;
}

interface Source {
  readonly resource: GroupResource;
  readonly index: Followed;
}

const NO_BYTES = Buffer.alloc(0);

/** Distinguishes feeds to the store, which encodes an event once for all watchers with the same encoder id. */
let feeds = 0;

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
      return followAnew(() => this.#watch(source.resource, new Feed(source.index, filled), either), either);
    });
    await runTogether([aborted, ...loops], signal);
  }

  async #watch(resource: GroupResource, feed: Feed, signal: AbortSignal): Promise<void> {
    await this.#store.watch(
      {
        resource,
        scope: {},
        start: { kind: 'state', freshness: { kind: 'latest' } },
        encoder: feed,
        sink: feed,
        bookmarks: false,
        initialEventsEnd: true,
        deadline: Number.POSITIVE_INFINITY,
        onStart: () => {},
      },
      AbortSignal.any([signal, feed.broken]),
    );
    if (feed.error !== undefined) throw feed.error;
  }
}

/** A watch whose frames are empty: the event is taken on the way. */
class Feed implements FrameEncoder, FrameSink {
  readonly id: string;
  readonly #index: Followed;
  readonly #onFilled: () => void;
  readonly #broken = new AbortController();
  #state: Entry[] | undefined = [];
  error: unknown;

  constructor(index: Followed, onFilled: () => void) {
    feeds += 1;
    this.id = `follower-${feeds}`;
    this.#index = index;
    this.#onFilled = onFilled;
  }

  /** Aborts when the index could not take an event. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  encode(event: WatchEvent): Buffer {
    if (this.#state === undefined) this.#take(() => this.#index.apply(event));
    else this.#state.push(event.entry);
    return NO_BYTES;
  }

  bookmark(_: Revision, initialEventsEnd: boolean): Buffer {
    const state = this.#state;
    if (!initialEventsEnd || state === undefined) return NO_BYTES;
    this.#state = undefined;
    this.#take(() => {
      this.#index.replace(state);
      this.#onFilled();
    });
    return NO_BYTES;
  }

  /** An error must not reach the store, which is serving everybody's watches at this moment. */
  #take(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.error = error;
      this.#broken.abort();
    }
  }

  write(): boolean {
    return true;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }
}
