import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import type { ObjectKey, Scope } from './key.ts';
import type { Revision } from './revision.ts';
import type { Write } from './revision-log.ts';

/**
 * What the verbs work with: consistent reads, lists on snapshots, watches, commits. Implemented by storage/watch-cache
 * over a RevisionLog. Object bytes are handed out as stored; nobody may change a Buffer received from here.
 */
export interface Store {
  /** @throws StorageError future, unavailable, abandoned */
  get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined>;
  /** @throws StorageError compacted, future, unavailable, abandoned */
  list(query: ListQuery): Promise<ListPage>;
  /**
   * Serves one watch until the signal aborts (resolves) or it must end (throws).
   * @throws StorageError compacted (before or in the middle), future, unavailable
   */
  watch(query: WatchQuery, signal: AbortSignal): Promise<void>;
  /** @throws StorageError exists, not-found, conflict, taken, too-large, overloaded, unavailable, unknown, abandoned */
  commit(write: Write): Promise<Revision>;
}

/**
 * How new a read must be. `latest`: at least the newest revision committed when the read began (one shared query).
 * `any`: what the cache has. `not-older`: waits until the cache has reached the revision. `exact`: lists only.
 */
export type Freshness =
  | { readonly kind: 'latest' }
  | { readonly kind: 'any' }
  | { readonly kind: 'not-older'; readonly revision: Revision };

export type ListFreshness = Freshness | { readonly kind: 'exact'; readonly revision: Revision };

/** One object as the cache holds it. What follows `json` is read from it when first asked for. */
export interface Entry {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: Revision;
  /** Stored form: canonical JSON without metadata.resourceVersion. */
  readonly json: Buffer;
  /** Where the metadata ends in the bytes, its closing brace included. */
  readonly metadataEnd: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Values of the resource's selectable fields, by field name, as its definition gives them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly ownerUids: readonly string[];
}

/** A field, and the value that everything asked for has in it; not ''. */
export interface FieldValue {
  readonly field: string;
  readonly value: string;
}

export interface ListQuery {
  readonly resource: GroupResource;
  readonly scope: Scope;
  readonly freshness: ListFreshness;
  /** Exclusive position (key.ts) to go on after. */
  readonly after?: string;
  /** 0: no limit. */
  readonly limit: number;
  readonly caller?: Caller;
  /** Undefined: everything matches. */
  readonly matches?: (entry: Entry) => boolean;
  /** What follows from `matches`, where looking it up is better than looking at everything. */
  readonly lookUp?: FieldValue;
}

export interface ListPage {
  /** The revision of the snapshot. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** Position of the last entry looked at, when more may follow. */
  readonly next?: string;
  /** How many objects follow; only known when nothing was filtered. */
  readonly remaining?: number;
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * What one watcher is told. `entry` is the object to show: for DELETED its last state, which for an object that left the
 * selector is the state before the change. `revision` is the change's, and what the shown object carries as resourceVersion.
 */
export interface WatchEvent {
  readonly type: WatchEventType;
  readonly entry: Entry;
  readonly revision: Revision;
}

/**
 * Turns events into bytes. Frames of the same event, type and encoder `id` are encoded once and shared by all watchers, so
 * `encode` must depend on nothing else.
 */
export interface FrameEncoder {
  readonly id: string;
  encode(event: WatchEvent): Buffer;
  /** `initialEventsEnd`: this bookmark ends the initial events of a streaming list. */
  bookmark(revision: Revision, initialEventsEnd: boolean): Buffer;
}

/** Where frames go. `write` returns false when its buffer is full; the watcher is then set aside until `drained` resolves. */
export interface FrameSink {
  write(frame: Buffer): boolean;
  drained(): Promise<void>;
}

export interface WatchQuery {
  readonly resource: GroupResource;
  readonly scope: Scope;
  /**
   * `after`: changes after the revision only. `state`: the current state as ADDED events (at least as new as the
   * freshness asks), then changes.
   */
  readonly start:
    | { readonly kind: 'after'; readonly revision: Revision }
    | { readonly kind: 'state'; readonly freshness: Freshness };
  readonly matches?: (entry: Entry) => boolean;
  /** As in {@link ListQuery}, for the state that the watch begins with. */
  readonly lookUp?: FieldValue;
  readonly encoder: FrameEncoder;
  readonly sink: FrameSink;
  /** Bookmarks about every minute, and one just before `deadline`. */
  readonly bookmarks: boolean;
  /** A bookmark marked as the end of the initial events follows them (sendInitialEvents with bookmarks). */
  readonly initialEventsEnd: boolean;
  /** When the caller will abort, in epoch milliseconds. */
  readonly deadline: number;
  /** Called once, when the start is known to be servable and before the first frame: time to send the response's head. */
  readonly onStart: () => void;
  /** Called once, after the state or the changes there were already have been sent. */
  readonly onInitialized?: () => void;
}
