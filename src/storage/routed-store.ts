import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';
import type { Write } from './revision-log.ts';
import type { Entry, EventStream, Freshness, ListPage, ListQuery, Store, WatchQuery } from './store.ts';

/**
 * RoutedStore makes one store of several: each call goes to the store of its resource. Revisions belong to that store; those of two
 * stores cannot be compared.
 */
export class RoutedStore implements Store {
  readonly #storeOf: (resource: GroupResource) => Store;

  /** `storeOf` must always return the same store for a resource. */
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
