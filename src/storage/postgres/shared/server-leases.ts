import { sql } from 'kysely';
import type { ServerAddress, ServerLeases } from '../../server-leases.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import { prepare, tables } from '../connection/prepared.ts';

/** Only the database's clock decides which servers live. */
const NOW = sql<string>`now()`;

/** As written: the port is text. */
interface LeaseValues {
  readonly address: string;
  readonly port: string;
}

/** Renews a lease and drops expired ones; a dead server leaves its row behind and no more. */
const RENEW = prepare((of: LeaseValues & { readonly ttlMs: number }) =>
  tables
    .with('renewed', (db) =>
      db
        .insertInto('server_leases')
        .values({
          address: of.address,
          port: of.port,
          expires_at: sql`${NOW} + ${of.ttlMs} * interval '1 millisecond'`,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['address', 'port'])
            .doUpdateSet(({ ref }) => ({ expires_at: ref('excluded.expires_at') })),
        )
        .returning(['address', 'port']),
    )
    .with('expired', (db) =>
      db
        .deleteFrom('server_leases')
        .where('expires_at', '<=', NOW)
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple('address', 'port'), '<>', tuple(of.address, of.port)),
        ),
    )
    .selectFrom('renewed')
    .select(['address', 'port'])
    .union(live())
    .orderBy('address')
    .orderBy('port'),
);

const RELEASE = prepare((of: LeaseValues) =>
  tables.deleteFrom('server_leases').where('address', '=', of.address).where('port', '=', of.port),
);

const LIVE = prepare(() => live().orderBy('address').orderBy('port'));

function live() {
  return tables.selectFrom('server_leases').select(['address', 'port']).where('expires_at', '>', NOW);
}

export class PostgresServerLeases implements ServerLeases {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  async renew(server: ServerAddress, ttlMs: number): Promise<ServerAddress[]> {
    const { pool } = await this.#database();
    return (await RENEW.run(pool, { ...toValues(server), ttlMs })).map(toAddress);
  }

  async release(server: ServerAddress): Promise<ServerAddress[]> {
    const { pool } = await this.#database();
    await RELEASE.run(pool, toValues(server));
    return (await LIVE.run(pool, {})).map(toAddress);
  }
}

const toValues = ({ address, port }: ServerAddress): LeaseValues => ({ address, port: String(port) });
const toAddress = ({ address, port }: LeaseValues): ServerAddress => ({ address, port: Number(port) });
