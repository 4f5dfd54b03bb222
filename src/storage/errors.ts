import type { PoolValue } from './allocations.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';

/**
 * StorageFailure says why there is no result. The verbs translate it to Status in one place (verbs/storage-status.ts).
 *
 * - exists: a create met a live object.
 * - not-found: an update or delete met no live object.
 * - conflict: the live object is at another revision than the write expected.
 * - compacted: the requested revision is older than the kept history, or newer than all revisions, from a lost history (410).
 * - future: the requested revision did not come within the time storage waits for one (504).
 * - unavailable: PostgreSQL could not do it in time; the request may be right, and nothing was written. Without `because`
 *   PostgreSQL could not be reached.
 * - unknown: storage could not find out in time whether the write was made. Sending it again may make it twice.
 * - too-large: the object cannot be stored.
 * - overloaded: the writes that wait fill their memory; nothing was done.
 * - abandoned: the caller stopped waiting, and nothing was done.
 * - taken: another object holds a value that the write claimed.
 * - unreadable: the stored bytes of these objects cannot be decoded.
 * - unwritable: the object cannot be encoded for the database, and nothing was written.
 * - moved: the resource is in another database, or is about to be, and nothing was written. A watch has delivered all up to `after`;
 *   without that it has to begin anew (routed-store.ts).
 */
export type StorageFailure =
  | { readonly kind: 'exists'; readonly key: ObjectKey; readonly current: Revision }
  | { readonly kind: 'not-found'; readonly key: ObjectKey }
  | { readonly kind: 'conflict'; readonly key: ObjectKey; readonly current: Revision }
  | { readonly kind: 'compacted'; readonly requested: Revision; readonly compacted: Revision }
  | { readonly kind: 'future'; readonly requested: Revision; readonly current: Revision }
  | Unavailable
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'too-large'; readonly sizeBytes: number; readonly limitBytes: number }
  | { readonly kind: 'taken'; readonly key: ObjectKey; readonly value: PoolValue }
  | { readonly kind: 'unreadable'; readonly objects: readonly UnreadableObject[] }
  | { readonly kind: 'unwritable'; readonly reason: string }
  | { readonly kind: 'moved'; readonly after?: Revision };

type FailureOf<Kind extends StorageFailure['kind']> = Extract<StorageFailure, { readonly kind: Kind }>;

export interface Unavailable {
  readonly kind: 'unavailable';
  /** For the log alone. */
  readonly reason: string;
  readonly because?: Shortage | undefined;
}

/** What a reachable database lacks. */
export type Shortage = 'disk' | 'memory' | 'connections' | 'writes' | 'schema' | 'time';

export interface UnreadableObject {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly revision: Revision;
  readonly reason: string;
}

export class StorageError extends Error {
  readonly failure: StorageFailure;

  constructor(failure: StorageFailure, options?: ErrorOptions) {
    super(`storage: ${failure.kind}`, options);
    this.name = 'StorageError';
    this.failure = failure;
  }
}

/** Returns why storage failed where that is of this kind; undefined for any other error. */
export function failureOf<Kind extends StorageFailure['kind']>(
  error: unknown,
  kind: Kind,
): FailureOf<Kind> | undefined {
  const isOfKind = (failure: StorageFailure): failure is FailureOf<Kind> => failure.kind === kind;
  return error instanceof StorageError && isOfKind(error.failure) ? error.failure : undefined;
}
