import type { GroupResource } from '../../api/names.ts';
import type { Caller } from '../../request/api-request.ts';
import type { FieldReader } from '../cached-entry.ts';
import { DeliveredEvents } from '../delivered-events.ts';
import { StorageError } from '../errors.ts';
import { type ObjectKey, toPosition } from '../key.ts';
import { NO_REVISION, type Revision } from '../revision.ts';
import type { Change, ChangeSink, RevisionLog, StoredObject, Write } from '../revision-log.ts';
import type { Entry, EventStream, Freshness, ListPage, ListQuery, Store, WatchQuery } from '../store.ts';
import { SharedCurrentRevision } from './current-revision.ts';
import { Generation } from './generation.ts';
import { listFound, listTree, valuesFound, valuesOf } from './listing.ts';
import { RecentEncodings } from './recent-encodings.ts';
import { Replay } from './replay.ts';
import { ResourceCache } from './resource-cache.ts';
import { Watcher, type WatchStart } from './watcher.ts';

/** How long a read waits for a revision that a client names, before 504 (Kubernetes: the same). */
const NOT_OLDER_TIMEOUT_MS = 3000;
/** How long a consistent read waits, the question to the database included, until the cache has followed it. */
const LATEST_TIMEOUT_MS = 3000;
/** How long reads wait for a state that is loaded afresh. */
const LOADED_TIMEOUT_MS = 20_000;
const TICK_MS = 1000;
/** Objects read at a time from history, for lists of the past. */
const HISTORY_PAGE = 1000;
/** How long a watch from before the memory waits to be told whether it may. It then reads history, which takes as long. */
const RESUME_MS = 30_000;

/** Of a watch that was over before it could begin. */
const NO_EVENTS = new DeliveredEvents(async () => {}, AbortSignal.abort());

export interface WatchCacheOptions extends RevisionLog {
  /** How to read the selectable fields of a resource. */
  readonly fieldsOf: (resource: GroupResource) => FieldReader;
  /** Whether what is stored as this media type, undefined for JSON, would be stored as another one now. */
  readonly isOutdated?: (resource: GroupResource, storedAs: string | undefined) => boolean;
}

interface Waiter {
  readonly revision: Revision;
  readonly resolve: (generation: Generation) => void;
}

/** What metrics and readiness show. */
export interface WatchCacheState {
  readonly loaded: boolean;
  readonly applied: Revision;
  readonly resources: readonly {
    readonly resource: GroupResource;
    readonly objects: number;
    readonly unreadable: number;
    readonly watchers: number;
  }[];
}

/** The Store of a server: everything current in memory, kept up by the log's feed, with the past in SQL behind it. */
export class WatchCache implements Store, ChangeSink {
  readonly #options: WatchCacheOptions;
  readonly #current: SharedCurrentRevision;
  readonly #replay: Replay;
  readonly #compacted: SharedCurrentRevision;
  readonly #encodings = new RecentEncodings();
  /** Undefined until it is loaded, and again while it is loaded afresh. */
  #generation: Generation | undefined;
  #loading = Promise.withResolvers<void>();
  readonly #waiters = new Set<Waiter>();

