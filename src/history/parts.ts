import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupResource } from '../api/names.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Registry } from '../registry/registry.ts';
import type { History, LoggedRevision } from '../storage/history.ts';
import type { LogProgress } from '../storage/log-progress.ts';
import type { Revision } from '../storage/revision.ts';
import type { Store } from '../storage/store.ts';
import type { Births } from '../verbs/incarnations.ts';

/** What history is told from. */
export interface HistoryParts {
  /** What is there now. */
  readonly store: Store;
  /** The log that has the objects of a resource. */
  readonly historyOf: (resource: GroupResource) => History;
  /** How far that log has been followed. */
  readonly progressOf: (resource: GroupResource) => LogProgress;
  /** Resources that have logs of their own, in which the same numbers are other revisions. Absent: none has. */
  readonly elsewhere?: readonly GroupResource[];
  readonly registry: Registry;
  readonly types: TypeLibrary;
  readonly authorizer: Authorizer;
  readonly births: Births;
  /** Which of these rows answer which, as far as that is told by the rows themselves. */
  readonly causesAmong: (rows: readonly LoggedRevision[]) => Promise<ReadonlyMap<Revision, Revision>>;
}

export const HISTORY_API = 'history.cluster.io/v1alpha1';

/** Whose log is that of everything which is kept nowhere else. */
export const REVISIONS: GroupResource = { group: 'history.cluster.io', resource: 'revisions' };
