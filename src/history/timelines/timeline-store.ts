import type { JsonObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import type {
  RecordedObject,
  TimelineEntry,
  TimelineEvent,
  Timeline as TimelineObject,
} from '../../api/types/history/v1alpha1.ts';
import { StoredState } from '../../codec/stored-state.ts';
import { numberOf, objectOf, stringOf } from '../../object/json-values.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';
import { StorageError } from '../../storage/errors.ts';
import { type History, type LoggedRevision, type LogQuery, MAX_LOG_ROWS } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { parseRevision, type Revision, toRevision } from '../../storage/revision.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { Pace } from '../../util/turns.ts';
import { refuseAsOf } from '../../verbs/as-of.ts';
import { parseReference } from '../object-reference.ts';
import { HISTORY_API, type HistoryParts, REVISIONS } from '../parts.ts';
import { assertMayReadNow, ReadRights } from '../read-rights.ts';
import { readRange } from '../revision-query.ts';
import { RowPresenter } from '../row-presenter.ts';
import { toVirtualEntry } from '../virtual-entry.ts';
import { type Family, findFamily, isEvent } from './family.ts';

/** Entries on a page, unless the client sets a limit. */
const USUAL_LIMIT = 500;
const PAGE_BYTES = 8 * 1024 * 1024;
/** Pages of the log that one request searches for visible rows. */
const MAX_PAGES = 10;

const NAMESPACE = 'namespace:';

/** Answers the timeline of an object and its dependents, or of a namespace, for one client. */
export class TimelineStore implements Pick<Store, 'get'> {
  readonly #parts: HistoryParts;
  readonly #request: AuthorizedResourceRequest;
  readonly #presenter: RowPresenter;

  constructor(parts: HistoryParts, request: AuthorizedResourceRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#presenter = new RowPresenter(parts);
  }

  /** @throws StatusError 400 for asOf: since and until select the range */
  async get({ name }: ObjectKey): Promise<Entry | undefined> {
    const { query } = this.#request;
    refuseAsOf(query);
    const rights = new ReadRights(this.#request, this.#parts);
    const limit = readLimit(query);
    const page = name.startsWith(NAMESPACE)
      ? await this.#ofNamespace(name.slice(NAMESPACE.length), limit, rights)
      : await this.#ofObject(parseReference(name, this.#parts.registry), limit, rights);
    if (page === undefined) return undefined;
    const timeline: TimelineObject = {
      kind: 'Timeline',
      apiVersion: HISTORY_API,
      metadata: { name },
      entries: page.entries,
      ...(page.next === undefined ? {} : { continue: String(page.next) }),
    };
    return toVirtualEntry(timeline, page.revision);
  }

  async #ofNamespace(namespace: string, limit: number, rights: ReadRights): Promise<TimelinePage> {
    const history = this.#parts.historyOf(REVISIONS);
    const range = await this.#range(history);
    return this.#read({ history, rights, limit, range, which: { namespace }, isOurs: () => true });
  }

  async #ofObject(key: ObjectKey, limit: number, rights: ReadRights): Promise<TimelinePage | undefined> {
    await assertMayReadNow(key, rights, this.#request);
    const history = this.#parts.historyOf(key);
    const asked = await this.#range(history);
    const hidden = await rights.hiddenUpTo(key);
    const isCut = hidden !== undefined && (asked.after === undefined || asked.after < hidden);
    const range = isCut ? { ...asked, after: hidden } : asked;
    const family = await findFamily(key, { ...this.#parts, history, range, caller: this.#request });
    if (family === undefined) return undefined;
    const which = { objects: family.objects };
    return this.#read({ history, rights, limit, range, which, isOurs: (row) => isOfFamily(row, family) });
  }

  async #range(history: History): Promise<Range> {
    const { query } = this.#request;
    const { after, upTo } = await readRange(query, history);
    const newest = await history.newest();
    const goesOn = readContinue(query);
    const from = goesOn ?? after;
    return {
      ...(from === undefined ? {} : { after: from }),
      upTo: upTo !== undefined && upTo < newest ? upTo : newest,
    };
  }

  async #read({ history, rights, limit, range, which, isOurs }: Reading): Promise<TimelinePage> {
    const entries: TimelineEntry[] = [];
    const shown: LoggedRevision[] = [];
    const pace = new Pace({ stepsBetween: 1 });
    let { after } = range;
    let sizeBytes = 0;
    let rowsAtOnce = Math.min(limit, MAX_LOG_ROWS);
    let isFull = false;
    for (let pages = 0; pages < MAX_PAGES && !isFull; pages += 1) {
      if (this.#request.aborted) throw new StorageError({ kind: 'abandoned' });
      const page = await history.rows({
        ...which,
        upTo: range.upTo,
        order: 'oldest first',
        states: 'both',
        limit: rowsAtOnce,
        ...(after === undefined ? {} : { after }),
      });
      // With a small limit, the end of the page must not reveal each row that is left out.
      rowsAtOnce = Math.max(rowsAtOnce, Math.min(USUAL_LIMIT, 4 * rowsAtOnce));
      let last = after;
      after = page.next;
      for (const row of page.rows) {
        if (pace.isOver()) await pace.rest();
        if (rights.isSpent) {
          after = last;
          isFull = true;
          break;
        }
        last = row.revision;
        if (!isOurs(row) || (isEvent(row.key) && row.verb === 'delete')) continue;
        if (!(await rights.mayRead(row))) continue;
        entries.push(await this.#toEntry(row, rights));
        if (!isEvent(row.key)) shown.push(row);
        sizeBytes += row.json.length;
        isFull = entries.length >= limit || sizeBytes >= PAGE_BYTES;
        if (!isFull) continue;
        if (row !== page.rows.at(-1)) after = row.revision;
        break;
      }
      if (after === undefined) break;
    }
    const causes = await this.#parts.causesAmong(shown);
    return { entries: entries.map((entry) => withCause(entry, causes)), next: after, revision: range.upTo };
  }

  async #toEntry(row: LoggedRevision, rights: ReadRights): Promise<TimelineEntry> {
    const { verb, at, attribution, revision } = row;
    const { username: user, fieldManager: manager } = attribution;
    const head = { revision: String(revision), at, user, ...(manager === '' ? {} : { manager }), verb };
    if (isEvent(row.key) && row.unreadable === undefined) return { ...head, ...toEventEntry(row) };
    const { object, changes, isTruncated } = await this.#presenter.present(row, rights);
    return {
      ...head,
      object,
      changes: [...changes],
      ...(isTruncated ? { changesTruncated: true } : {}),
    };
  }
}

interface Range {
  readonly after?: Revision;
  readonly upTo: Revision;
}

interface Reading {
  readonly history: History;
  readonly rights: ReadRights;
  readonly limit: number;
  readonly range: Range;
  readonly which: Pick<LogQuery, 'namespace' | 'objects'>;
  isOurs(row: LoggedRevision): boolean;
}

interface TimelinePage {
  readonly entries: TimelineEntry[];
  readonly next: Revision | undefined;
  readonly revision: Revision;
}

function withCause(entry: TimelineEntry, causes: ReadonlyMap<Revision, Revision>): TimelineEntry {
  const cause = causes.get(toRevision(entry.revision ?? ''));
  return cause === undefined ? entry : { ...entry, cause: String(cause) };
}

const isOfFamily = ({ key, uid }: LoggedRevision, { root, uids, events }: Family): boolean =>
  uids.has(uid) || events.has(uid) || (key.resource === root.resource && key.name === root.name);

/** The object that an Event is about, and its text. */
function toEventEntry(row: LoggedRevision): { object: RecordedObject; event: TimelineEvent } {
  const event = StoredState.of(row.json).object;
  const about = objectOf(event.involvedObject);
  const text = (of: Readonly<JsonObject>, field: string): Record<string, string> =>
    stringOf(of[field]) === '' ? {} : { [field]: stringOf(of[field]) };
  const apiVersion = stringOf(about.apiVersion);
  const slash = apiVersion.indexOf('/');
  const count = numberOf(event.count);
  return {
    object: {
      ...(slash < 0 ? {} : { group: apiVersion.slice(0, slash) }),
      version: apiVersion.slice(slash + 1),
      ...text(about, 'kind'),
      ...text(about, 'namespace'),
      ...text(about, 'name'),
      ...text(about, 'uid'),
    },
    event: {
      ...text(event, 'type'),
      ...text(event, 'reason'),
      ...text(event, 'message'),
      ...(Number.isSafeInteger(count) && count > 0 ? { count } : {}),
    },
  };
}

/** @throws StatusError 400 */
function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '';
  if (text === '' || text === '0') return USUAL_LIMIT;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(limit))
    throw badRequest(`limit: Invalid value: ${JSON.stringify(text)}: must be a number of entries`);
  return Math.min(limit, MAX_LOG_ROWS);
}

/** @throws StatusError 400 */
function readContinue(query: URLSearchParams): Revision | undefined {
  const text = query.get('continue') ?? '';
  if (text === '') return undefined;
  const revision = parseRevision(text);
  if (revision === undefined)
    throw badRequest(`continue: Invalid value: ${JSON.stringify(text)}: must be what the page before said`);
  return revision;
}
