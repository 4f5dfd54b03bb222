import pg from 'pg';

const OBJECT_IN_USE = '55006';
const IDLE_MS = 60_000;
const LOCK = "hashtext('pg-apiserver tests')";

/** By URL. A process keeps one connection to each server for a while: to open one costs as much CPU as a copy of a database. */
const pools = new Map<string, pg.Pool>();

/** Makes an empty database, or a copy of another one. */
export async function createDatabase(adminUrl: string, name: string, template?: string): Promise<void> {
  await inTurn(adminUrl, async (client) => {
    await client.query(
      template === undefined
        ? `CREATE DATABASE ${name}`
        : `CREATE DATABASE ${name} TEMPLATE ${template}${await quickestCopy(client)}`,
    );
  });
}

/** A tail that was cut off may still hold its slot for a moment, which PostgreSQL does not end by force. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTurn(adminUrl, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      });
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || tries >= 40) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** Copies files rather than write each page to the log, which takes twice the CPU: 14 knows no other way. */
async function quickestCopy(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query<{ chooses: boolean }>(
    "SELECT current_setting('server_version_num')::int >= 150000 AS chooses",
  );
  return rows[0]?.chooses === true ? ' STRATEGY FILE_COPY' : '';
}

/** Two test files may copy the template at the same moment, which PostgreSQL refuses: they take turns. */
async function inTurn(url: string, act: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await poolOf(url).connect();
  let failure: unknown;
  try {
    await client.query(`SELECT pg_advisory_lock(${LOCK})`);
    await act(client);
    await client.query(`SELECT pg_advisory_unlock(${LOCK})`);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // The end of a connection gives back its lock.
    client.release(failure !== undefined);
  }
}

function poolOf(url: string): pg.Pool {
  const known = pools.get(url);
  if (known !== undefined) return known;
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  pool.on('error', () => {});
  pools.set(url, pool);
  return pool;
}
