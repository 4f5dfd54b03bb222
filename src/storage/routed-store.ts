import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';
import type { Write } from './revision-log.ts';
import type { Entry, EventStream, Freshness, ListPage, ListQuery, Store, WatchQuery } from './store.ts';

/**
 * Several stores as one: each question goes to the store of its resource. Revisions are those of that store, and those of two stores
 * have nothing to do with each other.
 */
export class RoutedStore implements Store {
  readonly #storeOf: (resource: GroupResource) => Store;

  /** `storeOf` answers the same for a resource at any time. */
  constructor(storeOf: (resource: GroupResource) => Store) {
    this.#storeOf = storeOf;
  }

  get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    return this.#storeOf(key).get(key, freshness, caller);
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#storeOf(query.resource).list(query);
  }

  watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    return this.#storeOf(query.resource).watch(query, signal);
  }

  commit(write: Write): Promise<Revision> {
    return this.#storeOf(write.key).commit(write);
  }
}
