import type { ValueSchema } from '../../api/schema.ts';
import { badRequest } from '../../api/status.ts';
import type { Blame, BlamedField } from '../../api/types/history/v1alpha1.ts';
import { StoredState } from '../../codec/stored-state.ts';
import type { AuthorizedResourceRequest } from '../../request/api-request.ts';
import { StorageError } from '../../storage/errors.ts';
import type { History, LoggedRevision, LogPage, LogQuery } from '../../storage/history.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { type Revision, toRevision } from '../../storage/revision.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { endTurn, inOwnTurn, inTurns, isLarge, Pace } from '../../util/turns.ts';
import { changesBetween, type Leaf, leavesOf } from '../changes.ts';
import { parseDiffering } from '../differing-fields.ts';
import { fieldPath } from '../field-paths.ts';
import { isSecretPath, secrecyOf } from '../masking.ts';
import { parseReference } from '../object-reference.ts';
import { HISTORY_API, type HistoryParts } from '../parts.ts';
import { assertMayRead, assertMayReadNow, ReadRights } from '../read-rights.ts';
import { readAsOfRevision } from '../revision-query.ts';
import { RowPresenter } from '../row-presenter.ts';
import { toVirtualEntry } from '../virtual-entry.ts';
import { FieldSetters } from './field-setters.ts';

/** Most revisions that one request reads to find setters, and bytes of their states: some tens of milliseconds. */
const MAX_REVISIONS = 5000;
const MAX_BYTES = 64 * 1024 * 1024;

type Author = Pick<LoggedRevision, 'at' | 'attribution'>;

type BlamedState = Pick<LoggedRevision, 'key' | 'json' | 'uid' | 'revision' | 'unreadable'>;

interface FoundSetters {
  readonly setters: FieldSetters;
  readonly authors: ReadonlyMap<Revision, Author>;
}

/** Answers who set each field of one object, for one client. */
export class BlameStore implements Pick<Store, 'get'> {
  readonly #parts: HistoryParts;
  readonly #request: AuthorizedResourceRequest;
  readonly #presenter: RowPresenter;

  constructor(parts: HistoryParts, request: AuthorizedResourceRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#presenter = new RowPresenter(parts);
  }

