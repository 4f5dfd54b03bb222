import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { Caller } from '../request/api-request.ts';
import { endTurn } from '../util/turns.ts';
import type { ObjectKey } from './key.ts';
import { toResourceVersion } from './revision.ts';
import type { Entry, Freshness, Store } from './store.ts';

/**
 * What of the cache is believed. It is milliseconds behind the database, and knows nothing yet of what another server has just
 * created.
 *
 * - `cached`: everything, also that there is no such object. Costs nothing.
 * - `cached-if-found`: an object that it has; that there is none only when the database says so.
 * - a uid: the object with this uid; when it has another one, or none, the database is asked.
 * - `latest`: nothing. The answer is at least as new as the question.
 */
export type Trust = 'cached' | 'cached-if-found' | 'latest' | { readonly uid: string };

/** Of what is cluster-scoped, without a namespace. */
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

/** How many objects are parsed before others get their turn. */
const STRIDE = 100;

/** Reads for those inside the server: typed objects instead of bytes. */
export class ObjectReader {
  readonly #store: Pick<Store, 'get' | 'list'>;
  readonly #caller: Caller | undefined;

  /** `caller`: who waits for the answers, if it is a client. */
  constructor(store: Pick<Store, 'get' | 'list'>, caller?: Caller) {
    this.#store = store;
    this.#caller = caller;
  }

  /** A new object, the caller's own. @throws StorageError */
  async get<T extends ApiObject>(
    resource: ResourceOf<T>,
    name: ObjectName,
    trust: Trust,
  ): Promise<T | undefined> {
    const { group, resource: plural } = resource;
    const entry = await this.entry({ group, resource: plural, namespace: '', ...name }, trust);
    return entry === undefined ? undefined : toObject<T>(entry);
  }

  /** An object that is not parsed. @throws StorageError */
  async entry(key: ObjectKey, trust: Trust): Promise<Entry | undefined> {
    if (trust === 'latest') return this.#store.get(key, LATEST, this.#caller);
    const cached = await this.#store.get(key, ANY, this.#caller);
    if (trust === 'cached' || isBelieved(cached, trust)) return cached;
    return this.#store.get(key, LATEST, this.#caller);
  }

  /** New objects, the caller's own. Of resources with many objects, {@link each} holds up nobody. @throws StorageError */
  async list<T extends ApiObject>(
    resource: ResourceOf<T>,
    scope: ListScope,
    trust: 'cached' | 'latest',
  ): Promise<T[]> {
    return (await this.entries(resource, scope, trust)).map((entry) => toObject<T>(entry));
  }

  /** The objects of a list one after the other. Other work has its turn in between. @throws StorageError */
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
   * Objects that are not parsed. What cannot be read is left out of what is cached; who asks for the latest wants to be sure that
   * nothing else is there, and is told of it. @throws StorageError
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

/** The object of an entry: new, and the caller's own. */
export const toObject = <T extends ApiObject>({ json, revision }: Entry): T =>
  parseStored<T>(json, toResourceVersion(revision));
