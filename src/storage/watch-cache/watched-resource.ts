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
  /** The changes after its floor. What is older is read from history. */
  readonly recent: Pick<RecentChanges, 'floor' | 'indexAfter' | 'at'>;
  toEntry(stored: StoredObject): Entry;
  addWatcher(watcher: ChangeListener): void;
  removeWatcher(watcher: ChangeListener): void;
}

/** A resource as a generation feeds it. */
export interface FedResource extends WatchedResource {
  /**
   * Takes in a change. Answers how to tell the watchers of it, when all changes that came with it have been taken in. `before`: up
   * to here they have been told of everything.
   */
  apply(change: Change, before: Revision): () => void;
}
