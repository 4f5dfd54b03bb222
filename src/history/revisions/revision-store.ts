import type { JsonObject } from '../../api/object-meta.ts';
import type { Revision as RevisionObject } from '../../api/types/history/v1alpha1.ts';
import { parseStored } from '../../codec/stored-object.ts';
import type { AuthorizedResourceRequest, Caller } from '../../request/api-request.ts';
import { restoredBy } from '../../request/restored.ts';
import { AddedEvent } from '../../storage/added-event.ts';
import { DeliveredEvents } from '../../storage/delivered-events.ts';
import { failureOf, StorageError } from '../../storage/errors.ts';
import {
  type History,
  type LoggedRevision,
  type LogPage,
  type LogQuery,
  MAX_LOG_ROWS,
} from '../../storage/history.ts';
import { type ObjectKey, toPosition } from '../../storage/key.ts';
import { type Revision, toResourceVersion, toRevision } from '../../storage/revision.ts';
import type {
  Entry,
  EventStream,
  Freshness,
  ListFreshness,
  ListPage,
  ListQuery,
  Store,
  WatchQuery,
} from '../../storage/store.ts';
import { Pace } from '../../util/turns.ts';
import { beforeHistory } from '../../verbs/as-of.ts';
import { readBoolean } from '../../verbs/query-options.ts';
import { secrecyOf } from '../masking.ts';
import { HISTORY_API, type HistoryParts, REVISIONS } from '../parts.ts';
import { assertMayRead, ReadRights } from '../read-rights.ts';
import { findByNumber, parseName } from '../revision-by-number.ts';
import {
  assertInHistory,
  fieldsOf,
  type NameResource,
  namesOf,
  type RowConditions,
  readAsOfRevision,
  readConditions,
  readRange,
} from '../revision-query.ts';
import { RowPresenter } from '../row-presenter.ts';
import { toSeconds, toVirtualEntry } from '../virtual-entry.ts';
import { least, positionOf, RevisionPage } from './revision-page.ts';
import { RevisionWatch } from './revision-watch.ts';
import type { SharedRows } from './shared-rows.ts';

/** Revisions on a page, unless the client sets a limit. */
const USUAL_LIMIT = 500;
/**
 * Pages of the log that one request searches for rows that are visible and selected. Then its page ends with a continue
 * token.
 */
const MAX_PAGES = 10;
/** For how long a watch caches authorization decisions. */
const REMEMBERED_MS = 5000;

/** The rows of the log that one client may see, newest first. */
export class RevisionStore implements Pick<Store, 'get' | 'list' | 'watch'> {
  readonly #parts: HistoryParts;
  readonly #request: AuthorizedResourceRequest;
  readonly #presenter: RowPresenter;
  readonly #conditions: RowConditions;
  readonly #nameOf: NameResource;
  readonly #history: History;
  /** `?states=true`: each revision carries the object as the write left it, for clients that read many. */
  readonly #hasStates: boolean;
  readonly #sharedOf: (history: History) => SharedRows;

  /**
   * `sharedOf`: the rows that watches of a log share.
   * @throws StatusError 400 for selectors that cannot be parsed
   */
  constructor(
    parts: HistoryParts,
    request: AuthorizedResourceRequest,
    sharedOf: (history: History) => SharedRows,
  ) {
    this.#sharedOf = sharedOf;
    this.#parts = parts;
    this.#request = request;
    this.#presenter = new RowPresenter(parts);
    this.#conditions = readConditions(request.query, parts.registry);
    this.#nameOf = namesOf(request.query, parts.registry);
    this.#hasStates = readBoolean(request.query, 'states') ?? false;
    this.#history = parts.historyOf(this.#conditions.resource ?? REVISIONS);
  }

