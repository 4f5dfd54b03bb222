import { type GroupResource, toResourceKey } from '../../api/names.ts';
import type { StorageError } from '../errors.ts';
import type { Revision } from '../revision.ts';
import type { Change } from '../revision-log.ts';
import type { TakeEvent } from '../store.ts';
import type { FedResource } from './watched-resource.ts';
import type { Watcher } from './watcher.ts';

/**
 * Generation is the state of all resources as loaded at one moment, and the changes since. When its history is gone, it ends as a
 * whole, with all of its watches, and another replaces it. A response takes its objects and its revision from one generation.
 */
export class Generation<Resource extends FedResource> {
  readonly #caches = new Map<string, Resource>();
  readonly #createCache: (resource: GroupResource, loadedAt: Revision) => Resource;
  /** All watchers. Resources know only those that have sent their initial state. */
  readonly #watchers = new Set<Watcher>();
  readonly #loadedAt: Revision;
  /** Resources that have left. */
  readonly #left = new Set<string>();
  #applied: Revision;
  #end: StorageError | undefined;

  constructor(loadedAt: Revision, createCache: (resource: GroupResource, loadedAt: Revision) => Resource) {
    this.#loadedAt = loadedAt;
    this.#applied = loadedAt;
    this.#createCache = createCache;
  }

  get applied(): Revision {
    return this.#applied;
  }

  /** The error that ended the generation; undefined before that. */
  get ended(): StorageError | undefined {
    return this.#end;
  }

  get caches(): Iterable<Resource> {
    return this.#caches.values();
  }

  find(resource: GroupResource): Resource | undefined {
    return this.#caches.get(toResourceKey(resource));
  }

  cacheOf({ group, resource }: GroupResource): Resource {
    const key = toResourceKey({ group, resource });
    let cache = this.#caches.get(key);
    if (cache === undefined) {
      cache = this.#createCache({ group, resource }, this.#loadedAt);
      this.#caches.set(key, cache);
    }
    return cache;
  }

  /** Applies all changes before it notifies the watchers: a read after an event sees at least its state. */
  apply(changes: readonly Change[]): void {
    const before = this.#applied;
    const tell = changes.map((change) => this.cacheOf(change.key).apply(change, before));
    this.#applied = changes.at(-1)?.revision ?? this.#applied;
    for (const one of tell) one();
  }

  /** Marks everything up to here as applied, also changes that did not concern this generation. */
  reach(revision: Revision = this.#applied): void {
    if (revision > this.#applied) this.#applied = revision;
  }

  /** Runs a watcher until its watch or the generation ends. @throws the error that ended it */
  async serve(watcher: Watcher, take: TakeEvent, signal: AbortSignal): Promise<void> {
    if (this.#end !== undefined) throw this.#end;
    if (this.#left.has(toResourceKey(watcher.resource))) watcher.leave(this.#applied);
    this.#watchers.add(watcher);
    try {
      await watcher.run(take, signal);
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  /** Forgets a resource that is in another store from now on, and ends its watches. */
  leave(resource: GroupResource): void {
    this.#left.add(toResourceKey(resource));
    this.#caches.delete(toResourceKey(resource));
    for (const watcher of this.#watchers)
      if (toResourceKey(watcher.resource) === toResourceKey(resource)) watcher.leave(this.#applied);
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
