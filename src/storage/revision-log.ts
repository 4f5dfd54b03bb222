import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import type { PoolValue } from './allocations.ts';
import type { ObjectKey, Scope } from './key.ts';
import type { ResourceSet } from './resource-set.ts';
import type { Revision } from './revision.ts';

/**
 * The seam between storage and serving: the log, as storage/postgres implements it and storage/watch-cache builds a Store on it
 * (store.ts). Values go in and values come out, and nothing is shared but bytes that nobody changes, so each of the three could
 * be asked from another thread. Other questions of serving to the database are rare and have their own contracts:
 * allocations.ts, server-leases.ts, signing-keys.ts.
 */
export interface RevisionLog {
  /** Commit. */
  readonly committer: Committer;
  /** Changes. */
  readonly feed: ChangeFeed;
  /** The current revision, and the state and history up to it. */
  readonly reader: RevisionReader;
}

/** An object in another form than JSON, as the columns `encoded` and `media_type` have it. */
export interface EncodedBytes {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

export type WriteVerb = 'create' | 'update' | 'delete';

/** Who wrote, kept on the revision's row for people who read history in SQL. `requestId` is the audit id. */
export interface Attribution {
  readonly username: string;
  readonly userAgent: string;
  readonly sourceAddress: string;
  readonly requestId: string;
  readonly fieldManager: string;
}

/** One write that wants to become a revision. */
export interface Write {
  readonly verb: WriteVerb;
  readonly key: ObjectKey;
  readonly uid: string;
  /** The revision the live object must be at. Undefined for a create: there must be no live object. */
  readonly expected: Revision | undefined;
  /**
   * The object in stored form: canonical JSON that begins `{"kind":…,"apiVersion":…,"metadata":{` and has no
   * metadata.resourceVersion (codec/stored-object.ts). For a delete, the object's last state.
   */
  readonly json: Buffer;
  /** The same object as it is to be stored, where that is not as JSON. */
  readonly encoded?: EncodedBytes;
  readonly attribution: Attribution;
  /** When the object ends by itself (Events). */
  readonly expiresAt?: Date;
  /** Every value the object holds from now on, each once; what it held besides is released. Absent: nothing changes hands. */
  readonly holds?: readonly Hold[];
  /** A write that nobody waits for any more, and that is not on its way yet, is not made. */
  readonly caller?: Pick<Caller, 'aborted'>;
}

export interface Hold extends PoolValue {
  /** From before this write, which then does not contest it. */
  readonly kept: boolean;
}

export interface Committer {
  /**
   * Resolves once the write is durable in PostgreSQL. An answer lost on the way is looked up by write id, never guessed.
   * @throws StorageError exists, not-found, conflict, taken, too-large, overloaded, unavailable, unknown, abandoned
   */
  commit(write: Write): Promise<Revision>;
}

/** One row: the state of one object as of one revision. */
export interface StoredObject {
  readonly key: ObjectKey;
  readonly revision: Revision;
  readonly uid: string;
  /** Empty as long as it is `encoded`. */
  readonly json: Buffer;
  /** What the database has in place of JSON. */
  readonly encoded?: EncodedBytes;
  /** The media type of what was `encoded`. */
  readonly storedAs?: string;
  /** Why it cannot be decoded. There is no `json` then. */
  readonly unreadable?: string;
}

/** One row of the log as watchers need it. `previous` is undefined for a create. */
export interface Change extends StoredObject {
  readonly verb: WriteVerb;
  readonly previous: Revision | undefined;
  readonly committedAt: Date;
}

/** A change with the state before it, for watches that are served from SQL. */
export interface ChangeWithPrevious extends Change {
  /** Empty as long as it is `previousEncoded`. */
  readonly previousJson: Buffer | undefined;
  readonly previousEncoded?: EncodedBytes;
  readonly previousUnreadable?: string;
  /** Of both states in the database, where that is not the size of their JSON. */
  readonly storedBytes?: number;
}

export interface HistoricalPage {
  readonly objects: readonly StoredObject[];
  /** How many follow: 0 when there are none, undefined when there are some, but too many to count. */
  readonly remaining: number | undefined;
}

export interface RevisionReader {
  /** The newest committed revision. One round trip. */
  currentRevision(): Promise<Revision>;
  /**
   * Everything at or below this revision may have lost superseded states; of a resource with a shorter history, everything of that
   * resource. NO_REVISION when nothing was compacted.
   */
  compactedRevision(resource?: GroupResource): Promise<Revision>;
  /** One live object straight from the tables. */
  get(key: ObjectKey): Promise<StoredObject | undefined>;
  /**
   * All live objects of all resources on one consistent snapshot, in batches: ordered by (group, resource, namespace, name), but
   * for some of those written last, which follow by revision. `begin` is called first, with the revision of that snapshot, and
   * once more when what came so far is to be forgotten, because it is read anew from another host. `which`: of these resources only.
   */
  loadCurrent(
    begin: (revision: Revision) => void,
    batch: (objects: readonly StoredObject[]) => void,
    which?: ResourceSet,
  ): Promise<void>;
  /**
   * The objects of a resource as they were at a revision, ordered by (namespace, name), those after `after` only.
   * @throws StorageError compacted
   */
  listAt(query: HistoricalList): Promise<HistoricalPage>;
  /**
   * Changes of a resource with `after < revision ≤ upTo`, oldest first: a page, as {@link mayHaveMore} says.
   * @throws StorageError compacted when `after` is older than the history that is kept
   */
  changesBetween(query: ChangeQuery): Promise<ChangeWithPrevious[]>;
}

/** A page of changes ends with the one that makes it so large, or larger. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Whether a page ended because of its bounds, in number or bytes, rather than for want of changes. */
export function mayHaveMore(page: readonly SizedChange[], limit: number): boolean {
  if (page.length >= limit) return true;
  let sizeBytes = 0;
  for (const change of page) sizeBytes += storedBytesOf(change);
  return sizeBytes >= MAX_PAGE_BYTES;
}

type SizedChange = StoredObject & Partial<ChangeWithPrevious>;

/** What the states of a change take in the database. */
export function storedBytesOf(change: SizedChange): number {
  const { json, encoded, previousJson, previousEncoded, storedBytes } = change;
  if (storedBytes !== undefined) return storedBytes;
  const previous = previousEncoded?.bytes ?? previousJson;
  return (encoded?.bytes ?? json).length + (previous?.length ?? 0);
}

export interface HistoricalList {
  readonly resource: GroupResource;
  readonly scope: Scope;
  readonly revision: Revision;
  /** Exclusive position (key.ts) after which to begin. */
  readonly after?: string;
  readonly limit: number;
}

export interface ChangeQuery {
  readonly resource: GroupResource;
  readonly scope: Scope;
  readonly after: Revision;
  readonly upTo: Revision;
  readonly limit: number;
}

export interface ChangeFeed {
  /**
   * Delivers every change after `from`, in revision order, each exactly once, until the signal aborts. Reconnects, catches
   * up and falls back to polling by itself.
   */
  run(from: Revision, sink: ChangeSink, signal: AbortSignal): Promise<void>;
  /** Somebody waits for a change that is known to be there: where changes are polled, they are asked for now. */
  hurry(): void;
}

export interface ChangeSink {
  /** Applied synchronously; what returned may be acknowledged to PostgreSQL. */
  apply(changes: readonly Change[]): void;
  /**
   * The history after the last applied revision cannot be had: it was compacted, or the database lost commits in a
   * failover. The sink drops everything, loads afresh and resolves with the revision to go on from.
   */
  reset(reason: 'compacted' | 'rewound'): Promise<Revision>;
}
