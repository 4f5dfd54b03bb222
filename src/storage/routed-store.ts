import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import { pause } from '../util/pause.ts';
import { failureOf, StorageError } from './errors.ts';
import type { ObjectKey } from './key.ts';
import { NO_REVISION, type Revision } from './revision.ts';
import type { Write } from './revision-log.ts';
import type {
  Entry,
  EventStream,
  Freshness,
  ListPage,
  ListQuery,
  Store,
  TakeEvent,
  WatchEvent,
  WatchQuery,
} from './store.ts';

/** How long a write waits while its resource changes stores: longer than writes are refused for a cut-over. */
const MOVE_PATIENCE_MS = 20_000;
const RETRY_MS = 20;

/** Returns the store of a resource, or a promise while it changes. */
export type Route = (resource: GroupResource) => Store | Promise<Store>;

/**
 * RoutedStore makes one store of several: each call goes to the store of its resource. Revisions belong to that store; those of two
 * stores cannot be compared.
 *
 * A resource may change its store once, at a revision that both have. What was asked of the store before is asked again of the one
 * after: a read that ended when the route had changed, a write that was refused as moved, and a watch from where it had got to.
 */
export class RoutedStore implements Store {
  readonly #storeOf: Route;

  constructor(storeOf: Route) {
    this.#storeOf = storeOf;
  }

  get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    return this.#read(key, (store) => store.get(key, freshness, caller));
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#read(query.resource, (store) => store.list(query));
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const stream = await this.#read(query.resource, (store) => store.watch(query, signal));
    const goOn = (after: Revision): Promise<EventStream> =>
      this.#read(query.resource, (store) =>
        store.watch({ ...query, start: { kind: 'after', revision: after } }, signal),
      );
    return new RoutedStream(stream, goOn);
  }

  async commit(write: Write): Promise<Revision> {
    const untilMs = performance.now() + MOVE_PATIENCE_MS;
    for (;;) {
      const route = this.#storeOf(write.key);
      const store = route instanceof Promise ? await route : route;
      try {
        return await store.commit(write);
      } catch (error) {
        if (failureOf(error, 'moved') === undefined) throw error;
      }
      if (write.caller?.aborted === true) throw new StorageError({ kind: 'abandoned' });
      if (performance.now() > untilMs)
        throw new StorageError({
          kind: 'unavailable',
          reason: `${write.key.resource} is being moved to another database`,
          because: 'time',
        });
      await pause(RETRY_MS);
    }
  }

  async #read<Result>(resource: GroupResource, read: (store: Store) => Promise<Result>): Promise<Result> {
    for (;;) {
      const route = this.#storeOf(resource);
      const store = route instanceof Promise ? await route : route;
      try {
        const result = await read(store);
        if (this.#storeOf(resource) === store) return result;
      } catch (error) {
        if (this.#storeOf(resource) === store) throw error;
      }
    }
  }
}

/** RoutedStream is the events of one watch, from one store after the other. */
class RoutedStream implements EventStream {
  readonly #first: EventStream;
  readonly #goOn: (after: Revision) => Promise<EventStream>;

  constructor(first: EventStream, goOn: (after: Revision) => Promise<EventStream>) {
    this.#first = first;
    this.#goOn = goOn;
  }

  async deliver(take: TakeEvent): Promise<void> {
    for (let stream = this.#first; ; )
      try {
        return await stream.deliver(take);
      } catch (error) {
        stream = await this.#next(error);
      }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEvent[]> {
    for (let stream = this.#first; ; )
      try {
        yield* stream;
        return;
      } catch (error) {
        stream = await this.#next(error);
      }
  }

  /** @throws the error, unless it says that the resource has moved; compacted when the watch has not sent its first state */
  #next(error: unknown): Promise<EventStream> {
    const moved = failureOf(error, 'moved');
    if (moved === undefined) throw error;
    const { after } = moved;
    if (after === undefined)
      throw new StorageError({ kind: 'compacted', requested: NO_REVISION, compacted: NO_REVISION });
    return this.#goOn(after);
  }
}
