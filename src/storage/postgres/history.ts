import { sql } from 'kysely';
import type { History, HistoryBegin } from '../history.ts';
import { type Revision, toRevision } from '../revision.ts';
import type { DatabaseSource } from './connection.ts';
import { prepare, tables } from './prepared.ts';
import { rethrow } from './statements.ts';

const REVISION_AT = prepare((of: { readonly moment: string }) =>
  tables.selectNoFrom(sql<string | null>`revision_at(${of.moment}::timestamptz)`.as('revision')),
);

/** An epoch ends what was before it, as compaction does. */
const BEGIN = prepare(() =>
  tables
    .selectFrom('compaction as c')
    .innerJoin(
      sql<{
        epoch: string;
        began_at: string;
      }>`(SELECT epoch, began_at FROM epochs ORDER BY epoch DESC LIMIT 1)`.as('e'),
      (join) => join.onTrue(),
    )
    .select([
      sql<string>`greatest(c.revision, e.epoch)`.as('revision'),
      sql<
        string | null
      >`extract(epoch FROM nullif(CASE WHEN e.epoch > c.revision THEN e.began_at ELSE c.committed_at END, '-infinity'))
        * 1000`.as('at_ms'),
    ]),
);

/** Read where the past is read. */
export class PostgresHistory implements History {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  /** @throws StorageError unavailable */
  async revisionAt(moment: string): Promise<Revision | undefined> {
    const { pool, prepares } = await this.#database().catch(rethrow);
    const [row] = await REVISION_AT.run(pool, { moment }, prepares).catch(rethrow);
    return row === undefined || row.revision === null ? undefined : toRevision(row.revision);
  }

  /** @throws StorageError unavailable */
  async begin(): Promise<HistoryBegin> {
    const { pool, prepares } = await this.#database().catch(rethrow);
    const [row] = await BEGIN.run(pool, {}, prepares).catch(rethrow);
    const at = row === undefined || row.at_ms === null ? undefined : new Date(Number(row.at_ms));
    return { revision: toRevision(row?.revision ?? 0), at };
  }
}
