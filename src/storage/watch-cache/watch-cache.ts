import type { GroupResource } from '../../api/names.ts';
import type { Caller } from '../../request/api-request.ts';
import { StorageError } from '../errors.ts';
import { type ObjectKey, toPosition } from '../key.ts';
import { NO_REVISION, type Revision } from '../revision.ts';
import type { Change, ChangeFeed, ChangeSink, Committer, RevisionReader, Write } from '../revision-log.ts';
import type { Entry, Freshness, ListPage, ListQuery, Store, WatchQuery } from '../store.ts';
import type { FieldReader } from './cached-entry.ts';
import { SharedCurrentRevision } from './current-revision.ts';
import type { SharedEvent } from './event.ts';
import { KeptFrames } from './kept-frames.ts';
import { listFound, listTree, valuesFound, valuesOf } from './listing.ts';
import { ResourceCache } from './resource-cache.ts';
import { Watcher } from './watcher.ts';

/** How long a read waits for a revision that a client names, before 504 (Kubernetes: the same). */
const NOT_OLDER_TIMEOUT_MS = 3000;
/** How long a consistent read waits for the cache to follow the database. */
const LATEST_TIMEOUT_MS = 20_000;
const TICK_MS = 1000;
/** Objects read at a time from history, for lists of the past. */
const HISTORY_PAGE = 1000;

export interface WatchCacheOptions {
  readonly reader: RevisionReader;
  readonly committer: Committer;
  readonly feed: ChangeFeed;
  /** How to read the selectable fields of a resource. */
  readonly fieldsOf: (resource: GroupResource) => FieldReader;
}

interface Waiter {
  readonly revision: Revision;
  readonly resolve: () => void;
}

/** What metrics and readiness show. */
export interface WatchCacheState {
  readonly loaded: boolean;
  readonly applied: Revision;
  readonly resources: readonly {
    readonly resource: GroupResource;
    readonly objects: number;
    readonly watchers: number;
  }[];
}

/** The Store of a server: everything current in memory, kept up by the log's feed, with the past in SQL behind it. */
export class WatchCache implements Store, ChangeSink {
  readonly #options: WatchCacheOptions;
  readonly #current: SharedCurrentRevision;
  readonly #caches = new Map<string, ResourceCache>();
  readonly #frames = new KeptFrames();
  #applied: Revision = NO_REVISION;
  #loadedAt: Revision = NO_REVISION;
  #loaded = false;
  #becameReady: () => void = () => {};
  readonly #ready: Promise<void>;
  #waiters: Waiter[] = [];

