import type { GroupResource } from '../../api/names.ts';
import type { Caller } from '../../request/api-request.ts';
import type { FieldReader } from '../cached-entry.ts';
import { DeliveredEvents } from '../delivered-events.ts';
import { failureOf, StorageError } from '../errors.ts';
import type { ObjectKey } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { Change, RevisionLog, StoredObject, Write } from '../revision-log.ts';
import type {
  Entry,
  EventStream,
  Freshness,
  ListFreshness,
  ListPage,
  ListQuery,
  Store,
  WatchQuery,
} from '../store.ts';
import { Generation } from './generation.ts';
import { LoggedResource } from './logged-resource.ts';
import { assertReadable, listPast, type PastList, pagesOfPast } from './past-list.ts';
import type { Replay } from './replay.ts';
import { Watcher, type WatchStart } from './watcher.ts';

/** Tries of a list whose revision is compacted during the read, by a window shorter than the read takes. */
const MAX_TRIES = 3;

/** How far the feed is followed. */
interface Progress {
  /** Returns the log's newest revision. @throws StorageError unavailable */
  current(): Promise<Revision>;
  /** Resolves when changes are followed from here on. @throws StorageError unavailable */
  following(): Promise<void>;
  /** Returns the applied revision once it is as new as asked. @throws StorageError future, unavailable, abandoned */
  reached(freshness: Exclude<Freshness, { kind: 'latest' }>, caller?: Caller): Promise<Revision>;
  /** Whether what is older can still be had. @throws StorageError compacted */
  assertKept(resource: GroupResource, revision: Revision): Promise<void>;
  /** Whether there is such a revision yet. @throws StorageError compacted, unavailable */
  assertGiven(revision: Revision): Promise<void>;
}

interface UncachedOptions extends Pick<RevisionLog, 'reader' | 'committer'> {
  readonly progress: Progress;
  readonly replay: Replay;
  readonly fieldsOf: (resource: GroupResource) => FieldReader;
  readonly isOutdated?: (resource: GroupResource, storedAs: string | undefined) => boolean | Promise<boolean>;
}

/**
 * UncachedStore is a Store without memory. It reads objects and lists from the log at a revision, which makes lists and their later
 * chunks consistent; the feed wakes watches, which read the changes from history.
 */
export class UncachedStore implements Store {
  readonly #options: UncachedOptions;
  #generation: Generation<LoggedResource> | undefined;

  constructor(options: UncachedOptions) {
    this.#options = options;
  }

  get watched(): Iterable<LoggedResource> {
    return this.#generation?.caches ?? [];
  }

  /** Applies changes after this revision from now on. */
  begin(loadedAt: Revision): void {
    const { fieldsOf, isOutdated } = this.#options;
    this.#generation = new Generation(
      loadedAt,
      (resource) =>
        new LoggedResource({
          ...{ resource, loadedAt, readFields: fieldsOf(resource) },
          ...(isOutdated && { isOutdated: (storedAs) => isOutdated(resource, storedAs) }),
        }),
    );
  }

  apply(changes: readonly Change[]): void {
    this.#generation?.apply(changes);
  }

  /** Ends all watches: their history is gone. */
  end(error: StorageError): void {
    const over = this.#generation;
    this.#generation = undefined;
    over?.end(error);
  }

  /** As {@link Generation.leave}. */
  leave(resource: GroupResource): void {
    this.#generation?.leave(resource);
  }

  bookmark(): void {
    this.#generation?.bookmark();
  }

  commit(write: Write): Promise<Revision> {
    return this.#options.committer.commit(write);
  }

  async get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    const { progress, reader } = this.#options;
    if (freshness.kind === 'not-older') await progress.reached(freshness, caller);
    // The object is at least as new as the call. The second query makes sure that the database is the right one.
    const [stored] = await Promise.all([
      reader.get(key),
      freshness.kind === 'latest' ? progress.current() : undefined,
    ]);
    if (caller?.aborted === true) throw new StorageError({ kind: 'abandoned' });
    if (stored === undefined) return undefined;
    assertReadable([stored]);
    return (await this.#resource(key)).toEntry(stored);
  }

  list(query: ListQuery): Promise<ListPage> {
    return this.#atRevision(query.freshness, query.caller, async (revision) =>
      listPast(query, await this.#past(query.resource, revision)),
    );
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const { start } = query;
    const caller = { signal, aborted: signal.aborted };
    try {
      if (start.kind === 'state')
        return await this.#atRevision(start.freshness, caller, (revision) =>
          this.#watchState(query, revision, signal),
        );
      const { recent } = await this.#resource(query.resource);
      if (start.revision < recent.floor)
        await this.#options.progress.assertKept(query.resource, start.revision);
      await this.#options.progress.assertGiven(start.revision);
      return await this.#stream(query, { revision: start.revision, state: undefined }, signal);
    } catch (error) {
      if (signal.aborted) return new DeliveredEvents(async () => {}, signal);
      throw error;
    }
  }

  /** Reads the first page here, so that its failure fails the watch. */
  async #watchState(query: WatchQuery, revision: Revision, signal: AbortSignal): Promise<EventStream> {
    const pages = pagesOfPast(query, await this.#past(query.resource, revision));
    const first = await pages.next();
    async function* state(): AsyncGenerator<readonly Entry[]> {
      if (first.done !== true) yield first.value;
      yield* pages;
    }
    return this.#stream(query, { revision, state: state() }, signal);
  }

  async #stream(query: WatchQuery, start: WatchStart, signal: AbortSignal): Promise<EventStream> {
    const generation = await this.#following();
    const cache = generation.cacheOf(query.resource);
    const watcher = new Watcher({ query, cache, replay: this.#options.replay, start });
    return new DeliveredEvents((take, until) => generation.serve(watcher, take, until), signal);
  }

  /** Reads at the newest or the requested revision, and again at a newer one unless it was requested exactly. */
  async #atRevision<Result>(
    freshness: ListFreshness,
    caller: Caller | undefined,
    read: (revision: Revision) => Promise<Result>,
  ): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const revision = await this.#revisionFor(freshness, caller);
      if (caller?.signal.aborted === true) throw new StorageError({ kind: 'abandoned' });
      try {
        return await read(revision);
      } catch (error) {
        const isCompacted = failureOf(error, 'compacted') !== undefined;
        if (!isCompacted || freshness.kind === 'exact' || tries === MAX_TRIES) throw error;
      }
    }
  }

  async #revisionFor(freshness: ListFreshness, caller?: Caller): Promise<Revision> {
    const { progress } = this.#options;
    if (freshness.kind === 'latest') return progress.current();
    if (freshness.kind !== 'exact') return progress.reached(freshness, caller);
    await progress.reached({ kind: 'not-older', revision: freshness.revision }, caller);
    return freshness.revision;
  }

  async #past(resource: GroupResource, revision: Revision): Promise<PastList> {
    const watched = await this.#resource(resource);
    const toEntry = (stored: StoredObject): Entry => watched.toEntry(stored);
    return { reader: this.#options.reader, revision, toEntry };
  }

  async #resource(resource: GroupResource): Promise<LoggedResource> {
    return (await this.#following()).cacheOf(resource);
  }

  async #following(): Promise<Generation<LoggedResource>> {
    while (this.#generation === undefined) await this.#options.progress.following();
    return this.#generation;
  }
}
