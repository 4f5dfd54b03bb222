import type { ApiObject } from '../api/object-meta.ts';
import { parseStored } from '../codec/stored-object.ts';
import { ObjectReader } from '../storage/object-reader.ts';
import type { Entry, Store } from '../storage/store.ts';

/** Kinds of objects that credentials are bound to or kept in. */
export type LiveResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

/** Objects as they are now; nobody may change them. */
export interface LiveObjects {
  /** With `uid`, the cache's word that there is no such object is not taken before the database has been asked. */
  find(
    resource: LiveResource,
    key: { readonly namespace: string; readonly name: string; readonly uid?: string },
  ): Promise<ApiObject | undefined>;
}

/**
 * Reads through the watch cache, which is milliseconds behind at most: credentials end when what they are bound to does. An
 * object that another server has just created may not have arrived yet, so absence is asked for again.
 */
export class StoredObjects implements LiveObjects {
  readonly #reader: ObjectReader;
  /** An entry is parsed once, however many requests come with its token. */
  readonly #parsed = new WeakMap<Entry, ApiObject>();

  constructor(store: Store) {
    this.#reader = new ObjectReader(store);
  }

  async find(
    resource: LiveResource,
    { namespace, name, uid }: { namespace: string; name: string; uid?: string },
  ): Promise<ApiObject | undefined> {
    const key = { group: '', resource, namespace, name };
    const entry = await this.#reader.entry(key, uid === undefined ? 'cached' : { uid });
    return entry === undefined ? undefined : this.#parse(entry);
  }

  #parse(entry: Entry): ApiObject {
    let object = this.#parsed.get(entry);
    if (object === undefined) {
      object = parseStored(entry.json);
      this.#parsed.set(entry, object);
    }
    return object;
  }
}