  constructor(options: WatchCacheOptions) {
    this.#options = options;
    this.#current = new SharedCurrentRevision(() => options.reader.currentRevision());
    this.#ready = new Promise((resolve) => {
      this.#becameReady = resolve;
    });
  }

  get state(): WatchCacheState {
    const resources = [...this.#caches.values()].map((cache) => ({
      resource: cache.resource,
      objects: cache.size,
      watchers: cache.watchers,
    }));
    return { loaded: this.#loaded, applied: this.#applied, resources };
  }

  /** Undefined for a resource that no object was ever seen of. */
  countObjects({ group, resource }: GroupResource): number | undefined {
    return this.#caches.get(`${group}/${resource}`)?.size;
  }

  /** Resolves when everything is loaded and reads are served. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Loads, then follows the feed until the signal aborts. Run again after a failure, it begins with a new state, and so do its
   * watchers: between the two, changes may have been missed. `onLoaded` is called when reads are served.
   * @throws StorageError; what PostgreSQL said
   */
  async run(signal: AbortSignal, onLoaded: () => void = () => {}): Promise<void> {
    if (this.#loaded) await this.reset();
    else await this.#load();
    onLoaded();
    const ticks = setInterval(() => this.#tick(), TICK_MS);
    try {
      await this.#options.feed.run(this.#applied, this, signal);
    } finally {
      clearInterval(ticks);
    }
  }

  commit(write: Write): Promise<Revision> {
    return this.#options.committer.commit(write);
  }

  async get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    await this.#reach(freshness, caller);
    return this.#cacheOf(key).get(toPosition(key));
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { freshness, caller } = query;
    if (freshness.kind === 'exact') return this.#listExact(query, freshness.revision);
    await this.#reach(freshness, caller);
    const cache = this.#cacheOf(query.resource);
    const { lookUp } = query;
    const index = lookUp === undefined ? undefined : await cache.indexOf(lookUp.field);
    const snapshot = cache.snapshot(this.#applied);
    const page =
      index === undefined || lookUp === undefined
        ? await listTree(snapshot, query)
        : listFound(index, lookUp.value, snapshot, query);
    if (page.next !== undefined) cache.remember(snapshot);
    return page;
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<void> {
    await this.#ready;
    const cache = this.#cacheOf(query.resource);
    if (query.start.kind === 'after') return this.#watchAfter(query, cache, query.start.revision, signal);
    await this.#reach(query.start.freshness, { signal, aborted: signal.aborted }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return;
    const { lookUp, scope } = query;
    const index = lookUp === undefined ? undefined : await cache.indexOf(lookUp.field);
    if (signal.aborted) return;
    const { revision, tree } = cache.snapshot(this.#applied);
    const watcher = this.#watcher(query, cache, revision, signal);
    const state =
      index === undefined || lookUp === undefined
        ? valuesOf(tree, scope)
        : valuesFound(index, lookUp.value, scope);
    query.onStart();
    await watcher.sendState(state);
    query.onInitialized?.();
    await watcher.follow();
  }

  async #watchAfter(
    query: WatchQuery,
    cache: ResourceCache,
    after: Revision,
    signal: AbortSignal,
  ): Promise<void> {
    if (after < cache.recent.floor) {
      const compacted = await this.#options.reader.compactedRevision();
      if (after < compacted) throw new StorageError({ kind: 'compacted', requested: after, compacted });
    }
    query.onStart();
    const following = this.#watcher(query, cache, after, signal).follow();
    query.onInitialized?.();
    await following;
  }

  #watcher(query: WatchQuery, cache: ResourceCache, position: Revision, signal: AbortSignal): Watcher {
    const { reader } = this.#options;
    return new Watcher({ query, cache, reader, applied: () => this.#applied, position, signal });
  }

  /** Applies everything first, then tells the watchers: whoever reads after an event sees at least that state. */
  apply(changes: readonly Change[]): void {
    const events: [ResourceCache, SharedEvent][] = [];
    for (const change of changes) {
      const cache = this.#cacheOf(change.key);
      events.push([cache, cache.apply(change)]);
    }
    this.#applied = changes.at(-1)?.revision ?? this.#applied;
    for (const [cache, event] of events) cache.dispatch(event);
    this.#wakeWaiters();
  }

  /** The history these caches were made from is gone. Watches end with 410 and their clients begin again. */
  async reset(): Promise<Revision> {
    const ended = [...this.#caches.values()].flatMap((cache) => [...cache.allWatchers()]);
    await this.#load();
    const failure = { kind: 'compacted', requested: NO_REVISION, compacted: this.#applied } as const;
    for (const watcher of ended) watcher.end(new StorageError(failure));
    return this.#applied;
  }

  async #load(): Promise<void> {
    const caches = new Map<string, ResourceCache>();
    let loadedAt = NO_REVISION;
    await this.#options.reader.loadCurrent(
      (revision) => {
        loadedAt = revision;
      },
      (objects) => {
        for (const object of objects) this.#cacheIn(caches, object.key, loadedAt).load(object);
      },
    );
    this.#caches.clear();
    for (const [key, cache] of caches) this.#caches.set(key, cache);
    this.#loadedAt = loadedAt;
    this.#applied = loadedAt;
    this.#loaded = true;
    this.#becameReady();
    this.#wakeWaiters();
  }

  #cacheOf(resource: GroupResource): ResourceCache {
    return this.#cacheIn(this.#caches, resource, this.#loadedAt);
  }

  #cacheIn(
    caches: Map<string, ResourceCache>,
    { group, resource }: GroupResource,
    loadedAt: Revision,
  ): ResourceCache {
    const key = `${group}/${resource}`;
    let cache = caches.get(key);
    if (cache === undefined) {
      const groupResource = { group, resource };
      const readFields = this.#options.fieldsOf(groupResource);
      cache = new ResourceCache({ resource: groupResource, loadedAt, readFields, frames: this.#frames });
      caches.set(key, cache);
    }
    return cache;
  }

  async #reach(freshness: Freshness, caller?: Caller): Promise<void> {
    if (!this.#loaded) await this.#ready;
    if (freshness.kind === 'any') return;
    if (freshness.kind === 'not-older')
      return this.#waitFor(freshness.revision, NOT_OLDER_TIMEOUT_MS, caller);
    const current = await this.#current.get();
    if (caller?.aborted === true) throw new StorageError({ kind: 'abandoned' });
    if (current <= this.#applied) return;
    await this.#waitFor(current, LATEST_TIMEOUT_MS, caller);
  }

  /** @throws StorageError future, abandoned */
  #waitFor(revision: Revision, timeoutMs: number, caller?: Caller): Promise<void> {
    if (this.#applied >= revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const signal = caller?.signal;
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abandon);
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
      };
      const waiter = {
        revision,
        resolve: () => {
          settle();
          resolve();
        },
      };
      const abandon = (): void => {
        settle();
        reject(new StorageError({ kind: 'abandoned' }));
      };
      const timer = setTimeout(() => {
        settle();
        reject(new StorageError({ kind: 'future', requested: revision, current: this.#applied }));
      }, timeoutMs);
      this.#waiters.push(waiter);
      signal?.addEventListener('abort', abandon, { once: true });
      if (signal?.aborted === true) abandon();
    });
  }

  #wakeWaiters(): void {
    if (this.#waiters.length === 0) return;
    const waiting = this.#waiters;
    this.#waiters = waiting.filter(({ revision }) => revision > this.#applied);
    for (const waiter of waiting) if (waiter.revision <= this.#applied) waiter.resolve();
  }

  async #listExact(query: ListQuery, revision: Revision): Promise<ListPage> {
    await this.#ready;
    await this.#waitFor(revision, NOT_OLDER_TIMEOUT_MS, query.caller);
    const cache = this.#cacheOf(query.resource);
    const snapshot = cache.snapshotAt(revision, this.#applied);
    if (snapshot === undefined) return this.#listHistory(query, revision, cache);
    const page = await listTree(snapshot, query);
    if (page.next !== undefined) cache.remember(snapshot);
    return page;
  }

  async #listHistory(query: ListQuery, revision: Revision, cache: ResourceCache): Promise<ListPage> {
    const { resource, scope, limit, matches } = query;
    const entries: Entry[] = [];
    let after = query.after;
    for (;;) {
      const page = limit > 0 && matches === undefined ? limit : HISTORY_PAGE;
      const where = { resource, scope, revision, limit: page, ...(after === undefined ? {} : { after }) };
      const { objects, remaining } = await this.#options.reader.listAt(where);
      for (const [at, object] of objects.entries()) {
        const entry = cache.toEntry(object);
        after = toPosition(object.key);
        if (matches !== undefined && !matches(entry)) continue;
        entries.push(entry);
        if (limit === 0 || entries.length < limit) continue;
        const left = remaining + objects.length - at - 1;
        if (left === 0) return { revision, entries };
        return { revision, entries, next: after, ...(matches === undefined ? { remaining: left } : {}) };
      }
      if (remaining === 0) return { revision, entries };
    }
  }

  #tick(): void {
    this.#frames.turn();
    const now = Date.now();
    for (const cache of this.#caches.values()) {
      for (const watcher of cache.allWatchers()) watcher.bookmarkIfDue(now);
    }
  }
}
