import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import {
  type Migration,
  notesOf,
  readMigrations,
} from '../../../src/storage/postgres/migration/migration.ts';
import { listMigrations, migrate } from '../../../src/storage/postgres/migration/run-migrations.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { migrateDatabase } from './migrate-database.ts';

async function withClient<T>(database: TestDatabase, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return use(client).finally(() => client.end());
}

const PATIENCE = { timeout: 60_000, interval: 20 };

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
  await vi.waitFor(async () => expect(await database.query(building)).toHaveLength(1), PATIENCE);
  const others = [migrateThere(), migrateThere()];
  const tried = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect(await database.query(tried)).toHaveLength(2), PATIENCE);
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

test('no migration leaves a function that every role may execute, at every point where it may be cut off', async () => {
  await using database = await createTestDatabase({ empty: true });
  const exposed = `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) a WHERE a.grantee = 0))`;
  const found: unknown[] = [];
  let commits = 0;
  await withClient(database, async (client) => {
    const query: (...args: unknown[]) => Promise<unknown> = client.query.bind(client);
    vi.spyOn(client, 'query').mockImplementation(async (...args: unknown[]) => {
      const answer = await query(...args);
      if (args[0] === 'COMMIT') {
        commits += 1;
        found.push(...(await database.query(exposed)));
      }
      return answer;
    });
    await migrate(client, readMigrations());
  });
  expect(commits).toBeGreaterThan(readMigrations().length);
  expect(found).toEqual([]);
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
  await vi.waitFor(async () => expect(await database.query(end)).toEqual([{ ended: true }]), PATIENCE);
  await failing;
});

/** The schema as a version before the baseline knows it: each of the migrations that the baseline replaces, by itself. */
const migrationsOfBefore = (): Migration[] =>
  readMigrations().flatMap((migration) =>
    notesOf(migration).map(({ beside, ...noted }) => ({ ...noted, sql: `-- beside: ${beside}` })),
  );

test('a server of before the baseline finds in a new database what it knows, and the other way round', async () => {
  await using database = await createTestDatabase();
  expect(migrationsOfBefore().length).toBeGreaterThan(readMigrations().length + 30);
  expect(await withClient(database, (client) => migrate(client, migrationsOfBefore()))).toEqual([]);
  await using old = await createTestDatabase({ empty: true });
  const of = await withClient(old, (client) => migrate(client, migrationsOfBefore(), { to: 64 }));
  expect(of[0]).toBe('revisions');
  const left = await withClient(old, (client) => listMigrations(client, readMigrations()));
  expect(left.filter(({ state }) => state === 'applied').map(({ name }) => name)).toEqual(['baseline']);
});

test('a database that has some of what the baseline replaces is refused, and says which version to start', async () => {
  await using database = await createTestDatabase({ empty: true });
  await withClient(database, (client) => migrate(client, migrationsOfBefore(), { to: 45 }));
  const message =
    'the database is at migration 45, and lacks some of 1 to 64, without which this version cannot upgrade it: ' +
    'start the version before this one, which applies them, and then this one';
  await expect(migrateDatabase({ urls: [database.url], poolSize: 1 })).rejects.toThrow(message);
  const listing = withClient(database, (client) => listMigrations(client, readMigrations()));
  await expect(listing).rejects.toThrow(message);
  expect(await database.query('SELECT max(id) FROM schema_migrations')).toEqual([{ max: 45 }]);
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
    await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), {
      ...PATIENCE,
      interval: 5,
    });
    const startedMs = performance.now();
    await database.query('SELECT FROM objects LIMIT 1');
    expect(performance.now() - startedMs).toBeLessThan(1000);
    await vi.waitFor(() => expect(said).not.toEqual([]), PATIENCE);
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