  async get(key: ObjectKey, _freshness: Freshness, _caller?: Caller): Promise<Entry | undefined> {
    const asOf = await readAsOfRevision(this.#request.query, this.#history);
    const row = await findByNumber(key.name, this.#conditions.resource, this.#parts);
    if (row === undefined || (asOf !== undefined && row.revision > asOf)) return undefined;
    const rights = new ReadRights(this.#request, this.#parts);
    await assertMayRead(row, rights, this.#request);
    return this.#entryOf(row, rights);
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { scope, freshness, matches } = query;
    // A continue token names the revision of the first page.
    const asOf =
      query.after === undefined ? await readAsOfRevision(this.#request.query, this.#history) : undefined;
    const revision = asOf ?? (await this.#revisionOf(freshness));
    const { after, upTo } = await readRange(this.#request.query, this.#history);
    const rights = new ReadRights(this.#request, this.#parts);
    const named = scope.name === undefined ? {} : { revisions: [parseName(scope.name)] };
    const range = {
      ...(after === undefined ? {} : { after }),
      upTo: least(revision, upTo, positionOf(query.after)),
    };
    const limit = query.limit === 0 ? USUAL_LIMIT : query.limit;
    const page = new RevisionPage(limit);
    let rowsAtOnce = Math.min(MAX_LOG_ROWS, limit + 1);
    let next: Revision | undefined = range.upTo;
    const isOver = (): boolean => page.isFull || rights.isSpent;
    for (let pages = 0; next !== undefined && pages < MAX_PAGES && !isOver(); pages += 1) {
      const asked: LogQuery = {
        ...this.#conditions,
        ...named,
        ...range,
        upTo: next,
        order: 'newest first',
        states: 'none',
        limit: rowsAtOnce,
      };
      const found = await this.#findRows(asked);
      const { seen, left } = await this.#visible(found.rows, matches, rights);
      // Few rows were visible: read more at a time.
      rowsAtOnce = Math.min(MAX_LOG_ROWS, 4 * rowsAtOnce);
      const rest = await this.#presentInto(page, seen, rights);
      next = rest ?? left ?? (found.next === undefined ? undefined : toRevision(found.next - 1n));
      if (this.#request.aborted) throw new StorageError({ kind: 'abandoned' });
    }
    if (next === undefined) await this.#assertKept(range.upTo);
    return {
      revision,
      entries: page.entries,
      ...(next === undefined ? {} : { next: toPosition({ namespace: '', name: String(next + 1n) }) }),
    };
  }

  /** Returns the selected rows that the client may see, and the first one for which no more questions may be asked. */
  async #visible(
    rows: readonly LoggedRevision[],
    matches: ListQuery['matches'],
    rights: ReadRights,
  ): Promise<{ readonly seen: readonly LoggedRevision[]; readonly left: Revision | undefined }> {
    const seen: LoggedRevision[] = [];
    for (const row of rows) {
      if (rights.isSpent) return { seen, left: row.revision };
      if (matches?.(toLightEntry(row, this.#nameOf)) !== false && (await rights.mayRead(row))) seen.push(row);
    }
    return { seen, left: undefined };
  }

  /** The newest revision that the answer includes. @throws StorageError compacted, future */
  async #revisionOf(freshness: ListFreshness): Promise<Revision> {
    const newest = await this.#history.newest();
    if (freshness.kind === 'latest' || freshness.kind === 'any') return newest;
    const { kind, revision } = freshness;
    await assertInHistory(revision, this.#history, newest);
    return kind === 'exact' ? revision : newest;
  }

  /** Adds rows to the page. Returns where to continue when the page is full. */
  async #presentInto(
    page: RevisionPage,
    rows: readonly LoggedRevision[],
    rights: ReadRights,
  ): Promise<Revision | undefined> {
    const pace = new Pace({ stepsBetween: 1 });
    let left = rows;
    while (left.length > 0) {
      if (page.isFull) return left[0]?.revision;
      const wanted = left.slice(0, page.room).map(({ revision }) => revision);
      const kept = await this.#readKept(wanted);
      const read = new Map(kept.map((row) => [row.revision, row]));
      let taken = 0;
      for (const { revision } of left.slice(0, wanted.length)) {
        const row = read.get(revision);
        // The other rows exceeded the size of one read.
        if (row === undefined || page.isFull) break;
        if (pace.isOver()) await pace.rest();
        page.add(await this.#entryOf(row, rights));
        taken += 1;
      }
      // Rows that were compacted meanwhile end the list.
      if (taken === 0) return undefined;
      left = left.slice(taken);
    }
    return undefined;
  }

  /** Reads revisions, without those that were compacted since they were found. */
  async #readKept(revisions: readonly Revision[]): Promise<readonly LoggedRevision[]> {
    const query = { order: 'newest first', states: 'both', limit: revisions.length } as const;
    let kept = revisions;
    while (kept.length > 0)
      try {
        return (await this.#history.rows({ ...query, revisions: kept })).rows;
      } catch (error) {
        const failure = failureOf(error, 'compacted');
        if (failure === undefined) throw error;
        kept = kept.filter((revision) => revision > failure.compacted);
      }
    return [];
  }

  /**
   * Checks that history still reaches back to `upTo`: otherwise the list would silently lack compacted rows.
   * @throws StatusError 410
   */
  async #assertKept(upTo: Revision): Promise<void> {
    const { revision: begin } = await this.#history.begin();
    if (begin > upTo) throw await beforeHistory('continue', this.#history);
  }

  /** @throws StatusError 410 when the revision of `since` was compacted meanwhile */
  async #findRows(query: LogQuery): Promise<LogPage> {
    try {
      return await this.#history.rows(query);
    } catch (error) {
      if (query.after === undefined || failureOf(error, 'compacted') === undefined) throw error;
      throw await beforeHistory('since', this.#history);
    }
  }

  async watch({ start, matches, bookmarks }: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const progress = this.#parts.progressOf(this.#conditions.resource ?? REVISIONS);
    // A watch without a revision begins now: a list returns older rows.
    const isNamed = start.kind === 'after';
    const revision = isNamed ? start.revision : await this.#history.newest();
    const shared = this.#sharedOf(this.#history);
    const begin = await shared.begin();
    if (isNamed && revision < begin.revision && begin.at !== undefined)
      throw new StorageError({ kind: 'compacted', requested: revision, compacted: begin.revision });
    const rights = new ReadRights(this.#request, this.#parts, REMEMBERED_MS);
    const watch = new RevisionWatch({
      history: this.#history,
      shared,
      progress,
      conditions: this.#conditions,
      bookmarks,
      after: revision < begin.revision ? begin.revision : revision,
      announcesBegin: !isNamed,
      toEvent: async (row) => {
        const isSelected = matches?.(toLightEntry(row, this.#nameOf)) !== false;
        if (!isSelected || !(await rights.mayRead(row))) return undefined;
        // An event with restricted values, or with a state, is made for each client.
        if (this.#hasStates || (await secrecyOf(row, rights)) !== 'none')
          return new AddedEvent(await this.#entryOf(row, rights));
        return shared.event(row, () => this.#entryOf(row, rights));
      },
    });
    return new DeliveredEvents((take, until) => watch.run(take, until), signal);
  }

  async #entryOf(row: LoggedRevision, rights: ReadRights): Promise<Entry> {
    const { object, changes, isTruncated, isUnknown, generation } = await this.#presenter.present(
      row,
      rights,
    );
    const { attribution } = row;
    const { username: user, fieldManager: manager, userAgent, sourceAddress, requestId } = attribution;
    const restored = restoredBy(attribution);
    const state = this.#hasStates ? await this.#stateOf(row, rights) : undefined;
    const made: RevisionObject = {
      kind: 'Revision',
      apiVersion: HISTORY_API,
      metadata: { name: String(row.revision), creationTimestamp: toSeconds(row.at) },
      object,
      verb: row.verb,
      at: row.at,
      user,
      ...(manager === '' ? {} : { manager }),
      ...(userAgent === '' ? {} : { userAgent }),
      ...(sourceAddress === '' ? {} : { sourceAddress }),
      ...(requestId === '' ? {} : { requestID: requestId }),
      ...(row.previous === undefined ? {} : { previous: String(row.previous) }),
      ...(generation === undefined ? {} : { generation }),
      ...(changes.length === 0 ? {} : { changes: [...changes] }),
      ...(isTruncated ? { changesTruncated: true } : {}),
      ...(isUnknown ? { changesUnknown: true } : {}),
      ...(restored === undefined ? {} : { restored }),
      ...(state === undefined ? {} : { state }),
    };
    return toVirtualEntry(made, row.revision, fieldsOf(row));
  }

  /** Undefined: the write left none, or it cannot be read, or this client may not see all of it. */
  async #stateOf(row: LoggedRevision, rights: ReadRights): Promise<JsonObject | undefined> {
    const { verb, unreadable, json, revision } = row;
    if (verb === 'delete' || unreadable !== undefined) return undefined;
    if ((await secrecyOf(row, rights)) !== 'none') return undefined;
    return { ...parseStored(json, toResourceVersion(revision)) };
  }
}

/** The fields that selectors match, of a row whose states are not read yet. */
function toLightEntry(row: LoggedRevision, nameOf: NameResource): Entry {
  const { revision, uid, json } = row;
  const name = String(revision);
  const fields = { ...fieldsOf(row, nameOf), 'metadata.name': name, 'metadata.namespace': '' };
  return {
    namespace: '',
    name,
    uid,
    revision,
    json,
    sizeBytes: json.length,
    fields,
    metadataEnd: 0,
    labels: {},
    ownerUids: [],
  };
}
