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
  /** @throws StorageError future, unavailable, unreadable, abandoned */
  get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined>;
  /** @throws StorageError compacted, future, unavailable, unreadable, abandoned */
  list(query: ListQuery): Promise<ListPage>;
  /**
   * Resolves when it is known that the watch can be served from its start. After the signal has aborted, the stream is empty.
   * @throws StorageError compacted, future, unavailable, unreadable
   */
  watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream>;
  /** @throws StorageError exists, not-found, conflict, taken, too-large, unwritable, overloaded, unavailable, unknown, abandoned */
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
  /** The object would be stored in other bytes today, so that an update that changes nothing is a change all the same. */
  readonly isOutdated?: boolean;
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
  /** Leaves out what cannot be read. Without it, that is an error. */
  readonly around?: boolean;
}

export interface ListPage {
  /** The revision of the snapshot. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** Position of the last entry looked at, when more may follow. */
  readonly next?: string;
  /** How many objects follow; only known when nothing was filtered, and of pages of the past when they are few. */
  readonly remaining?: number;
}

export interface WatchQuery {
  readonly resource: GroupResource;
  readonly scope: Scope;
  /**
   * `after`: changes after the revision only. `state`: the current state as ADDED events (at least as new as the
   * freshness asks) and its end, then changes.
   */
  readonly start:
    | { readonly kind: 'after'; readonly revision: Revision }
    | { readonly kind: 'state'; readonly freshness: Freshness };
  readonly matches?: (entry: Entry) => boolean;
  /** As in {@link ListQuery}, for the state that the watch begins with. */
  readonly lookUp?: FieldValue;
  /** As in {@link ListQuery}, for the state that the watch begins with. */
  readonly around?: boolean;
  /** About every second a bookmark, while the reader keeps up. */
  readonly bookmarks: boolean;
}

/**
 * What one watcher is told. The same event is the same object for all watchers: 10,000 of them cost a call each, no
 * allocation and no promise.
 */
export type WatchEvent = SharedEvent | Bookmark | InitialEventsEnd;

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * `entry` is the object to show: for DELETED its last state, which for an object that left the selector is the state before
 * the change. `revision` is the change's, and what the shown object carries as resourceVersion.
 */
export interface ObjectEvent {
  readonly type: ObjectEventType;
  readonly entry: Entry;
  readonly revision: Revision;
}

export interface SharedEvent extends ObjectEvent {
  /** The event in an encoding: made for the first watcher that asks, and the same bytes for those that ask soon after it. */
  encoded(encoding: Encoding): Buffer;
}

/** `encode` must depend on nothing but the event: encodings with the same id share their bytes. */
export interface Encoding {
  readonly id: string;
  encode(event: ObjectEvent): Buffer;
}

/** The watcher knows everything up to this revision. */
export interface Bookmark {
  readonly type: 'BOOKMARK';
  readonly revision: Revision;
}

/** The state that the watch began with is complete, as of this revision. */
export interface InitialEventsEnd {
  readonly type: 'INITIAL_EVENTS_END';
  readonly revision: Revision;
}

/**
 * Takes one event; must not wait. Answers undefined when it can take the next one, or what it waits for before that. Nothing is
 * kept for a reader that waits: the store reads again what it has missed, from its memory or from history.
 */
export type TakeEvent = (event: WatchEvent) => Promise<void> | undefined;

/**
 * The events of one watch, in order, until the signal aborts. It is read once, in one of two ways: by iteration, in batches
 * of what has come since the last one, or by {@link deliver}, which hands over each event in the turn in which the store applies it.
 */
export interface EventStream extends AsyncIterable<readonly WatchEvent[]> {
  /** @throws StorageError compacted, when the reader fell behind the history; what `take` threw */
  deliver(take: TakeEvent): Promise<void>;
}
