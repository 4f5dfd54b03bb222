import type { GroupResource } from '../../api/names.ts';
import type { StorageError } from '../errors.ts';
import type { Revision } from '../revision.ts';
import type { Change } from '../revision-log.ts';
import type { TakeEvent } from '../store.ts';
import type { AppliedChange } from './applied-change.ts';
import type { ResourceCache } from './resource-cache.ts';
import type { Watcher } from './watcher.ts';

/**
 * Everything that was loaded at one moment, and what it has become since. When the history it comes from is gone, it ends as a
 * whole, with every watch that began on it, and another takes its place. Whoever answers from one takes objects and revision
 * from it alone.
 */
export class Generation {
  readonly #caches = new Map<string, ResourceCache>();
  readonly #createCache: (resource: GroupResource, loadedAt: Revision) => ResourceCache;
  /** Also those that still send the state they begin with, of which no resource knows yet. */
  readonly #watchers = new Set<Watcher>();
  readonly #loadedAt: Revision;
  #applied: Revision;
  #end: StorageError | undefined;

  constructor(
    loadedAt: Revision,
    createCache: (resource: GroupResource, loadedAt: Revision) => ResourceCache,
  ) {
    this.#loadedAt = loadedAt;
    this.#applied = loadedAt;
    this.#createCache = createCache;
  }

  get applied(): Revision {
    return this.#applied;
  }

  /** Why it is over; undefined while it is not. */
  get ended(): StorageError | undefined {
    return this.#end;
  }

  get caches(): Iterable<ResourceCache> {
    return this.#caches.values();
  }

  find({ group, resource }: GroupResource): ResourceCache | undefined {
    return this.#caches.get(`${group}/${resource}`);
  }

  cacheOf({ group, resource }: GroupResource): ResourceCache {
    const key = `${group}/${resource}`;
    let cache = this.#caches.get(key);
    if (cache === undefined) {
      cache = this.#createCache({ group, resource }, this.#loadedAt);
      this.#caches.set(key, cache);
    }
    return cache;
  }

  /** Applies everything first, then tells the watchers: whoever reads after an event sees at least that state. */
  apply(changes: readonly Change[]): void {
    const all: [ResourceCache, AppliedChange][] = [];
    for (const change of changes) {
      const cache = this.cacheOf(change.key);
      all.push([cache, cache.apply(change)]);
    }
    this.#applied = changes.at(-1)?.revision ?? this.#applied;
    for (const [cache, applied] of all) cache.dispatch(applied);
  }

  /** Runs a watcher until its watch or the generation is over. @throws the error that it ended with */
  async serve(watcher: Watcher, take: TakeEvent, signal: AbortSignal): Promise<void> {
    if (this.#end !== undefined) throw this.#end;
    this.#watchers.add(watcher);
    try {
      await watcher.run(take, signal);
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  end(error: StorageError): void {
    this.#end = error;
    for (const watcher of this.#watchers) watcher.end(error);
  }

  bookmark(): void {
    const bookmark = { type: 'BOOKMARK', revision: this.#applied } as const;
    for (const watcher of this.#watchers) watcher.bookmark(bookmark);
  }
}
