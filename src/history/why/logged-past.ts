import type { JsonObject } from '../../api/json.ts';
import type { GroupResource } from '../../api/names.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { StorageError } from '../../storage/errors.ts';
import type { History, HistoryBegin, LoggedRevision, LogQuery } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { type Revision, toRevision } from '../../storage/revision.ts';
import { storedBytesOf } from '../../storage/revision-log.ts';
import { endTurn } from '../../util/concurrency.ts';
import type { Past, PastWrite, Stretch } from './past.ts';

/** Rows that a step may read, over all its searches: what is further back is hardly what a controller answered. */
export const ROWS_OF_STEP = 400;
/** How far back a search through a resource goes. */
const NEAR = 20_000n;
/** Most searches find what they look for in the first rows. */
const FIRST_PAGE = 8;
const LARGEST_PAGE = 64;
/** Parsing as much takes some milliseconds. Then others have their turn. */
const BYTES_OF_TURN = 512 * 1024;

export interface LoggedPastParts {
  readonly history: Pick<History, 'rows'>;
  readonly begin: HistoryBegin;
  readonly find: Past['find'];
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** What one step of an explanation may read of the log. */
export class LoggedPast implements Past {
  readonly #parts: LoggedPastParts;
  #rowsLeft = ROWS_OF_STEP;
  #bytes = 0;
  #isCut = false;

  constructor(parts: LoggedPastParts) {
    this.#parts = parts;
  }

  find(reference: { readonly group: string; readonly kind: string }): ReturnType<Past['find']> {
    return this.#parts.find(reference);
  }

  ofName({ group, resource, namespace, name }: ObjectKey, stretch: Stretch): AsyncIterable<PastWrite> {
    return this.#pages({ resource: { group, resource }, namespace, name }, stretch);
  }

  ofResource(resource: GroupResource, namespace: string, stretch: Stretch): AsyncIterable<PastWrite> {
    const near = toRevision(stretch.before > NEAR ? stretch.before - NEAR : 0n);
    const { after = near } = stretch;
    return this.#pages({ resource, namespace }, { ...stretch, after: after > near ? after : near });
  }

  beyond(): string {
    if (this.#isCut)
      return `further back than the ${ROWS_OF_STEP} revisions that are looked at for one answer`;
    const { revision, at } = this.#parts.begin;
    const moment = at === undefined ? '' : ` (${at.toISOString()})`;
    return `not in the history that is kept, which begins with revision ${revision}${moment}`;
  }

  async *#pages(query: Partial<LogQuery>, { before, after }: Stretch): AsyncGenerator<PastWrite> {
    const { begin, signal } = this.#parts;
    const from = after === undefined || after < begin.revision ? begin.revision : after;
    let upTo: Revision | undefined = toRevision(before - 1n);
    for (let size = FIRST_PAGE; upTo !== undefined && upTo > from; size = Math.min(size * 4, LARGEST_PAGE)) {
      signal.throwIfAborted();
      const limit = Math.min(size, this.#rowsLeft);
      this.#isCut ||= limit === 0;
      if (limit === 0) return;
      const page = await this.#read({
        ...query,
        after: from,
        upTo,
        limit,
        order: 'newest first',
        states: 'both',
      });
      if (page === undefined) return;
      this.#rowsLeft -= Math.max(1, page.rows.length);
      for (const row of page.rows) {
        yield new LoggedWrite(row);
        await this.#share(row);
      }
      upTo = page.next === undefined ? undefined : toRevision(page.next - 1n);
    }
  }

  /** Undefined: history was compacted meanwhile. */
  async #read(query: LogQuery) {
    try {
      return await this.#parts.history.rows(query);
    } catch (error) {
      if (error instanceof StorageError && error.failure.kind === 'compacted') return undefined;
      throw error;
    }
  }

  async #share(row: LoggedRevision): Promise<void> {
    this.#bytes += storedBytesOf(row);
    if (this.#bytes < BYTES_OF_TURN) return;
    this.#bytes = 0;
    await endTurn();
  }
}

/** A row, parsed when a rule looks into it. */
export class LoggedWrite implements PastWrite {
  readonly row: LoggedRevision;
  #was: JsonObject | undefined;
  #is: JsonObject | undefined;

  constructor(row: LoggedRevision) {
    this.row = row;
  }

  get revision() {
    return this.row.revision;
  }

  get verb() {
    return this.row.verb;
  }

  get key() {
    return this.row.key;
  }

  get uid() {
    return this.row.uid;
  }

  get at() {
    return this.row.committedAt;
  }

  get user() {
    return this.row.attribution.username;
  }

  get userAgent() {
    return this.row.attribution.userAgent;
  }

  get manager() {
    return this.row.attribution.fieldManager;
  }

  get requestId() {
    return this.row.attribution.requestId;
  }

  get was() {
    const { previousJson } = this.row;
    this.#was ??= previousJson === undefined ? undefined : parse(previousJson);
    return this.#was;
  }

  get is() {
    this.#is ??= parse(this.row.json);
    return this.#is;
  }
}

/** The row of a write that came from the log. */
export function rowOf(write: PastWrite): LoggedRevision {
  if (write instanceof LoggedWrite) return write.row;
  throw new Error(`revision ${write.revision} is not from the log`);
}

/** Undefined for what cannot be decoded. */
const parse = (json: Buffer): JsonObject | undefined => (json.length === 0 ? undefined : parseStored(json));
