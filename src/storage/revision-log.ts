import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import type { PoolValue } from './allocations.ts';
import type { PackedBytes } from './compressed-block.ts';
import type { ObjectKey, Scope } from './key.ts';
import type { ResourceSet } from './resource-set.ts';
import type { Revision } from './revision.ts';

/**
 * RevisionLog is the seam between storage and serving: storage/postgres implements it, storage/watch-cache builds a Store on it
 * (store.ts). Only values cross it, and shared bytes are never changed, so each of the three could be called from another thread.
 * Rarer questions of serving to the database have contracts of their own: allocations.ts, server-leases.ts, signing-keys.ts.
 */
export interface RevisionLog {
  readonly committer: Committer;
  readonly feed: ChangeFeed;
  /** Reads the current revision, and the state and history up to it. */
  readonly reader: RevisionReader;
}

/** An object in another form than JSON, as in the columns `encoded` and `media_type`. */
export interface EncodedBytes {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

export type WriteVerb = 'create' | 'update' | 'delete';

/** The author of a write, kept on the revision's row for readers of history in SQL. `requestId` is the audit id. */
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
  /** The same object as the database stores it, when not as JSON. */
  readonly encoded?: EncodedBytes;
  readonly attribution: Attribution;
  /** When the object expires (Events). */
  readonly expiresAt?: Date;
  /** All values the object holds from now on, each once; others it held are released. Absent: nothing changes hands. */
  readonly holds?: readonly Hold[];
  /** A write whose caller has aborted before it was sent is not made. */
  readonly caller?: Pick<Caller, 'aborted'>;
}

export interface Hold extends PoolValue {
  /** Held before this write, which then does not contest it. */
  readonly kept: boolean;
}

export interface Committer {
  /**
   * Resolves once the write is durable in PostgreSQL. A lost answer is looked up by write id, never guessed.
   * @throws StorageError exists, not-found, conflict, taken, too-large, overloaded, unavailable, unknown, abandoned
   */
  commit(write: Write): Promise<Revision>;
}

/** One row: the state of one object as of one revision. */
export interface StoredObject {
  readonly key: ObjectKey;
  readonly revision: Revision;
  readonly uid: string;
  /** Empty while `encoded` or `packed` is set. */
  readonly json: Buffer;
  /** What the database stores instead of JSON. */
  readonly encoded?: EncodedBytes;
  /** Its JSON as a part of bytes that another thread has compressed. */
  readonly packed?: { readonly bytes: PackedBytes; readonly part: number };
  /** The media type that `encoded` had. */
  readonly storedAs?: string;
  /** Why it cannot be decoded; `json` is then empty. */
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
  /** Empty while `previousEncoded` is set. */
  readonly previousJson: Buffer | undefined;
  readonly previousEncoded?: EncodedBytes;
  readonly previousUnreadable?: string;
  /** The size of both states in the database, where their JSON has another. */
  readonly storedBytes?: number;
}

export interface HistoricalPage {
  readonly objects: readonly StoredObject[];
  /** How many follow: 0 at the end, undefined when there are too many to count. */
  readonly remaining: number | undefined;
}

export interface RevisionReader {
  /** Returns the newest committed revision, in one round trip. `reads`: how many wait for it; 1 by default. */
  currentRevision(reads?: number): Promise<Revision>;
  /**
   * Everything at or below this revision may have lost superseded states; of a resource with a shorter history, everything of that
   * resource. NO_REVISION when nothing was compacted.
   */
  compactedRevision(resource?: GroupResource): Promise<Revision>;
  /** One live object straight from the tables. */
  get(key: ObjectKey): Promise<StoredObject | undefined>;
  /**
   * Reads all live objects on one consistent snapshot, in batches ordered by (group, resource, namespace, name), except some of the
   * last written, which follow by revision. Calls `begin` first, with the snapshot's revision, and again when the batches so far
   * are void because another host is read anew. `which` limits it to these resources.
   */
  loadCurrent(
    begin: (revision: Revision) => void,
    batch: (objects: readonly StoredObject[]) => void,
    which?: ResourceSet,
  ): Promise<void>;
  /**
   * Returns the objects of a resource as of a revision, ordered by (namespace, name), those after `after` only.
   * @throws StorageError compacted
   */
  listAt(query: HistoricalList): Promise<HistoricalPage>;
  /**
   * Returns a page of a resource's changes with `after < revision ≤ upTo`, oldest first ({@link mayHaveMore}).
   * @throws StorageError compacted when `after` is older than the kept history
   */
  changesBetween(query: ChangeQuery): Promise<ChangeWithPrevious[]>;
}

/** A page of changes ends with the one that reaches this size. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Whether a page ended at its bounds, in number or bytes, so that more changes may follow. */
export function mayHaveMore(page: readonly SizedChange[], limit: number): boolean {
  if (page.length >= limit) return true;
  let sizeBytes = 0;
  for (const change of page) sizeBytes += storedBytesOf(change);
  return sizeBytes >= MAX_PAGE_BYTES;
}

type SizedChange = StoredObject & Partial<ChangeWithPrevious>;

/** Returns the size of a change's states in the database. */
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
  /** Exclusive position (key.ts) to begin after. */
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
  /** Polls at once, where changes are polled: a caller waits for a change that is committed. */
  hurry(): void;
}

/** Objects of a resource whose bytes were compressed together, in the order of the parts. */
export interface PackedObjects {
  readonly resource: GroupResource;
  readonly bytes: PackedBytes;
  /** As in key.ts. */
  readonly positions: readonly string[];
  readonly revisions: readonly Revision[];
}

export interface ChangeSink {
  /** Applies changes synchronously; afterwards they may be acknowledged to PostgreSQL. */
  apply(changes: readonly Change[]): void;
  /** Takes the bytes of objects in place of those that it has. Called where another thread compresses. */
  pack?(packed: PackedObjects): void;
  /**
   * Called when the history after the last applied revision is gone: compacted, or lost by the database in a failover. The sink
   * drops everything, loads afresh and returns the revision to go on from.
   */
  reset(reason: 'compacted' | 'rewound'): Promise<Revision>;
}
