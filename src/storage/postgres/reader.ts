import { StorageError } from '../errors.ts';
import { type ObjectKey, parsePosition, type Scope } from '../key.ts';
import { type Revision, toRevision } from '../revision.ts';
import type {
  ChangeQuery,
  ChangeWithPrevious,
  HistoricalList,
  RevisionReader,
  StoredObject,
} from '../revision-log.ts';
import type { Database, DatabaseSource } from './connection.ts';
import { copyLive, type LoadConnection } from './load.ts';
import type { Prepared } from './prepared.ts';
import {
  CHANGES,
  COMPACTED_REVISION,
  COUNT_AT,
  CURRENT_REVISION,
  GET,
  LIST_AT,
  TAIL_PAGE,
} from './queries.ts';
import { type ChangeRow, type LoggedChange, toChange, toChangeWithPrevious, toStoredObject } from './rows.ts';
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
  readonly #connectToLoad: () => Promise<LoadConnection>;

  constructor(database: DatabaseSource, connectToLoad: () => Promise<LoadConnection>) {
    this.#database = database;
    this.#connectToLoad = connectToLoad;
  }

  async currentRevision(): Promise<Revision> {
    const [row] = await this.#run(CURRENT_REVISION, {});
    return toRevision(row?.revision ?? 0);
  }

  async compactedRevision(): Promise<Revision> {
    const [row] = await this.#run(COMPACTED_REVISION, {});
    return toRevision(row?.revision ?? 0);
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    const [row] = await this.#run(GET, key);
    return row === undefined ? undefined : toStoredObject(row);
  }

  async loadCurrent(
    begin: (revision: Revision) => void,
    batch: (objects: readonly StoredObject[]) => void,
  ): Promise<void> {
    const connection = await this.#connectToLoad().catch(rethrow);
    const { client } = connection;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const [row] = await CURRENT_REVISION.run(client, {});
      begin(toRevision(row?.revision ?? 0));
      await copyLive(connection, batch);
      await client.query('COMMIT');
    } catch (error) {
      rethrow(error);
    } finally {
      await connection.close();
    }
  }

  async listAt(query: HistoricalList): Promise<{ objects: StoredObject[]; remaining: number }> {
    const { resource, scope, revision, limit } = query;
    const after = query.after === undefined ? { namespace: '', name: '' } : parsePosition(query.after);
    const values = {
      ...resource,
      ...toValues(scope),
      revision: revision.toString(),
      afterNamespace: after.namespace,
      afterName: after.name,
    };
    const objects = (await this.#run(LIST_AT, { ...values, limit })).map(toStoredObject);
    const [counted] = objects.length < limit ? [] : await this.#run(COUNT_AT, values);
    await this.#assertKept(revision);
    return { objects, remaining: counted === undefined ? 0 : Number(counted.count) - objects.length };
  }

  async changesBetween({ resource, scope, after, upTo, limit }: ChangeQuery): Promise<ChangeWithPrevious[]> {
    const range = { after: after.toString(), upTo: upTo.toString(), limit };
    const rows = await this.#run(CHANGES, { ...resource, ...toValues(scope), ...range });
    await this.#assertKept(after);
    return rows.map(toChangeWithPrevious);
  }

  /** Changes of all resources after a revision, oldest first, all read on one snapshot: how the tail catches up. */
  async tailPage(after: Revision, limit: number): Promise<TailPage> {
    const rows = await this.#run(TAIL_PAGE, { after: after.toString(), limit });
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

  async #run<Values, Row>(statement: Prepared<Values, Row>, values: Values): Promise<Row[]> {
    try {
      const { pool, prepares }: Database = await this.#database();
      return await statement.run(pool, values, prepares);
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

const toValues = ({ namespace, name }: Scope): { namespace: string | null; name: string | null } => ({
  namespace: namespace ?? null,
  name: name ?? null,
});

/** Without changes there is still one row, for what the page says besides. */
type TailRow = { readonly [column in keyof ChangeRow]: string | null };

function hasChange<Row extends TailRow>(row: Row): row is Row & ChangeRow {
  return row.revision !== null;
}
