import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupResource } from '../api/names.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Registry } from '../registry/registry.ts';
import type { History, LoggedRevision } from '../storage/history.ts';
import type { LogProgress } from '../storage/log-progress.ts';
import type { Revision } from '../storage/revision.ts';
import type { Store } from '../storage/store.ts';
import type { Births } from '../verbs/incarnations.ts';

/** What reads of history depend on. */
export interface HistoryParts {
  /** The current state. */
  readonly store: Store;
  /** The log that contains the objects of a resource. */
  readonly historyOf: (resource: GroupResource) => History;
  /** How far that log has been followed. */
  readonly progressOf: (resource: GroupResource) => LogProgress;
  /** Resources with logs of their own, whose revisions have numbers of their own. Absent: none. */
  readonly elsewhere?: readonly GroupResource[];
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly authorizer: Authorizer;
  readonly births: Births;
  /** Maps each of these rows to the row that caused it, as far as the rows themselves show that. */
  readonly causesAmong: (rows: readonly LoggedRevision[]) => Promise<ReadonlyMap<Revision, Revision>>;
}

export const HISTORY_API = 'history.cluster.io/v1alpha1';

/** The resource whose log contains everything that has no log of its own. */
export const REVISIONS: GroupResource = { group: 'history.cluster.io', resource: 'revisions' };
