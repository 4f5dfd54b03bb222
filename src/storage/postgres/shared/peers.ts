import { sql } from 'kysely';
import type { KnownPeer, Peer, Peers } from '../../peers.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import { prepare, tables } from '../connection/prepared.ts';

/** Only the database's clock decides which servers live. */
const NOW = sql<string>`now()`;
/** How long a server that vanished is remembered. */
const LONG_AGO = sql<string>`now() - interval '1 hour'`;

const RENEW = prepare(
  (of: Omit<Peer, 'resources'> & { readonly resources: string[]; readonly ttlMs: number }) =>
    tables
      .with('renewed', (db) =>
        db
          .insertInto('peers')
          .values({
            server: of.server,
            address: of.address,
            port: of.port,
            resources: of.resources,
            expires_at: sql`${NOW} + ${of.ttlMs} * interval '1 millisecond'`,
          })
          .onConflict((conflict) =>
            conflict.column('server').doUpdateSet(({ ref }) => ({
              address: ref('excluded.address'),
              port: ref('excluded.port'),
              resources: ref('excluded.resources'),
              expires_at: ref('excluded.expires_at'),
            })),
          ),
      )
      .with('forgotten', (db) => db.deleteFrom('peers').where('expires_at', '<=', LONG_AGO))
      .selectFrom('peers')
      .select([
        ...(['server', 'address', 'port'] as const),
        sql<string>`array_to_string(resources, ' ')`.as('resources'),
        sql<string>`(expires_at > ${NOW})::text`.as('is_live'),
      ])
      .where('server', '<>', of.server)
      .where('expires_at', '>', LONG_AGO),
);

const RELEASE = prepare((of: { readonly server: string }) =>
  tables.deleteFrom('peers').where('server', '=', of.server),
);

export class PostgresPeers implements Peers {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  async renew({ resources, ...self }: Peer, ttlMs: number): Promise<KnownPeer[]> {
    const { pool } = await this.#database();
    const rows = await RENEW.run(pool, { ...self, resources: [...resources], ttlMs });
    // Ports come as text, like all that this driver reads.
    return rows.map(({ server, address, port, ...row }) => ({
      ...{ server, address, port: Number(port), isLive: row.is_live === 'true' },
      resources: row.resources.split(' ').filter((name) => name !== ''),
    }));
  }

  async release(server: string): Promise<void> {
    const { pool } = await this.#database();
    await RELEASE.run(pool, { server });
  }
}
