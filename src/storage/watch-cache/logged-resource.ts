import type { GroupResource } from '../../api/names.ts';
import { CachedEntry, type FieldReader, type IsOutdated } from '../cached-entry.ts';
import type { Revision } from '../revision.ts';
import type { Change, StoredObject } from '../revision-log.ts';
import type { Entry } from '../store.ts';
import { type ChangeListener, Listeners } from './listeners.ts';
import type { FedResource, WatchedResource } from './watched-resource.ts';

/**
 * LoggedResource keeps nothing of a resource in memory but the revision of its last change. A change wakes the watchers, which read
 * it from history with the state before it, as selectors need; watchers of one scope share what is read.
 */
export class LoggedResource implements FedResource {
  readonly resource: GroupResource;
  readonly recent: WatchedResource['recent'];
  readonly #readFields: FieldReader;
  readonly #isOutdated: IsOutdated | undefined;
  readonly #listeners = new Listeners();
  #changedAt: Revision;

  constructor(options: {
    resource: GroupResource;
    loadedAt: Revision;
    readFields: FieldReader;
    isOutdated?: IsOutdated;
  }) {
    this.#isOutdated = options.isOutdated;
    this.resource = options.resource;
    this.#readFields = options.readFields;
    this.#changedAt = options.loadedAt;
    const changedAt = (): Revision => this.#changedAt;
    this.recent = {
      get floor() {
        return changedAt();
      },
      indexAfter: () => 0,
      at: () => undefined,
    };
  }

  get watchers(): number {
    return this.#listeners.count;
  }

  toEntry(stored: StoredObject): Entry {
    return new CachedEntry(stored, this.#readFields, this.#isOutdated);
  }

  apply({ key, revision }: Change, before: Revision): () => void {
    this.#changedAt = revision;
    return () => this.#listeners.tell(key, (listener) => listener.notice(before));
  }

  addWatcher(watcher: ChangeListener): void {
    this.#listeners.add(watcher);
  }

  removeWatcher(watcher: ChangeListener): void {
    this.#listeners.remove(watcher);
  }
}
