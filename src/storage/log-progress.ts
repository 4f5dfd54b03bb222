import type { StorageError } from './errors.ts';
import type { Revision } from './revision.ts';
import type { Change } from './revision-log.ts';

/** How far a server has followed the log, for those who read the log itself. All of it up to there is visible in the database. */
export interface LogProgress {
  /** NO_REVISION while the state is loaded. */
  readonly applied: Revision;
  /** Tells of all that is applied from now on. Answers how to end that. */
  follow(follower: LogFollower): () => void;
}

export interface LogFollower {
  /** What has been applied, in order. Must not wait, and must not throw. */
  applied(changes: readonly Change[]): void;
  /** The history that was followed, up to `applied`, is gone, and the log may not tell where. */
  ended(error: StorageError, applied: Revision): void;
  /** The state was loaded as of a revision: what is applied comes after it. */
  loaded(revision: Revision): void;
}
