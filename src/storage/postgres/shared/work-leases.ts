import { sql } from 'kysely';
import type { WorkLease, WorkLeases } from '../../work-leases.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import { prepare, tables } from '../connection/prepared.ts';

const NOW = sql<string>`now()`;
const ONE_MORE = sql<string>`work_leases.renewals + 1`;

const READ = prepare((of: { readonly work: string }) =>
  tables.selectFrom('work_leases').select(['holder', 'renewals']).where('work', '=', of.work),
);

/** Takes the row only as it was seen: no row has -1 renewals. */
const TAKE = prepare((of: { readonly work: string; readonly holder: string; readonly renewals: string }) =>
  tables
    .insertInto('work_leases')
    .values({ work: of.work, holder: of.holder, renewals: '0', renewed_at: NOW })
    .onConflict((conflict) =>
      conflict
        .column('work')
        .doUpdateSet(({ ref }) => ({ holder: ref('excluded.holder'), renewals: ONE_MORE, renewed_at: NOW }))
        .where('work_leases.renewals', '=', of.renewals),
    )
    .returning('work'),
);

const RENEW = prepare((of: { readonly work: string; readonly holder: string }) =>
  tables
    .updateTable('work_leases')
    .set({ renewals: ONE_MORE, renewed_at: NOW })
    .where('work', '=', of.work)
    .where('holder', '=', of.holder)
    .returning('work'),
);

const RELEASE = prepare((of: { readonly work: string; readonly holder: string }) =>
  tables
    .updateTable('work_leases')
    .set({ holder: '', renewals: ONE_MORE, renewed_at: NOW })
    .where('work', '=', of.work)
    .where('holder', '=', of.holder),
);

export class PostgresWorkLeases implements WorkLeases {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  async read(work: string): Promise<WorkLease | undefined> {
    const { pool } = await this.#database();
    const [row] = await READ.run(pool, { work });
    return row === undefined ? undefined : { holder: row.holder, renewals: BigInt(row.renewals) };
  }

  async take(work: string, holder: string, seen: WorkLease | undefined): Promise<boolean> {
    const { pool } = await this.#database();
    const renewals = String(seen?.renewals ?? -1n);
    return (await TAKE.run(pool, { work, holder, renewals })).length > 0;
  }

  async renew(work: string, holder: string): Promise<boolean> {
    const { pool } = await this.#database();
    return (await RENEW.run(pool, { work, holder })).length > 0;
  }

  async release(work: string, holder: string): Promise<void> {
    const { pool } = await this.#database();
    await RELEASE.run(pool, { work, holder });
  }
}
