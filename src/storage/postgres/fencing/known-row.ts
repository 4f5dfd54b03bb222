import type { Revision } from '../../revision.ts';

/** One row of the log, which another history has otherwise or not at all. */
export interface KnownRow {
  readonly revision: Revision;
  readonly writeId: string | undefined;
}
