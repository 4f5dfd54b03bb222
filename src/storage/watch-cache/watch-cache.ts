import type { GroupResource } from '../../api/names.ts';
import type { Caller } from '../../request/api-request.ts';
import type { FieldReader } from '../cached-entry.ts';
import { DeliveredEvents } from '../delivered-events.ts';
import { StorageError } from '../errors.ts';
import { type ObjectKey, toPosition } from '../key.ts';
import type { LogFollower } from '../log-progress.ts';
import { includes, type ResourceSet } from '../resource-set.ts';
import { NO_REVISION, type Revision } from '../revision.ts';
import type { Change, ChangeSink, PackedObjects, RevisionLog, Write } from '../revision-log.ts';
import type { SharedState, StateContents } from '../shared-state.ts';
import type { Entry, EventStream, Freshness, ListPage, ListQuery, Store, WatchQuery } from '../store.ts';
import { CompactedRevisions } from './compacted-revisions.ts';
import { Compression, type CompressionOptions } from './compression.ts';
import { SharedCurrentRevision, toLagging } from './current-revision.ts';
import { Generation } from './generation.ts';
import { contentsOf, listFound, listTree, valuesFound, valuesOf } from './listing.ts';
import { loadedInTime } from './loaded-in-time.ts';
import { listPast } from './past-list.ts';
import { RecentEncodings } from './recent-encodings.ts';
import { Replay } from './replay.ts';
import { ResourceCache } from './resource-cache.ts';
import { RevisionWaiters } from './revision-waiters.ts';
import { UncachedStore } from './uncached-store.ts';
import { toState, type WatchCacheState } from './watch-cache-state.ts';
import { Watcher, type WatchStart } from './watcher.ts';

/** How long a read waits for a revision that a client names, before 504 (Kubernetes: the same). */
const NOT_OLDER_TIMEOUT_MS = 3000;
/** How long a consistent read waits, the question to the database included, until the cache has followed it. */
const LATEST_TIMEOUT_MS = 3000;
const TICK_MS = 1000;

/** The stream of a watch that ended before it began. */
const NO_EVENTS = new DeliveredEvents(async () => {}, AbortSignal.abort());

interface WatchCacheOptions extends RevisionLog {
  /** Returns the reader of a resource's selectable fields. */
  readonly fieldsOf: (resource: GroupResource) => FieldReader;
  /** Resources whose objects are in memory, by default all. Others are read from the log. */
  readonly kept?: ResourceSet;
  /** Whether an object stored as this media type (undefined: JSON) would now be stored as another. */
  readonly isOutdated?: (resource: GroupResource, storedAs: string | undefined) => boolean | Promise<boolean>;
  readonly compression?: CompressionOptions;
}

/**
 * WatchCache is the Store of a server: it keeps the current state in memory, follows the log's feed, and reads the past from SQL.
 *
 * The state is a generation: all resources as loaded at one moment, and the changes since. When the feed finds that its history is
 * gone, by compaction or a failover, the generation ends as a whole with all of its watches (410), and another is loaded. Reads
 * wait for it. A state replaced in place was rejected: reads could take objects and revision from two histories.
 *
 * A read of the newest state asks PostgreSQL for the newest revision, once for all reads that wait, then waits until the feed has
 * brought it. Lists read a snapshot of the tree, which is copied at no cost, so that later chunks see the same state. Older
 * revisions, and resources outside of `kept`, are read from the log (listPast, UncachedStore).
 *
 * - All changes of a batch are applied before any watcher is called: a read after an event sees at least its state.
 * - A slow watcher delays neither a commit nor another watcher. It has no buffer, only a position, from which it replays later from
 *   memory or from SQL.
 * - Watches from before the memory share what they read from history (Replay): 2,000 took 98 s after a restart, and take 2 s.
 * - A revision from the future waits or fails; a revision of a lost history never gets a response from the present one.
 */
export class WatchCache implements Store, ChangeSink, SharedState {
  readonly #options: WatchCacheOptions;
  readonly #current: SharedCurrentRevision;
  readonly #replay: Replay;
  readonly #compacted: CompactedRevisions;
  readonly #encodings = new RecentEncodings();
  readonly #compression: Compression;
  /** Undefined until the state is loaded, and while it is loaded afresh. */
  #generation: Generation<ResourceCache> | undefined;
  /** Newest revision known to be in the database; it may still be on its way here. */
  #newest: Revision = NO_REVISION;
  #loading = Promise.withResolvers<void>();
  readonly #waiters = new RevisionWaiters<Generation<ResourceCache>>();
  readonly #followers = new Set<LogFollower>();
  readonly #uncached: UncachedStore | undefined;

