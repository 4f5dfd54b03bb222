import type { GroupResource } from '../api/names.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';
import type { Attribution, ChangeWithPrevious, MAX_PAGE_BYTES, WriteVerb } from './revision-log.ts';

/** Questions about the past: when the log was where, and what is in it. Answers are about the history that is kept. */
export interface History {
  /**
   * The newest revision that was there at a moment (RFC 3339); undefined when the history that is kept begins later. The clock that
   * dates the log decides what is in the future: a moment of the next minute is not, because clocks of clients differ.
   */
  revisionAt(moment: string): Promise<Revision | 'future' | undefined>;
  /** Where it begins. */
  begin(): Promise<HistoryBegin>;
  /** The newest revision. */
  newest(): Promise<Revision>;
  /**
   * A page of the log.
   * @throws StorageError compacted, when `after` or one of `revisions` is older than the history that is kept; unavailable
   */
  rows(query: LogQuery): Promise<LogPage>;
}

export interface HistoryBegin {
  /** Its state is known; what was written is known from the next one on. */
  readonly revision: Revision;
  /** When that was the newest one; undefined: before anybody wrote. */
  readonly at: Date | undefined;
}

/** Which rows, and what of them. Absent conditions let everything pass. */
export interface LogQuery {
  /** These alone. At most {@link MAX_LOG_ROWS}. */
  readonly revisions?: readonly Revision[];
  /** Of these alone; then resource, namespace and name must not be given, nor other conditions but the range. */
  readonly objects?: readonly ObjectKey[];
  readonly resource?: GroupResource;
  /** '': what belongs to none. */
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly user?: string;
  readonly manager?: string;
  readonly verb?: WriteVerb;
  readonly requestId?: string;
  /** Exclusive. Where history begins unless given. */
  readonly after?: Revision;
  /** Inclusive. The newest unless given. */
  readonly upTo?: Revision;
  readonly order: 'newest first' | 'oldest first';
  /** At most {@link MAX_LOG_ROWS}; a page may be shorter and go on all the same. */
  readonly limit: number;
  /** Of the states of a page, about; one row comes always. {@link MAX_PAGE_BYTES} unless given. */
  readonly mostBytes?: number;
  /** Which states come with a row, decoded: none, the one that was written, or that and the one before it. */
  readonly states: 'none' | 'written' | 'both';
}

export const MAX_LOG_ROWS = 1000;

export interface LogPage {
  readonly rows: readonly LoggedRevision[];
  /**
   * Undefined: there is nothing more. Else the last revision that was looked at: `upTo` of the next page is the one below it, or, the
   * oldest first, its `after` is this.
   */
  readonly next: Revision | undefined;
}

/** A row of the log with who wrote it. Without states, `json` is empty and `previousJson` undefined. */
export interface LoggedRevision extends ChangeWithPrevious {
  /** As `committedAt`, RFC 3339 with microseconds. */
  readonly at: string;
  readonly attribution: Attribution;
  /** The media type of the state before, where the database does not have it as JSON. */
  readonly previousStoredAs?: string;
  /** There was a state before, and it is older than the history that is kept. */
  readonly previousGone?: boolean;
}
