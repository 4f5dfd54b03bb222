import type { LogProgress } from './log-progress.ts';
import type { Revision } from './revision.ts';
import type { StoredObject } from './revision-log.ts';

/** SharedState is the current state of a log in memory, for other threads that begin with a copy of it. */
export interface SharedState extends LogProgress {
  /** Resolves when the state is loaded. */
  ready(): Promise<void>;
  /** The state now; it stays the same while it is read. Undefined while it is loaded. */
  contents(): StateContents | undefined;
}

export interface StateContents {
  readonly revision: Revision;
  /** The objects, resource by resource. */
  readonly parts: readonly Iterable<StoredObject>[];
}
