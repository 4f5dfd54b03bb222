import type { StorageError } from './errors.ts';
import type { Revision } from './revision.ts';
import type { Change, PackedObjects } from './revision-log.ts';

/** LogProgress says how far this server has followed the log, for readers of the log itself. The database shows all up to there. */
export interface LogProgress {
  /** NO_REVISION while the state is being loaded. */
  readonly applied: Revision;
  /** Calls the follower from now on. Returns a function that ends this. */
  follow(follower: LogFollower): () => void;
}

export interface LogFollower {
  /** Receives applied changes, in order. Must not wait, and must not throw. */
  applied(changes: readonly Change[]): void;
  /** Receives what was compressed, between the changes. */
  packed?(packed: PackedObjects): void;
  /** The followed history ended at `applied`; the log itself may not show that. */
  ended(error: StorageError, applied: Revision): void;
  /** The state was loaded at a revision; changes applied next come after it. */
  loaded(revision: Revision): void;
}
