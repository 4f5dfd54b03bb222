import type { ApiObject } from '../api/object-meta.ts';
import { parseStored } from '../codec/stored-object.ts';
import { ObjectReader } from '../storage/object-reader.ts';
import type { Entry, Store } from '../storage/store.ts';

/** Kinds of objects that credentials are bound to or stored in. */
export type LiveResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

/** The current objects. They must not be changed. */
export interface LiveObjects {
  /** With `uid`, asks the database when the cache has no such object. */
  find(
    resource: LiveResource,
    key: { readonly namespace: string; readonly name: string; readonly uid?: string },
  ): Promise<ApiObject | undefined>;
}

/**
 * Reads through the watch cache, which lags by milliseconds: credentials end with the object that they are bound to. An object
 * that another server just created may be missing in the cache, so absence is checked in the database.
 */
export class StoredObjects implements LiveObjects {
  readonly #reader: ObjectReader;
  /** An entry is parsed once for all requests with its token. */
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
