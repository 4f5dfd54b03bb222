import { expect, test, vi } from 'vitest';
import { toClientConfig } from '../../../src/storage/postgres/connection/connection.ts';
import { parseTarget } from '../../../src/storage/postgres/connection/connection-target.ts';
import { streamChanges } from '../../../src/storage/postgres/feed/replication.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';
import { migrateDatabase } from './migrate-database.ts';
import { connect } from './stalls.ts';

const CALL = `SELECT accepted FROM commit_revisions(
  ARRAY['{}']::json[], ARRAY['create'], ARRAY[''], ARRAY['configmaps'], ARRAY['default'], ARRAY['by-hand'], ARRAY['uid'], ARRAY[0]::bigint[],
  ARRAY[gen_random_uuid()], ARRAY[NULL]::timestamptz[], ARRAY[''], ARRAY[''], ARRAY[''], ARRAY[''], ARRAY[''], NULL, NULL, now(), NULL, NULL)`;

test('with every isolation that the database sets, writes of several servers follow one another', async () => {
  await using database = await createTestDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
  const logs = [openLog(database.url), openLog(database.url)];
  for (const [at, log] of logs.entries()) await log.committer.commit(write('create', `first-${at}`));
  await using holder = await connect(database.url);
  await holder.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await holder.query('LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE');
  const writes = logs.map((log, at) => log.committer.commit(write('create', `next-${at}`)));
  const waiting = "SELECT FROM pg_locks WHERE relation = 'commit_order'::regclass AND NOT granted";
  await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(2), PATIENCE);
  await holder.query('COMMIT');
  await Promise.all(writes);
  const rows = await database.query<{ revision: string; follows: string }>(
    'SELECT revision, follows_revision AS follows FROM revisions ORDER BY revision',
  );
  expect(rows.slice(1).map(({ follows }) => follows)).toEqual(
    rows.slice(0, -1).map(({ revision }) => revision),
  );
  await Promise.all(logs.map((log) => log.close()));
});

test('a commit at another isolation level than read committed is refused', async () => {
  await using database = await createTestDatabase();
  await using session = await connect(database.url);
  for (const level of ['REPEATABLE READ', 'SERIALIZABLE']) {
    await session.query(`BEGIN ISOLATION LEVEL ${level}`);
    await expect(session.query(CALL)).rejects.toThrow(
      `commits need the isolation level read committed, and this one is at ${level.toLowerCase()}`,
    );
    await session.query('ROLLBACK');
  }
  expect(await session.query<{ accepted: string }>(CALL)).toHaveLength(1);
});

test('a database in another encoding than UTF8 is refused before anything is made in it', async () => {
  await using database = await createTestDatabase({ empty: true });
  const name = `${new URL(database.url).pathname.slice(1)}_latin1`;
  await database.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  await expect(migrateDatabase({ urls: [url.href], poolSize: 1 })).rejects.toThrow(
    `the database "${name}" has the encoding LATIN1, which cannot hold all names: make one with UTF8, CREATE DATABASE`,
  );
  {
    await using session = await connect(url.href);
    expect(await session.query("SELECT FROM pg_class WHERE relname = 'schema_migrations'")).toEqual([]);
  }
  await database.query(`DROP DATABASE ${name} WITH (FORCE)`);
});

test('PostgreSQL looks after the connection of the stream as after all others', async () => {
  await using database = await createTestDatabase();
  const target = parseTarget(database.url);
  const config = toClientConfig(
    { url: database.url, target, handshake: { kind: 'plain', why: 'it is a test' } },
    { urls: [], poolSize: 1 },
    'tail',
  );
  const stop = new AbortController();
  let found: unknown;
  await streamChanges(
    config,
    {
      schema: undefined,
      check: async (client) => {
        const { rows } = await client.query({
          text: "SELECT current_setting('tcp_keepalives_idle') AS idle",
        });
        found = rows[0];
        stop.abort();
      },
      onSlot: async () => {},
      onChanges: () => {},
    },
    stop.signal,
  );
  expect([config.keepAlive, found]).toEqual([true, { idle: '10' }]);
});