  constructor(options: WatchCacheOptions) {
    this.#options = options;
    this.#replay = new Replay(options.reader, this.#encodings);
    this.#compacted = new CompactedRevisions(options.reader);
    const caches = (): Iterable<ResourceCache> => this.#generation?.caches ?? [];
    this.#compression = new Compression(caches, this.#followers, options.compression);
    this.#current = new SharedCurrentRevision((reads) => options.reader.currentRevision(reads));
    if (options.kept === undefined) return;
    this.#uncached = new UncachedStore({
      ...{ ...options, replay: this.#replay },
      progress: {
        current: () => this.#current.get(),
        following: async () => void (await this.#loaded()),
        reached: async (freshness, caller) => (await this.#reach(freshness, caller)).applied,
        assertKept: (resource, revision) => this.#compacted.assertKept(resource, revision),
        assertGiven: (revision) => this.#assertExists(revision),
      },
    });
  }

  get state(): WatchCacheState {
    const generation = this.#generation;
    const kept = [...(generation?.caches ?? [])].map((cache) => {
      const { size: objects, unreadable } = cache;
      return { ...toState(cache), objects, unreadable };
    });
    const watched = [...(this.#uncached?.watched ?? [])];
    const others = watched.map((one) => ({ ...toState(one), objects: undefined, unreadable: 0 }));
    return { loaded: generation !== undefined, applied: this.applied, resources: [...kept, ...others] };
  }

  /** The same objects, always read from the log. Absent where all resources are in memory. */
  get uncached(): Store | undefined {
    return this.#uncached;
  }

  /** Whether reads of a resource go to the log. */
  isRead(resource: GroupResource): boolean {
    return this.#uncachedFor(resource) !== undefined;
  }

  /** Undefined for a resource without any object so far, and for one that is not in memory. */
  countObjects(resource: GroupResource): number | undefined {
    return this.#generation?.find(resource)?.size;
  }

  /** Returns the objects of a resource as applied, at once; none while the state is loaded, or where they are not in memory. */
  present(resource: GroupResource): Iterable<Entry> {
    const cache = this.#generation?.find(resource);
    return cache === undefined ? [] : valuesOf(cache.snapshot(this.applied).tree, {});
  }

  /** Forgets a resource that is in another store from now on. Its watches end as moved; later reads of it mean nothing. */
  leave(resource: GroupResource): void {
    this.#generation?.leave(resource);
    this.#uncached?.leave(resource);
  }

  /** Resolves when everything is loaded and reads are served. */
  ready(): Promise<void> {
    return this.#loading.promise;
  }

  /**
   * Loads, then follows the feed until the signal aborts. A run after a failure begins with a new state, and so do its watchers:
   * changes may have been missed in between. `onLoaded` is called when reads are served.
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

  async commit(write: Write): Promise<Revision> {
    const revision = await this.#options.committer.commit(write);
    this.#noteCommitted(revision);
    return revision;
  }

  async get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    const uncached = this.#uncachedFor(key);
    if (uncached !== undefined) return uncached.get(key, freshness, caller);
    const generation = await this.#reach(freshness, caller);
    return generation.cacheOf(key).get(toPosition(key));
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { freshness, caller, sought = [] } = query;
    const uncached = this.#uncachedFor(query.resource);
    if (uncached !== undefined) return uncached.list(query);
    if (freshness.kind === 'exact') return this.#listExact(query, freshness.revision);
    const generation = await this.#reach(freshness, caller);
    const cache = generation.cacheOf(query.resource);
    if (query.around !== true) cache.assertReadable(query.scope);
    const found = await cache.indexFor(sought, query.scope);
    const snapshot = cache.snapshot(generation.applied);
    const page = found === undefined ? await listTree(snapshot, query) : listFound(found, snapshot, query);
    if (page.next !== undefined) cache.remember(snapshot);
    return page;
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const { start } = query;
    const uncached = this.#uncachedFor(query.resource);
    if (uncached !== undefined) return uncached.watch(query, signal);
    if (start.kind === 'after') return this.#watchAfter(query, start.revision, signal);
    const caller = { signal, aborted: signal.aborted };
    const generation = await this.#reach(start.freshness, caller).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (generation === undefined || signal.aborted) return NO_EVENTS;
    const { sought = [], scope } = query;
    const cache = generation.cacheOf(query.resource);
    if (query.around !== true) cache.assertReadable(scope);
    const found = await cache.indexFor(sought, scope);
    const { revision, tree } = cache.snapshot(generation.applied);
    const state = found === undefined ? valuesOf(tree, scope) : valuesFound(found, scope);
    return this.#stream(query, generation, { revision, state: [state] }, signal);
  }

  async #watchAfter(query: WatchQuery, after: Revision, signal: AbortSignal): Promise<EventStream> {
    const generation = await this.#loaded();
    if (after < generation.cacheOf(query.resource).recent.floor)
      await this.#compacted.assertKept(query.resource, after);
    await this.#assertExists(after);
    return this.#stream(query, generation, { revision: after, state: undefined }, signal);
  }

  /** A revision from another server will arrive here; one that the database lacks is of a history that it has lost. */
  async #assertExists(requested: Revision): Promise<void> {
    if (requested <= this.applied || requested <= this.#newest) return;
    const current = await this.#current.get();
    this.#noteCommitted(current);
    if (requested > current) throw new StorageError({ kind: 'compacted', requested, compacted: current });
  }

  pack(packed: PackedObjects): void {
    this.#generation?.find(packed.resource)?.pack(packed);
  }

  #noteCommitted(revision: Revision): void {
    if (revision > this.#newest) this.#newest = revision;
  }

  /** Returns undefined when the resource is in memory. */
  #uncachedFor(resource: GroupResource): Store | undefined {
    const { kept } = this.#options;
    return kept === undefined || includes(kept, resource) ? undefined : this.#uncached;
  }

  #stream(
    query: WatchQuery,
    generation: Generation<ResourceCache>,
    start: WatchStart,
    signal: AbortSignal,
  ): EventStream {
    const cache = generation.cacheOf(query.resource);
    const watcher = new Watcher({ query, cache, replay: this.#replay, start });
    return new DeliveredEvents((take, until) => generation.serve(watcher, take, until), signal);
  }

  apply(changes: readonly Change[]): void {
    const generation = this.#generation;
    if (generation === undefined) throw new Error('changes came before there was anything to change');
    const { kept } = this.#options;
    generation.apply(kept === undefined ? changes : changes.filter(({ key }) => includes(kept, key)));
    generation.reach(changes.at(-1)?.revision);
    this.#uncached?.apply(changes);
    this.#waiters.wake(generation);
    for (const follower of this.#followers) follower.applied(changes);
  }

  get applied(): Revision {
    return this.#generation?.applied ?? NO_REVISION;
  }

  contents(): StateContents | undefined {
    return this.#generation === undefined ? undefined : contentsOf(this.#generation);
  }

  follow(follower: LogFollower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Drops the state, whose history is gone, and loads it anew. Watches end with 410 and their clients begin again; reads wait for
   * the new state, because the old one may never have been in the database.
   */
  async reset(reason?: 'compacted' | 'rewound'): Promise<Revision> {
    const over = this.#generation;
    this.#generation = undefined;
    this.#newest = NO_REVISION;
    if (over !== undefined) {
      this.#loading = Promise.withResolvers();
      const failure = { kind: 'compacted', requested: NO_REVISION, compacted: over.applied } as const;
      over.end(new StorageError(failure));
      // Followers read the log and see there what became of it; only what it lost unnoticed must be reported.
      if (reason === 'rewound')
        for (const follower of this.#followers) follower.ended(new StorageError(failure), over.applied);
      this.#uncached?.end(new StorageError(failure));
    }
    return this.#load();
  }

  async #load(): Promise<Revision> {
    const { fieldsOf, isOutdated, reader, kept } = this.#options;
    let loading = new Generation<ResourceCache>(NO_REVISION, () => {
      throw new Error('objects came before their revision');
    });
    // The first question connects, which takes a dozen round trips: reads have no time for them. A failure is theirs to report.
    const connected = reader.currentRevision().catch(() => undefined);
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
      kept,
    );
    await connected;
    this.#uncached?.begin(loading.applied);
    this.#generation = loading;
    this.#loading.resolve();
    this.#waiters.wake(loading);
    for (const follower of this.#followers) follower.loaded(loading.applied);
    return loading.applied;
  }

  /** @throws StorageError unavailable when it takes too long to load afresh */
  async #loaded(): Promise<Generation<ResourceCache>> {
    while (this.#generation === undefined) await loadedInTime(this.#loading.promise);
    return this.#generation;
  }

  /** Returns a generation as new as asked. It may have ended before it is used, but is of one history. */
  async #reach(freshness: Freshness, caller?: Caller): Promise<Generation<ResourceCache>> {
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
  #waitFor(
    revision: Revision,
    timeoutMs: number,
    caller?: Caller,
  ): Promise<Generation<ResourceCache>> | Generation<ResourceCache> {
    const present = this.#generation;
    if (present !== undefined && present.applied >= revision) return present;
    const reached = this.#waiters.wait({ revision, timeoutMs, caller, applied: () => this.applied });
    this.#options.feed.hurry();
    return reached;
  }

  async #listExact(query: ListQuery, revision: Revision): Promise<ListPage> {
    await this.#loaded();
    const generation = await this.#waitFor(revision, NOT_OLDER_TIMEOUT_MS, query.caller);
    const cache = generation.cacheOf(query.resource);
    const snapshot = cache.snapshotAt(revision, generation.applied);
    if (snapshot === undefined) {
      const { reader } = this.#options;
      return listPast(query, { reader, revision, toEntry: (stored) => cache.toEntry(stored) });
    }
    const page = await listTree(snapshot, query);
    if (page.next !== undefined) cache.remember(snapshot);
    return page;
  }

  #tick(): void {
    this.#encodings.turn();
    this.#compression.turn();
    this.#replay.turn();
    this.#generation?.bookmark();
    this.#uncached?.bookmark();
  }
}
