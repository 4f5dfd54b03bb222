import type { JsonObject } from '../../api/json.ts';
import type { GroupResource } from '../../api/names.ts';
import { StoredState } from '../../codec/stored-state.ts';
import { failureOf } from '../../storage/errors.ts';
import type { History, HistoryBegin, LoggedRevision, LogQuery } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { type Revision, toRevision } from '../../storage/revision.ts';
import { storedBytesOf } from '../../storage/revision-log.ts';
import { endTurn, isLarge } from '../../util/turns.ts';
import type { Past, PastWrite, Stretch } from './past.ts';

/** Rows that a step may read, over all its searches: a controller hardly answers what is further back. */
const ROWS_OF_STEP = 400;
/** Bytes of states that a step may read, where objects are large. */
const BYTES_OF_STEP = 32 * 1024 * 1024;
/** How many revisions back a search through a resource goes. */
const NEAR = 20_000n;
/** The same for a search through a user's writes. */
const VERY_NEAR = 2000n;
/** Most searches find a match in the first rows. */
const FIRST_PAGE = 8;
const LARGEST_PAGE = 64;
/** Parsing as much takes some milliseconds. Then other work runs. */
const BYTES_OF_TURN = 512 * 1024;

interface LoggedPastParts {
  readonly history: Pick<History, 'rows'>;
  readonly begin: HistoryBegin;
  readonly find: Past['find'];
  /** Whether a resource's history has an order of its own, which does not compare with this one. Absent: none has. */
  isElsewhere?(resource: GroupResource): boolean;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** LoggedPast is what one step may read of the log. */
export class LoggedPast implements Past {
  readonly #parts: LoggedPastParts;
  #rowsLeft = ROWS_OF_STEP;
  #bytesLeft = BYTES_OF_STEP;
  #bytesOfTurn = 0;
  #isCut = false;
  #isElsewhere = false;

  constructor(parts: LoggedPastParts) {
    this.#parts = parts;
  }

  find(reference: { readonly group: string; readonly kind: string }): ReturnType<Past['find']> {
    return this.#parts.find(reference);
  }

  ofName({ group, resource, namespace, name }: ObjectKey, stretch: Stretch): AsyncIterable<PastWrite> {
    return this.#ofResource({ resource: { group, resource }, namespace, name }, stretch);
  }

  ofResource(resource: GroupResource, namespace: string, stretch: Stretch): AsyncIterable<PastWrite> {
    return this.#ofResource({ resource, namespace }, within(NEAR, stretch));
  }

  async *#ofResource(
    query: Partial<LogQuery> & { readonly resource: GroupResource },
    stretch: Stretch,
  ): AsyncGenerator<PastWrite> {
    if (this.#parts.isElsewhere?.(query.resource)) this.#isElsewhere = true;
    else yield* this.#pages(query, stretch);
  }

  ofAuthor(user: string, namespace: string, stretch: Stretch): AsyncIterable<PastWrite> {
    return this.#pages({ user, namespace }, within(VERY_NEAR, stretch));
  }

  beyond(): string {
    if (this.#isCut)
      return `further back than is looked at for one answer: ${ROWS_OF_STEP} revisions, or ${BYTES_OF_STEP / 1024 / 1024} MB`;
    if (this.#isElsewhere) return 'in another database, whose revisions have an order of their own';
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
      if (limit === 0 || this.#bytesLeft <= 0) {
        this.#isCut = true;
        return;
      }
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
      for (const row of page.rows) this.#bytesLeft -= storedBytesOf(row);
      for (const write of toWrites(page.rows)) {
        yield write;
        await this.#share(write.row);
      }
      upTo = page.next === undefined ? undefined : toRevision(page.next - 1n);
    }
  }

  /** Undefined when history was compacted meanwhile. */
  async #read(query: LogQuery) {
    try {
      return await this.#parts.history.rows(query);
    } catch (error) {
      if (failureOf(error, 'compacted') !== undefined) return undefined;
      throw error;
    }
  }

  async #share(row: LoggedRevision): Promise<void> {
    this.#bytesOfTurn += storedBytesOf(row);
    if (this.#bytesOfTurn < BYTES_OF_TURN) return;
    this.#bytesOfTurn = 0;
    await endTurn();
  }
}

function within(distance: bigint, { before, after }: Stretch): Stretch {
  const near = toRevision(before > distance ? before - distance : 0n);
  return { before, after: after !== undefined && after > near ? after : near };
}

/** Takes rows newest first. A state that two of them have is parsed once. */
export function toWrites(rows: readonly LoggedRevision[]): LoggedWrite[] {
  const writes = new Map<Revision, LoggedWrite>();
  for (const row of rows.toReversed())
    writes.set(
      row.revision,
      new LoggedWrite(row, row.previous === undefined ? undefined : writes.get(row.previous)),
    );
  return [...writes.values()].reverse();
}

/** A row, parsed when a rule looks into it. */
export class LoggedWrite implements PastWrite {
  readonly row: LoggedRevision;
  readonly #previous: LoggedWrite | undefined;
  #was: JsonObject | undefined;
  #is: JsonObject | undefined;

  /** `previous` is the write of the state before, where at hand. */
  constructor(row: LoggedRevision, previous?: LoggedWrite) {
    this.row = row;
    this.#previous = previous;
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
    if (previousJson === undefined) return undefined;
    this.#was ??= this.#previous?.is ?? parse(previousJson);
    return this.#was;
  }

  /** Parses the states of a large row, one in a turn, before rules look into it without waiting. */
  async parse(): Promise<void> {
    const isPaced = isLarge(this.row.json.length);
    if (isPaced && this.is !== undefined) await endTurn();
    if (isPaced && this.was !== undefined) await endTurn();
  }

  get is() {
    this.#is ??= parse(this.row.json);
    return this.#is;
  }
}

/** Returns the row of a write from the log. */
export function rowOf(write: PastWrite): LoggedRevision {
  if (write instanceof LoggedWrite) return write.row;
  throw new Error(`revision ${write.revision} is not from the log`);
}

/** Returns undefined for what cannot be decoded. */
const parse = (json: Buffer): JsonObject | undefined =>
  json.length === 0 ? undefined : StoredState.of(json).object;
