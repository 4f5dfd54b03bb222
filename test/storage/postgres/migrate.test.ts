import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { migrate } from '../../../src/storage/postgres/migration/migrate.ts';
import { type Migration, readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import { migrateDatabase } from '../../../src/storage/postgres/setup.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

async function withClient<T>(database: TestDatabase, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return use(client).finally(() => client.end());
}

const extra = (sql: string): Migration => ({ id: 9999, name: 'extra', sql, checksum: 'extra' });

test('servers that start at the same time migrate once', async () => {
  await using database = await createTestDatabase({ empty: true });
  const options = { urls: [database.url], poolSize: 1 };
  const applied = await Promise.all([1, 2, 3, 4, 5].map(() => migrateDatabase(options)));
  expect(applied.flat().sort()).toEqual(
    readMigrations()
      .map(({ name }) => name)
      .sort(),
  );
});

test('one server at a time works at steps outside of transactions', async () => {
  await using database = await createTestDatabase();
  const inSteps = extra(`
-- in steps
-- step
CREATE TABLE IF NOT EXISTS begun (at timestamptz); INSERT INTO begun VALUES (now())
-- step without transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS objects_by_uid ON objects (uid)
-- step
SELECT 1`);
  // Whose snapshot the index waits for.
  const reader = new pg.Client({ connectionString: database.url });
  await reader.connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM objects');
  const migrateThere = (): Promise<string[]> =>
    withClient(database, (client) => migrate(client, [...readMigrations(), inSteps]));
  const first = migrateThere();
  const building = "SELECT FROM pg_stat_progress_create_index WHERE phase LIKE '%wait%'";
  await vi.waitFor(async () => expect(await database.query(building)).toHaveLength(1));
  const others = [migrateThere(), migrateThere()];
  const tried = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect(await database.query(tried)).toHaveLength(2));
  expect(await database.query('SELECT FROM begun')).toHaveLength(1);
  await reader.end();
  expect([await first, ...(await Promise.all(others))]).toEqual([['extra'], [], []]);
  expect(await database.query('SELECT FROM begun')).toHaveLength(1);
  const valid = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'objects_by_uid'::regclass";
  expect(await database.query(valid)).toEqual([{ valid: true }]);
});

test('a migration that fails leaves nothing of itself', async () => {
  await using database = await createTestDatabase();
  const broken = extra('CREATE TABLE half (id int); SELECT 1/0');
  const migrating = withClient(database, (client) => migrate(client, [...readMigrations(), broken]));
  await expect(migrating).rejects.toThrow('migration 9999 (extra) failed: division by zero');
  expect(await database.query("SELECT to_regclass('half') AS half")).toEqual([{ half: null }]);
  expect(await withClient(database, (client) => migrate(client, readMigrations()))).toEqual([]);
});

test('a migration whose connection is ended says so', async () => {
  await using database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  const migrating = migrate(client, [...readMigrations(), extra('SELECT pg_sleep(600)')]).finally(() =>
    client.end(),
  );
  const failing = expect(migrating).rejects.toThrow(
    'migration 9999 (extra) failed: terminating connection due to administrator command',
  );
  const end = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'PgSleep' AND pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect(await database.query(end)).toEqual([{ ended: true }]));
  await failing;
});

test('a schema that is newer than the server is refused', async () => {
  await using database = await createTestDatabase();
  await withClient(database, (client) => migrate(client, [...readMigrations(), extra('SELECT 1')]));
  const older = migrateDatabase({ urls: [database.url], poolSize: 1 });
  await expect(older).rejects.toThrow('run the newer pg-apiserver');
});

test('a file that was changed after it had been applied is refused', async () => {
  await using database = await createTestDatabase();
  const changed = readMigrations().map((migration) => ({ ...migration, checksum: 'other' }));
  const migrating = withClient(database, (client) => migrate(client, changed));
  await expect(migrating).rejects.toThrow('differs from the one that was applied');
});

test('each privilege that is missing is one line that says what to do', async () => {
  await using database = await createTestDatabase({ empty: true });
  const role = `nobody_${randomBytes(4).toString('hex')}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const url = new URL(database.url);
  url.username = role;
  url.password = 'secret';
  const message = await migrateDatabase({ urls: [url.href], poolSize: 1 }).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  const lines = message.split('\n');
  // A server that may not replicate polls.
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`GRANT CREATE ON SCHEMA "public" TO "${role}"`);
  expect(lines[0]).toContain('GRANT CREATE ON DATABASE');
  await database.query(`DROP ROLE ${role}`);
});

test('a migration that waits for a lock holds up those behind it for a moment at a time, and is tried again', async () => {
  await using database = await createTestDatabase();
  await withClient(database, async (holder) => {
    await holder.query('BEGIN; LOCK TABLE objects IN ROW EXCLUSIVE MODE');
    const said: string[] = [];
    const locks = extra('LOCK TABLE objects');
    const migrating = withClient(database, (client) =>
      migrate(client, [...readMigrations(), locks], { say: (line) => said.push(line) }),
    );
    const waiting = "SELECT FROM pg_locks WHERE relation = 'objects'::regclass AND NOT granted";
    await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), { interval: 5 });
    const startedMs = performance.now();
    await database.query('SELECT FROM objects LIMIT 1');
    expect(performance.now() - startedMs).toBeLessThan(1000);
    await vi.waitFor(() => expect(said).not.toEqual([]));
    expect(said[0]).toMatch(
      /^migration 9999 \(extra\) failed: canceling statement due to lock timeout; it is tried/,
    );
    await holder.query('COMMIT');
    expect(await migrating).toEqual(['extra']);
  });
});

test('the statistics of tables that grow with every write are made from a small sample', async () => {
  await using database = await createTestDatabase();
  const targets = await database.query(
    `SELECT DISTINCT attrelid::regclass::text AS "table", attstattarget AS target
     FROM pg_attribute
     WHERE attrelid IN (SELECT partition FROM log_partitions() UNION SELECT 'objects'::regclass) AND attnum > 0 ORDER BY 1`,
  );
  expect(targets).toEqual([
    { table: 'objects', target: 10 },
    { table: 'revisions_1', target: 10 },
  ]);
});

test('a commit that began under the lock of the version before does not end beside those under the new one', async () => {
  await using database = await createTestDatabase({ empty: true });
  const migrations = readMigrations();
  const before = migrations.filter(({ id }) => id < 20);
  await withClient(database, (client) => migrate(client, before));
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query("SELECT pg_advisory_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'))");
  const commit = `SELECT accepted FROM commit_revisions(
    '{"{}"}', '{create}', '{""}', '{configmaps}', '{default}', '{a}', '{1}', '{0}', ARRAY[gen_random_uuid()],
    '{null}', '{""}', '{""}', '{""}', '{""}', '{""}')`;
  const begun = database.query(commit).then(
    () => 'committed',
    (error: unknown) => (error instanceof pg.DatabaseError ? error.constraint : String(error)),
  );
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1));
  const locked = migrations.filter(({ id }) => id <= 22);
  await withClient(database, (client) => migrate(client, locked));
  await holder.end();
  expect(await begun).toBe('revisions_follow');
  expect(await database.query(commit)).toEqual([{ accepted: ['2'] }]);
});