  constructor(options: WatchCacheOptions) {
    this.#options = options;
    this.#replay = new Replay(options.reader, this.#encodings);
    this.#compacted = new SharedCurrentRevision(
      () => options.reader.compactedRevision(),
      'is compacted',
      RESUME_MS,
    );
    this.#current = new SharedCurrentRevision(() => options.reader.currentRevision());
  }

  get state(): WatchCacheState {
    const generation = this.#generation;
    const resources = [...(generation?.caches ?? [])].map((cache) => ({
      resource: cache.resource,
      objects: cache.size,
      unreadable: cache.unreadable,
      watchers: cache.watchers,
    }));
    return { loaded: generation !== undefined, applied: generation?.applied ?? NO_REVISION, resources };
  }

  /** Undefined for a resource that no object was ever seen of. */
  countObjects(resource: GroupResource): number | undefined {
    return this.#generation?.find(resource)?.size;
  }

  /** Resolves when everything is loaded and reads are served. */
  ready(): Promise<void> {
    return this.#loading.promise;
  }

  /**
   * Loads, then follows the feed until the signal aborts. Run again after a failure, it begins with a new state, and so do its
   * watchers: between the two, changes may have been missed. `onLoaded` is called when reads are served.
   * @throws StorageError; what PostgreSQL said
   */
  async run(signal: AbortSignal, onLoaded: () => void = () => {}): Promise<void> {
    const loaded = await this.reset();
    onLoaded();
    const ticks = setInterval(() => this.#tick(), TICK_MS);
    try {
      await this.#options.feed.run(loaded, this, signal);
    } finally {
      clearInterval(ticks);
    }
  }

  commit(write: Write): Promise<Revision> {
    return this.#options.committer.commit(write);
  }

  async get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    const generation = await this.#reach(freshness, caller);
    return generation.cacheOf(key).get(toPosition(key));
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { freshness, caller, lookUp } = query;
    if (freshness.kind === 'exact') return this.#listExact(query, freshness.revision);
    const generation = await this.#reach(freshness, caller);
    const cache = generation.cacheOf(query.resource);
    if (query.around !== true) cache.assertReadable(query.scope);
    const index = lookUp === undefined ? undefined : await cache.indexOf(lookUp.field);
    const snapshot = cache.snapshot(generation.applied);
    const page =
      index === undefined || lookUp === undefined
        ? await listTree(snapshot, query)
        : listFound(index, lookUp.value, snapshot, query);
    if (page.next !== undefined) cache.remember(snapshot);
    return page;
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const { start } = query;
    if (start.kind === 'after') return this.#watchAfter(query, start.revision, signal);
    const caller = { signal, aborted: signal.aborted };
    const generation = await this.#reach(start.freshness, caller).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (generation === undefined || signal.aborted) return NO_EVENTS;
    const { lookUp, scope } = query;
    const cache = generation.cacheOf(query.resource);
    if (query.around !== true) cache.assertReadable(scope);
    const index = lookUp === undefined ? undefined : await cache.indexOf(lookUp.field);
    const { revision, tree } = cache.snapshot(generation.applied);
    const state =
      index === undefined || lookUp === undefined
        ? valuesOf(tree, scope)
        : valuesFound(index, lookUp.value, scope);
    return this.#stream(query, generation, { revision, state }, signal);
  }

  async #watchAfter(query: WatchQuery, after: Revision, signal: AbortSignal): Promise<EventStream> {
    const generation = await this.#loaded();
    if (after < generation.cacheOf(query.resource).recent.floor) {
      const compacted = await this.#compacted.get();
      if (after < compacted) throw new StorageError({ kind: 'compacted', requested: after, compacted });
    }
    return this.#stream(query, generation, { revision: after, state: undefined }, signal);
  }

  #stream(query: WatchQuery, generation: Generation, start: WatchStart, signal: AbortSignal): EventStream {
    const cache = generation.cacheOf(query.resource);
    const watcher = new Watcher({ query, cache, replay: this.#replay, start });
    return new DeliveredEvents((take, until) => generation.serve(watcher, take, until), signal);
  }

  apply(changes: readonly Change[]): void {
    const generation = this.#generation;
    if (generation === undefined) throw new Error('changes came before there was anything to change');
    generation.apply(changes);
    this.#wakeWaiters(generation);
  }

  /**
   * The history this was made from is gone. Watches end with 410 and their clients begin again; reads wait for what is loaded
   * now, because what was here may never have been, to the database.
   */
  async reset(): Promise<Revision> {
    const over = this.#generation;
    this.#generation = undefined;
    if (over !== undefined) {
      this.#loading = Promise.withResolvers();
      const failure = { kind: 'compacted', requested: NO_REVISION, compacted: over.applied } as const;
      over.end(new StorageError(failure));
    }
    return this.#load();
  }

  async #load(): Promise<Revision> {
    const { fieldsOf, isOutdated, reader } = this.#options;
    let loading = new Generation(NO_REVISION, () => {
      throw new Error('objects came before their revision');
    });
    await reader.loadCurrent(
      (loadedAt) => {
        loading = new Generation(loadedAt, (resource) => {
          const readFields = fieldsOf(resource);
          return new ResourceCache({
            ...{ resource, loadedAt, readFields, encodings: this.#encodings },
            ...(isOutdated && { isOutdated: (storedAs) => isOutdated(resource, storedAs) }),
          });
        });
      },
      (objects) => {
        for (const object of objects) loading.cacheOf(object.key).load(object);
      },
    );
    this.#generation = loading;
    this.#loading.resolve();
    this.#wakeWaiters(loading);
    return loading.applied;
  }

  /** @throws StorageError unavailable when it takes too long to load afresh */
  async #loaded(): Promise<Generation> {
    while (this.#generation === undefined) await within(LOADED_TIMEOUT_MS, this.#loading.promise);
    return this.#generation;
  }

  /** What is as new as asked. It may have ended by the time it is used, and is of one history all the same. */
  async #reach(freshness: Freshness, caller?: Caller): Promise<Generation> {
    if (freshness.kind === 'any') return this.#generation ?? this.#loaded();
    if (this.#generation === undefined) await this.#loaded();
    if (freshness.kind === 'not-older')
      return this.#waitFor(freshness.revision, NOT_OLDER_TIMEOUT_MS, caller);
    const askedAtMs = performance.now();
    const current = await this.#current.get();
    if (caller?.aborted === true) throw new StorageError({ kind: 'abandoned' });
    const leftMs = askedAtMs + LATEST_TIMEOUT_MS - performance.now();
    const reached = this.#waitFor(current, leftMs, caller);
    return reached instanceof Promise ? reached.catch(toLagging) : reached;
  }

  /** @throws StorageError future, abandoned */
  #waitFor(revision: Revision, timeoutMs: number, caller?: Caller): Promise<Generation> | Generation {
    const present = this.#generation;
    if (present !== undefined && present.applied >= revision) return present;
    return new Promise((resolve, reject) => {
      const signal = caller?.signal;
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abandon);
        this.#waiters.delete(waiter);
      };
      const waiter = {
        revision,
        resolve: (generation: Generation) => {
          settle();
          resolve(generation);
        },
      };
      const abandon = (): void => {
        settle();
        reject(new StorageError({ kind: 'abandoned' }));
      };
      const timer = setTimeout(() => {
        settle();
        const current = this.#generation?.applied ?? NO_REVISION;
        reject(new StorageError({ kind: 'future', requested: revision, current }));
      }, timeoutMs);
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', abandon, { once: true });
      if (signal?.aborted === true) abandon();
    });
  }

  #wakeWaiters(generation: Generation): void {
    for (const waiter of this.#waiters) if (waiter.revision <= generation.applied) waiter.resolve(generation);
  }

  async #listExact(query: ListQuery, revision: Revision): Promise<ListPage> {
    await this.#loaded();
    const generation = await this.#waitFor(revision, NOT_OLDER_TIMEOUT_MS, query.caller);
    const cache = generation.cacheOf(query.resource);
    const snapshot = cache.snapshotAt(revision, generation.applied);
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
      assertReadable(objects);
      for (const [at, object] of objects.entries()) {
        const entry = cache.toEntry(object);
        after = toPosition(object.key);
        if (matches !== undefined && !matches(entry)) continue;
        entries.push(entry);
        if (limit === 0 || entries.length < limit) continue;
        const left = remaining === undefined ? undefined : remaining + objects.length - at - 1;
        if (left === 0) return { revision, entries };
        const isKnown = matches === undefined && left !== undefined;
        return { revision, entries, next: after, ...(isKnown ? { remaining: left } : {}) };
      }
      if (remaining === 0) return { revision, entries };
    }
  }

  #tick(): void {
    this.#encodings.turn();
    this.#replay.turn();
    this.#generation?.bookmark();
  }
}

/** @throws StorageError unreadable */
function assertReadable(stored: readonly StoredObject[]): void {
  const objects = stored.flatMap((one) =>
    one.unreadable === undefined ? [] : [{ ...one, reason: one.unreadable }],
  );
  if (objects.length > 0) throw new StorageError({ kind: 'unreadable', objects });
}

/** Who asks for what is newest has named no revision that could be from the future: the cache lags behind, and will not for long. */
function toLagging(error: unknown): never {
  if (!(error instanceof StorageError) || error.failure.kind !== 'future') throw error;
  const { requested, current } = error.failure;
  const reason = `changes arrive late: up to revision ${current}, where the database is at ${requested}`;
  throw new StorageError({ kind: 'unavailable', reason }, { cause: error });
}

/** @throws StorageError unavailable */
async function within(timeoutMs: number, loaded: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = { kind: 'unavailable', reason: 'the state of the cluster is being read' } as const;
    timer = setTimeout(() => reject(new StorageError(failure)), timeoutMs);
  });
  await Promise.race([loaded, late]).finally(() => clearTimeout(timer));
}
