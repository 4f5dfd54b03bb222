import type { GroupResource } from '../api/names.ts';
import type { Caller } from '../request/api-request.ts';
import type { ObjectKey, Scope } from './key.ts';
import type { Revision } from './revision.ts';
import type { Write } from './revision-log.ts';

/**
 * Store is what the verbs work with: consistent reads, lists on snapshots, watches, commits. storage/watch-cache implements it over
 * a RevisionLog. Object bytes are shared as stored: a caller must not change a Buffer from here.
 */
export interface Store {
  /** @throws StorageError future, unavailable, unreadable, abandoned */
  get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined>;
  /** @throws StorageError compacted, future, unavailable, unreadable, abandoned */
  list(query: ListQuery): Promise<ListPage>;
  /**
   * Resolves when the watch can surely be served from its start. After the signal has aborted, the stream is empty.
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

/** One object as the cache holds it. The fields below `json` are read from it on first use. */
export interface Entry {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly revision: Revision;
  /** Stored form: canonical JSON without metadata.resourceVersion. */
  readonly json: Buffer;
  /** The size of `json`, which may be compressed in memory: reading `json` inflates it. */
  readonly sizeBytes: number;
  /** Where the metadata ends in the bytes, its closing brace included. */
  readonly metadataEnd: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Values of the resource's selectable fields, by field name, as its definition gives them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly ownerUids: readonly string[];
  /** The object would now be stored in other bytes, so that an update without changes is still a change. */
  readonly isOutdated?: boolean | Promise<boolean>;
}

/** A value that all requested objects have in a selectable field, or as a label. Not ''. */
export interface SoughtValue {
  readonly of: 'field' | 'label';
  readonly name: string;
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
  /** Conditions that `matches` implies, the most useful first: the store may find objects and watchers by them. */
  readonly sought?: readonly SoughtValue[];
  /** Leaves out unreadable objects, which are an error otherwise. */
  readonly around?: boolean;
}

export interface ListPage {
  /** The revision of the snapshot. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** Position of the last entry looked at, when more may follow. */
  readonly next?: string;
  /** How many objects follow; known only without a filter, and for past pages only when few. */
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
  /** As in {@link ListQuery}. */
  readonly sought?: readonly SoughtValue[];
  /** As in {@link ListQuery}, for the state that the watch begins with. */
  readonly around?: boolean;
  /** Sends a bookmark about every second, while the reader keeps up. */
  readonly bookmarks: boolean;
  /** After it has aborted, the watch ends as soon as its reader has all changes that were applied by then. */
  readonly retired?: AbortSignal;
}

/**
 * WatchEvent is one event of a watch. All watchers share the same object: 10,000 of them cost a call each, no allocation and no
 * promise.
 */
export type WatchEvent = SharedEvent | Bookmark | InitialEventsEnd;

export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/**
 * `entry` is the object to show: for DELETED its last state or, when it left the selector, the state before the change. `revision`
 * is the change's; the shown object carries it as resourceVersion.
 */
export interface ObjectEvent {
  readonly type: ObjectEventType;
  readonly entry: Entry;
  readonly revision: Revision;
}

export interface SharedEvent extends ObjectEvent {
  /** Returns the event's bytes, encoded for the first watcher that asks and shared with those that ask soon after. */
  encoded(encoding: Encoding): Buffer;
}

/** `encode` must depend on the event alone: encodings with the same id share their bytes. */
export interface Encoding {
  readonly id: string;
  encode(event: ObjectEvent): Buffer;
}

/** The watcher has seen everything up to this revision. */
export interface Bookmark {
  readonly type: 'BOOKMARK';
  readonly revision: Revision;
}

/** The state that the watch began with is complete, as of this revision. */
interface InitialEventsEnd {
  readonly type: 'INITIAL_EVENTS_END';
  readonly revision: Revision;
}

/**
 * Takes one event; must not wait. Returns undefined when it can take the next one, else a promise to wait for. The store keeps
 * nothing for a waiting reader: it rereads what was missed from memory or history.
 */
export type TakeEvent = (event: WatchEvent) => Promise<void> | undefined;

/**
 * The events of one watch, in order, until the signal aborts. Read it once: by iteration, in batches of what came since the last
 * one, or by {@link deliver}, which passes on each event in the turn in which the store applies it.
 */
export interface EventStream extends AsyncIterable<readonly WatchEvent[]> {
  /** @throws StorageError compacted, when the reader fell behind the history; what `take` threw */
  deliver(take: TakeEvent): Promise<void>;
}
