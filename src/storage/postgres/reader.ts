import type pg from 'pg';
import { StorageError } from '../errors.ts';
import { type ObjectKey, parsePosition, type Scope } from '../key.ts';
import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import type {
  ChangeQuery,
  ChangeWithPrevious,
  HistoricalList,
  RevisionReader,
  StoredObject,
} from '../revision-log.ts';
import type { Database, DatabaseSource } from './connection.ts';
import { copyLive } from './load.ts';
import {
  CHANGE_COLUMNS,
  type ChangeRow,
  type LoggedChange,
  OBJECT_COLUMNS,
  type ObjectRow,
  toChange,
  toChangeWithPrevious,
  toStoredObject,
} from './rows.ts';
import { isConnectionFailure } from './statements.ts';

/** A page of the log as the tail reads it, with what tells whether the log still is the one that was read before. */
export interface TailPage {
  readonly changes: readonly LoggedChange[];
  readonly compacted: Revision;
  /** The write id of the row the page begins after; undefined when there is no such row. */
  readonly writeId: string | undefined;
}

export class PostgresReader implements RevisionReader {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  async currentRevision(): Promise<Revision> {
    const rows = await this.#query<{ revision: string }>(CURRENT_REVISION, [], 'current_revision');
    return toRevision(rows[0]?.revision ?? 0);
  }

  async compactedRevision(): Promise<Revision> {
    const rows = await this.#query<{ revision: string }>('SELECT revision FROM compaction', []);
    return toRevision(rows[0]?.revision ?? 0);
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    const values = [key.group, key.resource, key.namespace, key.name];
    const rows = await this.#query<ObjectRow>(GET, values, 'get');
    return rows[0] === undefined ? undefined : toStoredObject(rows[0]);
  }

  async loadCurrent(
    begin: (revision: Revision) => void,
    batch: (objects: readonly StoredObject[]) => void,
  ): Promise<void> {
    const client = await this.#database()
      .then(({ pool }) => pool.connect())
      .catch(rethrow);
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { rows } = await client.query<{ revision: string }>(CURRENT_REVISION);
      begin(toRevision(rows[0]?.revision ?? 0));
      await copyLive(client, batch);
      await client.query('COMMIT');
      client.release();
    } catch (error) {
      client.release(true);
      rethrow(error);
    }
  }

  async listAt(query: HistoricalList): Promise<{ objects: StoredObject[]; remaining: number }> {
    const { namespace, name } = query.scope;
    const after = query.after === undefined ? { namespace: '', name: '' } : parsePosition(query.after);
    const values = [
      query.resource.group,
      query.resource.resource,
      query.revision.toString(),
      namespace ?? null,
      name ?? null,
      after.namespace,
      after.name,
    ];
    const rows = await this.#query<ObjectRow>(LIST_AT, [...values, query.limit]);
    const objects = rows.map(toStoredObject);
    const remaining = objects.length < query.limit ? 0 : (await this.#countAt(values)) - objects.length;
    await this.#assertKept(query.revision);
    return { objects, remaining };
  }

  async #countAt(values: unknown[]): Promise<number> {
    const rows = await this.#query<{ count: string }>(COUNT_AT, values);
    return Number(rows[0]?.count ?? 0);
  }

  async changesBetween(query: ChangeQuery): Promise<ChangeWithPrevious[]> {
    const values = [
      query.resource.group,
      query.resource.resource,
      query.after.toString(),
      query.upTo.toString(),
      ...scopeValues(query.scope),
      query.limit,
    ];
    const rows = await this.#query<ChangeRow & { previous_object: string | null }>(CHANGES, values);
    await this.#assertKept(query.after);
    return rows.map(toChangeWithPrevious);
  }

  /** Changes of all resources after a revision, oldest first, all read on one snapshot: how the tail catches up. */
  async tailPage(after: Revision, limit: number): Promise<TailPage> {
    const rows = await this.#query<TailRow>(TAIL_PAGE, [after.toString(), limit], 'tail_page');
    return {
      changes: rows.filter(hasChange).map(toChange),
      compacted: toRevision(rows[0]?.compacted ?? 0),
      writeId: rows[0]?.after_write_id ?? undefined,
    };
  }

  /** Asked after reading, so that rows compacted while they were read are noticed too. */
  async #assertKept(requested: Revision): Promise<void> {
    const compacted = await this.compactedRevision();
    if (requested < compacted) throw new StorageError({ kind: 'compacted', requested, compacted });
  }

  /** Only what is asked all the time has a name; without one the planner looks at the values, which ranges need. */
  async #query<Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[],
    name?: string,
  ): Promise<Row[]> {
    try {
      const { pool, prepares }: Database = await this.#database();
      const named = name !== undefined && prepares ? { name } : {};
      return (await pool.query<Row>({ ...named, text, values })).rows;
    } catch (error) {
      rethrow(error);
    }
  }
}

function rethrow(error: unknown): never {
  if (!isConnectionFailure(error)) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  throw new StorageError({ kind: 'unavailable', reason }, { cause: error });
}

function scopeValues({ namespace, name }: Scope): (string | null)[] {
  return [namespace ?? null, name ?? null];
}

/** Compaction never deletes the newest row, so this is the newest revision ever committed; an empty log is at 0. */
const CURRENT_REVISION = `SELECT coalesce(max(revision), ${NO_REVISION}) AS revision FROM revisions`;

const GET = `
  SELECT ${OBJECT_COLUMNS}
  FROM heads h JOIN revisions r ON r.revision = h.revision
  WHERE h.api_group = $1 AND h.resource = $2 AND h.namespace = $3 AND h.name = $4`;

/** The newest row at or below the revision, for each key: the index revisions_by_object has them in this order. */
const AT = `
  SELECT DISTINCT ON (s.namespace, s.name) s.*
  FROM revisions s
  WHERE s.api_group = $1 AND s.resource = $2 AND s.revision <= $3
    AND ($4::text IS NULL OR s.namespace = $4) AND ($5::text IS NULL OR s.name = $5)
    AND (s.namespace, s.name) > ($6, $7)
  ORDER BY s.namespace, s.name, s.revision DESC`;

const LIST_AT = `SELECT ${OBJECT_COLUMNS} FROM (${AT}) r WHERE r.verb <> 'delete' ORDER BY r.namespace, r.name LIMIT $8`;

const COUNT_AT = `SELECT count(*) AS count FROM (${AT}) r WHERE r.verb <> 'delete'`;

const CHANGES = `
  SELECT ${CHANGE_COLUMNS}, p.object AS previous_object
  FROM revisions r LEFT JOIN revisions p ON p.revision = r.previous_revision
  WHERE r.api_group = $1 AND r.resource = $2 AND r.revision > $3 AND r.revision <= $4
    AND ($5::text IS NULL OR r.namespace = $5) AND ($6::text IS NULL OR r.name = $6)
  ORDER BY r.revision
  LIMIT $7`;

type TailRow = { readonly compacted: string; readonly after_write_id: string | null } & (
  | ChangeRow
  | { readonly revision: null }
);

/** Without changes there is still one row, for what the page says besides. */
function hasChange(row: TailRow): row is TailRow & ChangeRow {
  return row.revision !== null;
}

const TAIL_PAGE = `
  SELECT c.revision AS compacted, a.write_id AS after_write_id, page.*
  FROM compaction c
  LEFT JOIN revisions a ON a.revision = $1
  LEFT JOIN LATERAL (
    SELECT ${CHANGE_COLUMNS} FROM revisions r WHERE r.revision > $1 ORDER BY r.revision LIMIT $2
  ) page ON true
  ORDER BY page.revision`;
