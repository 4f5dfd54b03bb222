import type { GroupResource } from '../api/names.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';
import type { Attribution, ChangeWithPrevious, MAX_PAGE_BYTES, WriteVerb } from './revision-log.ts';

/** History answers questions about the past, as far back as it is kept: revisions by time, and rows of the log. */
export interface History {
  /**
   * Returns the newest revision at a moment (RFC 3339), or undefined when the kept history begins later. Compares with the clock
   * that dates the log: a moment of the next minute is not 'future', because clocks of clients differ.
   */
  revisionAt(moment: string): Promise<Revision | 'future' | undefined>;
  /** Where history begins. */
  begin(): Promise<HistoryBegin>;
  /** The newest revision. */
  newest(): Promise<Revision>;
  /**
   * A page of the log.
   * @throws StorageError compacted, when `after` or one of `revisions` is older than the history that is kept; unavailable
   */
  rows(query: LogQuery): Promise<LogPage>;
}

/** The same history, with other rows. */
export const withRows = (history: History, rows: History['rows']): History => ({
  revisionAt: (moment) => history.revisionAt(moment),
  begin: () => history.begin(),
  newest: () => history.newest(),
  rows,
});

export interface HistoryBegin {
  /** The state at this revision is kept; writes are kept from the next one on. */
  readonly revision: Revision;
  /** When it was the newest revision; undefined before the first write. */
  readonly at: Date | undefined;
}

/** Which rows to return, and what of them. Absent conditions match all. */
export interface LogQuery {
  /** Only these, at most {@link MAX_LOG_ROWS}. */
  readonly revisions?: readonly Revision[];
  /** Only these objects; excludes resource, namespace, name and all other conditions but the range. */
  readonly objects?: readonly ObjectKey[];
  readonly resource?: GroupResource;
  /** '': cluster-scoped objects. */
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly user?: string;
  readonly manager?: string;
  readonly verb?: WriteVerb;
  readonly requestId?: string;
  /** Exclusive; by default where history begins. */
  readonly after?: Revision;
  /** Inclusive; by default the newest. */
  readonly upTo?: Revision;
  readonly order: 'newest first' | 'oldest first';
  /** At most {@link MAX_LOG_ROWS}; a shorter page may still have a next one. */
  readonly limit: number;
  /** Approximate size of a page's states; one row always fits. By default {@link MAX_PAGE_BYTES}. */
  readonly mostBytes?: number;
  /** Which states a row carries, decoded: none, the written one, or that and the one before it. */
  readonly states: 'none' | 'written' | 'both';
}

export const MAX_LOG_ROWS = 1000;

export interface LogPage {
  readonly rows: readonly LoggedRevision[];
  /**
   * Undefined after the last page, else the last revision looked at. The next page has `upTo` one below it or, oldest first,
   * `after` equal to it.
   */
  readonly next: Revision | undefined;
}

/** A row of the log with its author. Without states, `json` is empty and `previousJson` undefined. */
export interface LoggedRevision extends ChangeWithPrevious {
  /** `committedAt` in RFC 3339 with microseconds. */
  readonly at: string;
  readonly attribution: Attribution;
  /** The media type of the previous state, where that is not stored as JSON. */
  readonly previousStoredAs?: string;
  /** The previous state is older than the kept history. */
  readonly previousGone?: boolean;
}
