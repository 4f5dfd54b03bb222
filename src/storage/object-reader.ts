import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { Caller } from '../request/api-request.ts';
import { endTurn } from '../util/turns.ts';
import type { ObjectKey } from './key.ts';
import { toResourceVersion } from './revision.ts';
import type { Entry, Freshness, Store } from './store.ts';

/**
 * Trust says how far a read believes the cache, which is milliseconds behind the database and may lack what another server has just
 * created.
 *
 * - `cached`: fully, also that an object is absent. Costs nothing.
 * - `cached-if-found`: an object that is there; the database confirms its absence.
 * - a uid: the object with this uid; for another one, or none, the database is asked.
 * - `latest`: not at all. The result is at least as new as the call.
 */
export type Trust = 'cached' | 'cached-if-found' | 'latest' | { readonly uid: string };

/** Without a namespace for a cluster-scoped object. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/** All namespaces where none is given. */
export interface ListScope {
  readonly namespace?: string;
}

const ANY: Freshness = { kind: 'any' };
const LATEST: Freshness = { kind: 'latest' };

/** How many objects are parsed before other work runs. */
const STRIDE = 100;

/** ObjectReader reads typed objects, not bytes, for code in the server. */
export class ObjectReader {
  readonly #store: Pick<Store, 'get' | 'list'>;
  readonly #caller: Caller | undefined;

  /** `caller`: the client that waits for the results, if any. */
  constructor(store: Pick<Store, 'get' | 'list'>, caller?: Caller) {
    this.#store = store;
    this.#caller = caller;
  }

  /** Returns a new object, the caller's own. @throws StorageError */
  async get<T extends ApiObject>(
    resource: ResourceOf<T>,
    name: ObjectName,
    trust: Trust,
  ): Promise<T | undefined> {
    const { group, resource: plural } = resource;
    const entry = await this.entry({ group, resource: plural, namespace: '', ...name }, trust);
    return entry === undefined ? undefined : toObject<T>(entry);
  }

  /** Returns an object without parsing it. @throws StorageError */
  async entry(key: ObjectKey, trust: Trust): Promise<Entry | undefined> {
    if (trust === 'latest') return this.#store.get(key, LATEST, this.#caller);
    const cached = await this.#store.get(key, ANY, this.#caller);
    if (trust === 'cached' || isBelieved(cached, trust)) return cached;
    return this.#store.get(key, LATEST, this.#caller);
  }

  /**
   * Returns new objects, the caller's own. For large resources use {@link each}, which yields the event loop. @throws StorageError
   */
  async list<T extends ApiObject>(
    resource: ResourceOf<T>,
    scope: ListScope,
    trust: 'cached' | 'latest',
  ): Promise<T[]> {
    return (await this.entries(resource, scope, trust)).map((entry) => toObject<T>(entry));
  }

  /** Yields the objects of a list; other work runs in between. @throws StorageError */
  async *each<T extends ApiObject>(
    resource: ResourceOf<T>,
    scope: ListScope,
    trust: 'cached' | 'latest',
  ): AsyncGenerator<T> {
    const entries = await this.entries(resource, scope, trust);
    for (const [at, entry] of entries.entries()) {
      if (at % STRIDE === STRIDE - 1) await endTurn();
      yield toObject<T>(entry);
    }
  }

  /**
   * Returns objects without parsing them. A `cached` read leaves out unreadable ones; a `latest` read must be complete, and throws.
   * @throws StorageError
   */
  async entries(
    { group, resource }: ResourceOf<ApiObject>,
    scope: ListScope,
    trust: 'cached' | 'latest',
  ): Promise<readonly Entry[]> {
    const freshness = trust === 'latest' ? LATEST : ANY;
    const query = { resource: { group, resource }, scope, freshness, limit: 0, around: trust === 'cached' };
    const { entries } = await this.#store.list({
      ...query,
      ...(this.#caller === undefined ? {} : { caller: this.#caller }),
    });
    return entries;
  }
}

const isBelieved = (
  cached: Entry | undefined,
  trust: 'cached-if-found' | { readonly uid: string },
): boolean => cached !== undefined && (trust === 'cached-if-found' || cached.uid === trust.uid);

/** Parses an entry into a new object, the caller's own. */
export const toObject = <T extends ApiObject>({ json, revision }: Entry): T =>
  parseStored<T>(json, toResourceVersion(revision));
