import type { GroupResource } from '../../api/names.ts';
import type { Revision } from '../revision.ts';
import type { Change, StoredObject } from '../revision-log.ts';
import type { Entry } from '../store.ts';
import type { ChangeListener } from './listeners.ts';
import type { RecentChanges } from './recent-changes.ts';

/** A resource as watchers follow it, with or without its objects in memory. */
export interface WatchedResource {
  readonly resource: GroupResource;
  readonly watchers: number;
  /** The changes after its floor; older ones are read from history. */
  readonly recent: Pick<RecentChanges, 'floor' | 'indexAfter' | 'at'>;
  toEntry(stored: StoredObject): Entry;
  addWatcher(watcher: ChangeListener): void;
  removeWatcher(watcher: ChangeListener): void;
}

/** A resource as a generation feeds it. */
export interface FedResource extends WatchedResource {
  /**
   * Applies a change. Returns a function that notifies the watchers, to be called when all changes of the batch are applied.
   * `before`: the watchers know everything up to here.
   */
  apply(change: Change, before: Revision): () => void;
}