  async get({ name }: ObjectKey): Promise<Entry | undefined> {
    const key = parseReference(name, this.#parts.registry);
    const history = this.#parts.historyOf(key);
    const rights = new ReadRights(this.#request, this.#parts);
    await assertMayReadNow(key, rights, this.#request);
    const upTo = (await readAsOfRevision(this.#request.query, history)) ?? (await history.newest());
    // The state of a revision is that of its last row.
    await assertMayRead({ key, revision: toRevision(upTo + 1n) }, rights, this.#request);
    return this.#blame(name, key, { history, rights, upTo });
  }

  async #blame(
    name: string,
    key: ObjectKey,
    { history, rights, upTo }: { history: History; rights: ReadRights; upTo: Revision },
  ): Promise<Entry | undefined> {
    const walk = new Walk(key, history, upTo);
    const [newest] = await walk.next();
    const state = newest ?? (await this.#stateBefore(key, upTo));
    if (state === undefined || (newest !== undefined && newest.verb === 'delete')) return undefined;
    if (state.unreadable !== undefined)
      throw badRequest(`name: the object cannot be read: ${state.unreadable}`);
    const schema = this.#presenter.schemaOf(state);
    const { object } = StoredState.of(state.json);
    if (isLarge(state.json.length)) await endTurn();
    const leaves = await inTurns(leavesOf(object, schema));
    const found = await this.#lookBack(walk, newest, { leaves, schema });
    return this.#toEntry(name, state, { ...found, leaves, rights, walk });
  }

  /** Finds the setters of the leaves, as far back as the walk reaches. */
  async #lookBack(
    walk: Walk,
    newest: LoggedRevision | undefined,
    { leaves, schema }: { leaves: readonly Leaf[]; schema: ValueSchema | undefined },
  ): Promise<FoundSetters> {
    const authors = new Map<Revision, Author>();
    const setters = new FieldSetters(leaves);
    const pace = new Pace({ stepsBetween: 1 });
    for (let row = newest; row !== undefined && !setters.isDone; ) {
      if (pace.isOver()) await pace.rest();
      if (this.#request.aborted) throw new StorageError({ kind: 'abandoned' });
      const before = await walk.before(row);
      if (row.unreadable !== undefined || before === 'unreadable') break;
      authors.set(row.revision, { at: row.at, attribution: row.attribution });
      const [old, after] = await parseDiffering(
        row.verb === 'create' ? undefined : before?.json,
        row.verb === 'delete' ? undefined : row.json,
        (field) => setters.isOpen(fieldPath('', field)),
      );
      const { changes } = await inTurns(changesBetween(old, after, schema, Number.POSITIVE_INFINITY));
      await inTurns(setters.take(row.revision, changes));
      row = (await walk.next())[0];
    }
    return { setters, authors };
  }

  async #toEntry(
    name: string,
    state: BlamedState,
    {
      setters,
      authors,
      leaves,
      rights,
      walk,
    }: FoundSetters & { leaves: Leaf[]; rights: ReadRights; walk: Walk },
  ): Promise<Entry> {
    const secrecy = await secrecyOf(state, rights);
    const fieldOf = ({ path, value }: Leaf): BlamedField => {
      const revision = setters.setterOf(path);
      const author = revision === undefined ? undefined : authors.get(revision);
      const isHidden = secrecy === 'all' || (secrecy === 'secret' && isSecretPath(path));
      return {
        path,
        ...(isHidden ? { hidden: true } : { value }),
        ...(revision === undefined || author === undefined
          ? {}
          : { revision: String(revision), ...toAuthor(author) }),
      };
    };
    const lookedBackTo = walk.endedAt;
    const isPaced = isLarge(state.json.length);
    const fields = await inOwnTurn(isPaced, () => leaves.map(fieldOf));
    if (isPaced) await endTurn();
    const result: Blame = {
      kind: 'Blame',
      apiVersion: HISTORY_API,
      metadata: { name },
      object: this.#presenter.objectOf(state),
      revision: String(state.revision),
      fields,
      ...(lookedBackTo === undefined || setters.isDone ? {} : { lookedBackTo: String(lookedBackTo) }),
    };
    return toVirtualEntry(result, state.revision);
  }

  /** The state of an object that has no row within the history that is kept. */
  async #stateBefore(key: ObjectKey, revision: Revision): Promise<BlamedState | undefined> {
    const { namespace, name } = key;
    const { entries } = await this.#parts.store.list({
      resource: key,
      scope: { namespace, name },
      freshness: { kind: 'exact', revision },
      limit: 0,
      caller: this.#request,
    });
    const [entry] = entries;
    return entry === undefined
      ? undefined
      : { key, uid: entry.uid, revision: entry.revision, json: entry.json };
  }
}

/** Walks the revisions of one object, newest first. */
class Walk {
  readonly #history: History;
  readonly #query: LogQuery;
  #rows: LoggedRevision[] = [];
  /** The next page, requested while the previous one is read. */
  #coming: Promise<LogPage> | undefined;
  #isOver = false;
  #revisions = 0;
  #sizeBytes = 0;
  /** The first revision left unread, because the walk reached its limits. */
  endedAt: Revision | undefined;

  constructor({ group, resource, namespace, name }: ObjectKey, history: History, upTo: Revision) {
    this.#history = history;
    this.#query = {
      resource: { group, resource },
      namespace,
      name,
      upTo,
      order: 'newest first',
      states: 'written',
      limit: 500,
    };
  }

  get #isAtEnd(): boolean {
    return this.#revisions >= MAX_REVISIONS || this.#sizeBytes >= MAX_BYTES;
  }

  /** Returns the next row, or none at the end. */
  async next(): Promise<readonly LoggedRevision[]> {
    if (this.#isAtEnd) {
      this.endedAt = (await this.#peek())?.revision;
      return [];
    }
    const row = await this.#peek();
    if (row === undefined) return [];
    this.#rows.shift();
    this.#revisions += 1;
    this.#sizeBytes += row.json.length;
    return [row];
  }

  /** The state before the row that was just returned. */
  async before({ revision, previous }: LoggedRevision): Promise<LoggedRevision | 'unreadable' | undefined> {
    if (previous === undefined) return undefined;
    const older = await this.#peek();
    if (older?.revision === previous) return older.unreadable === undefined ? older : 'unreadable';
    // The previous state is older than the history that is kept, but the row still has it.
    const query = { revisions: [revision], order: 'newest first', limit: 1, states: 'both' } as const;
    const [row] = (await this.#history.rows(query)).rows;
    if (row?.previousJson === undefined || row.previousUnreadable !== undefined) return 'unreadable';
    return { ...row, json: row.previousJson };
  }

  async #peek(): Promise<LoggedRevision | undefined> {
    while (this.#rows.length === 0 && !this.#isOver) {
      const page = await (this.#coming ?? this.#history.rows(this.#query));
      this.#rows = [...page.rows];
      this.#isOver = page.next === undefined || this.#isAtEnd;
      this.#coming =
        page.next === undefined || this.#isOver
          ? undefined
          : this.#history.rows({ ...this.#query, upTo: toRevision(page.next - 1n) });
      // Prevents an unhandled rejection; a caller that awaits the page still sees the error.
      this.#coming?.catch(() => {});
    }
    return this.#rows[0];
  }
}

const toAuthor = ({ at, attribution }: Author): Pick<BlamedField, 'at' | 'user' | 'manager'> => ({
  at,
  user: attribution.username,
  ...(attribution.fieldManager === '' ? {} : { manager: attribution.fieldManager }),
});
