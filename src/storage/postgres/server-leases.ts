import type { ServerAddress, ServerLeases } from '../server-leases.ts';
import type { DatabaseSource } from './connection.ts';

/** Expired rows are dropped by whoever comes next; a dead server's row is all it leaves behind. */
const RENEW = `
  WITH renewed AS (
    INSERT INTO server_leases (address, port, expires_at)
    VALUES ($1, $2, now() + $3 * interval '1 millisecond')
    ON CONFLICT (address, port) DO UPDATE SET expires_at = excluded.expires_at
    RETURNING address, port
  ), expired AS (
    DELETE FROM server_leases WHERE expires_at <= now() AND (address, port) <> ($1, $2)
  )
  SELECT address, port FROM renewed
  UNION
  SELECT address, port FROM server_leases WHERE expires_at > now()
  ORDER BY address, port`;

const RELEASE = 'DELETE FROM server_leases WHERE address = $1 AND port = $2';
const LIVE = 'SELECT address, port FROM server_leases WHERE expires_at > now() ORDER BY address, port';

export class PostgresServerLeases implements ServerLeases {
  readonly #database: DatabaseSource;

  constructor(database: DatabaseSource) {
    this.#database = database;
  }

  async renew({ address, port }: ServerAddress, ttlMs: number): Promise<ServerAddress[]> {
    const { pool } = await this.#database();
    return toAddresses((await pool.query<Row>(RENEW, [address, port, ttlMs])).rows);
  }

  async release({ address, port }: ServerAddress): Promise<ServerAddress[]> {
    const { pool } = await this.#database();
    await pool.query(RELEASE, [address, port]);
    return toAddresses((await pool.query<Row>(LIVE)).rows);
  }
}

interface Row {
  readonly address: string;
  readonly port: string | number;
}

const toAddresses = (rows: readonly Row[]): ServerAddress[] =>
  rows.map(({ address, port }) => ({ address, port: Number(port) }));
