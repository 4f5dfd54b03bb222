import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import {
  listMigrations,
  type MigrateOptions,
  migrate,
} from '../../../src/storage/postgres/migration/run-migrations.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { StoredObject } from '../../../src/storage/revision-log.ts';
import { onLeash } from '../../kit/leash.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, Recorder, write } from './kit.ts';
import { BASELINE, connectMigrator, migrateWithOwn, withOwnMigrations } from './own-migrations.ts';

const OLD_SERVER = `pg-apiserver commits (schema ${BASELINE})`;
/** Waits for older servers to end. */
const CONTRACT = 85;
const PATIENCE = { timeout: 60_000, interval: 20 };
const never = new AbortController().signal;

async function connect(database: TestDatabase, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url, application_name: name });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** A database of servers that know the baseline alone. */
async function createOldDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  await migrateWithOwn(database, { to: BASELINE });
  return database;
}

const namesOf = (from: number, to: number): string[] =>
  withOwnMigrations()
    .filter(({ id }) => id > from && id <= to)
    .map(({ name }) => name);

const toObject = (name: string, data: string): string =>
  JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { data } });

interface OldWrite {
  readonly verb: string;
  readonly name: string;
  readonly expected: bigint;
  readonly data: string;
}

/** As servers of the baseline do it: a statement that they have prepared before the upgrade. */
async function commitAsBefore(client: pg.Client, { verb, name, expected, data }: OldWrite): Promise<bigint> {
  const { rows } = await client.query<{ accepted: string[]; live: string[] }>({
    name: 'commit_revisions',
    text: `SELECT accepted, live FROM commit_revisions(
      ARRAY[$1::json], ARRAY[$2], '{""}', '{configmaps}', '{default}', ARRAY[$3], '{uid}', ARRAY[$4::bigint],
      ARRAY[$5::uuid], '{null}', '{old}', '{""}', '{""}', '{""}', '{""}', NULL, NULL, clock_timestamp(), NULL, NULL)`,
    values: [toObject(name, data), verb, name, String(expected), randomUUID()],
  });
  const [accepted] = rows[0]?.accepted ?? [];
  if (accepted == null) throw new Error(`${verb} ${name} was refused: ${rows[0]?.live}`);
  return BigInt(accepted);
}

/** One object as servers of the baseline read it. */
async function readAsBefore(client: pg.Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ data: string }>({
    name: 'get',
    text: `SELECT coalesce(o.object, r.object)->'data'->>'data' AS data
      FROM objects o LEFT JOIN revisions r ON r.revision = o.revision
      WHERE o.api_group = '' AND o.resource = 'configmaps' AND o.namespace = 'default' AND o.name = $1`,
    values: [name],
  });
  return rows[0]?.data;
}

/** A server of the baseline that creates, updates, reads and deletes until it is stopped. */
async function writeAsBefore(database: TestDatabase, writer: number, until: { stopped: boolean }) {
  const client = await connect(database, OLD_SERVER);
  const acknowledged: bigint[] = [];
  const states = new Map<string, string | undefined>();
  const commit = async (one: OldWrite): Promise<bigint> => {
    const revision = await commitAsBefore(client, one);
    acknowledged.push(revision);
    return revision;
  };
  for (let n = 0; !until.stopped; n += 1) {
    const name = `w${writer}-${n}`;
    const created = await commit({ verb: 'create', name, expected: 0n, data: 'one' });
    const updated = await commit({ verb: 'update', name, expected: created, data: `two ${n}` });
    expect(await readAsBefore(client, name)).toBe(`two ${n}`);
    if (n % 2 === 0) await commit({ verb: 'delete', name, expected: updated, data: `two ${n}` });
    states.set(name, n % 2 === 0 ? undefined : `two ${n}`);
  }
  await client.end();
  return { acknowledged, states };
}

const LIVE = "SELECT name, object->'data'->>'data' AS data FROM current_objects";
const BROKEN_INDEXES = 'SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid';

test('a database is upgraded while servers of the version before write and read, and nothing is lost', async () => {
  await using database = await createOldDatabase();
  await keepHistory(database, '0');
  const old = await connect(database, 'filling');
  for (let n = 0; n < 450; n += 1)
    await commitAsBefore(old, { verb: 'create', name: `still-${n}`, expected: 0n, data: `still ${n}` });
  await old.end();
  const log = openLog(database.url);
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(await log.reader.currentRevision(), recorder, stop.signal);
  const until = { stopped: false };
  const writing = Promise.all([1, 2, 3].map((writer) => writeAsBefore(database, writer, until)));
  await vi.waitFor(() => expect(recorder.changes.length).toBeGreaterThan(20), PATIENCE);
  const said: string[] = [];
  const applied = await migrateWithOwn(database, { say: (line) => said.push(line) });
  const reached = recorder.changes.length;
  await vi.waitFor(() => expect(recorder.changes.length).toBeGreaterThan(reached + 20), PATIENCE);
  until.stopped = true;
  const writers = await writing;

  expect(applied).toEqual(namesOf(BASELINE, CONTRACT - 1));
  expect(said.at(-1)).toMatch(/^migration 85 \(\w+\) waits for 3 connections of an older version to end$/);
  const acknowledged = writers.flatMap((writer) => writer.acknowledged).sort((a, b) => Number(a - b));
  for (const writer of writers)
    expect(writer.acknowledged).toEqual([...writer.acknowledged].sort((a, b) => Number(a - b)));
  const logged = await database.query<{ revision: string }>(
    "SELECT revision FROM revisions WHERE name LIKE 'w%' ORDER BY revision",
  );
  expect(logged.map(({ revision }) => BigInt(revision))).toEqual(acknowledged);
  await recorder.reached((acknowledged.at(-1) ?? 0n) as Parameters<Recorder['reached']>[0]);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual(acknowledged);
  expect(recorder.resets).toEqual([]);

  const live = await database.query<{ name: string; data: string }>(LIVE);
  const expected = new Map(Array.from({ length: 450 }, (_, n) => [`still-${n}`, `still ${n}`]));
  for (const [name, data] of writers.flatMap((writer) => [...writer.states]))
    if (data !== undefined) expected.set(name, data);
  expect(new Map(live.map(({ name, data }) => [name, data]))).toEqual(expected);
  expect(await database.query('SELECT FROM marks WHERE mark <> hashtext(name)')).toEqual([]);

  // The last server of the version before has ended.
  expect(await migrateWithOwn(database)).toEqual(namesOf(CONTRACT - 1, 9999));
  const loaded = await load(log);
  expect(loaded).toEqual(Object.fromEntries(expected));
  stop.abort();
  await tail;
  await log.close();
});

const dataOf = ({ json }: StoredObject): unknown => JSON.parse(String(json)).data.data;

async function load({ reader }: PostgresLog): Promise<Record<string, unknown>> {
  const objects: StoredObject[] = [];
  await reader.loadCurrent(
    () => {},
    (batch) => objects.push(...batch),
  );
  return Object.fromEntries(objects.map((one) => [one.key.name, dataOf(one)]));
}

test('a server applies what has waited for the last server of the version before, and not earlier', async () => {
  await using database = await createOldDatabase();
  const old = await connect(database, OLD_SERVER);
  const log = openLog(database.url);
  const listStates = async (): Promise<Set<string>> => {
    await log.compactor.compact(never);
    const client = await connect(database, 'list');
    const listed = await listMigrations(client, readMigrations()).finally(() => client.end());
    return new Set(listed.filter(({ id }) => id >= CONTRACT).map(({ state }) => state));
  };
  expect(await listStates()).toEqual(new Set(['waits for servers of an older version to end']));
  await old.end();
  await vi.waitFor(async () => expect(await listStates()).toEqual(new Set(['applied'])), PATIENCE);
  await log.close();
});

test('a server serves the schema of the baseline, until its owner migrates it', async () => {
  await using database = await createOldDatabase();
  await keepHistory(database, '0');
  // A schema that no server here may migrate.
  await database.query(
    "INSERT INTO schema_migrations (id, name, checksum, beside) VALUES (9999, 'later', '', NULL)",
  );
  const log = openLog(database.url, { onTrouble: () => {} });
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(await log.reader.currentRevision(), recorder, stop.signal);
  const order = write('create', 'a', undefined, 'one');
  const revision = await log.committer.commit(order);
  await log.committer.commit({ ...write('create', 'due'), expiresAt: new Date(Date.now() - 1000) });
  expect(await log.expirer.expire()).toBe(1);
  expect(await load(log)).toEqual({ a: 'one' });
  expect((await log.reader.get(order.key))?.json.equals(order.json)).toBe(true);
  const CONFIG_MAPS = { group: '', resource: 'configmaps' };
  const { objects } = await log.reader.listAt({ resource: CONFIG_MAPS, scope: {}, limit: 10, revision });
  expect(objects.map(dataOf)).toEqual(['one']);
  await recorder.reached(revision);
  await beginPartition(database);
  await log.committer.commit(write('create', 'b'));
  // A tail that is behind what is compacted would have to begin anew.
  await recorder.reached(await log.committer.commit(write('create', 'c')));
  expect(await fillObjects(database)).toBeGreaterThan(0);
  expect(await log.compactor.compact(never)).toBe(1);
  expect(await load(log)).toEqual({ a: 'one', b: 'x', c: 'x' });
  stop.abort();
  await tail;
  await log.close();
});

/** A client that loses its connection with that query. */
function cutting(client: pg.Client, after: number): { client: pg.Client; wasCut(): boolean } {
  let left = after;
  const proxy = new Proxy(client, {
    get: (target, property) => {
      if (property !== 'query') return Reflect.get(target, property);
      return (...args: Parameters<pg.Client['query']>) => {
        left -= 1;
        if (left === 0) void target.end();
        return target.query(...args);
      };
    },
  });
  return { client: proxy, wasCut: () => left <= 0 };
}

/** Migrates with a connection that ends with the first query, then with the second, and so on. Returns how often it was cut. */
async function migrateWithCuts(database: TestDatabase, options: MigrateOptions = {}): Promise<number> {
  for (let after = 1; ; after += 1) {
    const migrator = await connectMigrator(database);
    const { client, wasCut } = cutting(migrator, after);
    const done = await migrate(client, withOwnMigrations(), options).then(
      () => true,
      () => false,
    );
    await migrator.end();
    if (done && !wasCut()) return after - 1;
  }
}

const listIds = async (database: TestDatabase): Promise<number[]> =>
  (await database.query<{ id: number }>('SELECT id FROM schema_migrations ORDER BY id')).map(({ id }) => id);

test('an upgrade that is cut off anywhere goes on where it is begun again', { tags: 'long' }, async () => {
  await using database = await createOldDatabase();
  const old = await connect(database, 'old');
  for (let n = 0; n < 250; n += 1)
    await commitAsBefore(old, { verb: 'create', name: `a${n}`, expected: 0n, data: 'one' });
  await old.end();
  const before = await contentsOf(database);
  expect(await migrateWithCuts(database)).toBeGreaterThan(20);
  expect(await contentsOf(database)).toEqual(before);
  expect(await database.query('SELECT FROM marks WHERE mark = hashtext(name)')).toHaveLength(250);
  expect(await database.query(BROKEN_INDEXES)).toEqual([]);
  const log = openLog(database.url);
  expect(await log.reader.currentRevision()).toBe(250n);
  await log.close();
});

test('the making of an empty database that is cut off anywhere goes on where it is begun again', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase({ empty: true });
  expect(await migrateWithCuts(database, { to: BASELINE })).toBeGreaterThan(10);
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a', undefined, 'one'));
  expect(await load(log)).toEqual({ a: 'one' });
  await log.close();
});

const MIGRATOR = fileURLToPath(new URL('migrator-process.ts', import.meta.url));

/** `pg-apiserver migrate`, as far as the database sees it. */
function startMigrator(database: TestDatabase) {
  const args = [MIGRATOR, database.url];
  const child = onLeash(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] }));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exit = once(child, 'exit');
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
      expect(child.signalCode).toBe('SIGKILL');
    },
    succeeds: async () => expect(await exit, said).toEqual([0, null]),
  };
}

/** The log and the current state, with every byte of them. */
async function contentsOf(database: TestDatabase): Promise<unknown> {
  return {
    log: await database.query(
      'SELECT revision, verb, name, uid, write_id, object::text, committed_at FROM revisions ORDER BY revision',
    ),
    objects: await database.query(
      'SELECT name, uid, revision, object::text FROM current_objects ORDER BY name',
    ),
  };
}

interface Interruption {
  /** Migrated before, so that what holds up the step is there to be held; 0: the database is empty. */
  readonly from: number;
  /** A statement of a transaction that the step waits for. */
  readonly hold: string;
  /** Has rows while the step is at it. */
  readonly isAtIt: string;
  /** PostgreSQL goes on with it when the client is gone; otherwise it waits for a lock no longer than its timeout. */
  readonly outlivesClient: boolean;
}

const MIGRATORS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'pg-apiserver setup%' AND pid <> $1`;
const BUILDS = "SELECT FROM pg_stat_progress_create_index WHERE relid = 'objects'::regclass";
const FILLS = `SELECT FROM pg_stat_activity a WHERE datname = current_database() AND query LIKE '%fill_marks(200)%'
  AND wait_event_type = 'Lock' AND EXISTS (SELECT FROM objects WHERE mark IS NOT NULL)`;
const WAITS = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
  AND application_name LIKE 'pg-apiserver setup%' AND query LIKE `;

test.each<[string, Interruption]>([
  [
    'the baseline',
    {
      from: 0,
      hold: 'CREATE TABLE revisions ()',
      isAtIt: `${WAITS}'-- The baseline%'`,
      outlivesClient: false,
    },
  ],
  [
    'the build of an index',
    { from: 78, hold: 'LOCK TABLE objects IN ROW EXCLUSIVE MODE', isAtIt: BUILDS, outlivesClient: true },
  ],
  [
    'a step that works in batches',
    {
      from: 78,
      hold: 'SELECT FROM objects ORDER BY ctid DESC LIMIT 1 FOR UPDATE',
      isAtIt: FILLS,
      outlivesClient: false,
    },
  ],
  [
    'a migration of one transaction',
    {
      from: 81,
      hold: 'LOCK TABLE objects IN ROW EXCLUSIVE MODE',
      isAtIt: `${WAITS}'%objects_mark%'`,
      outlivesClient: false,
    },
  ],
])(
  'an upgrade whose process is killed in %s goes on, beside what is left of it, and changes no byte',
  { tags: 'long' },
  async (_, { from, hold, isAtIt, outlivesClient }) => {
    await using database = from === 0 ? await createTestDatabase({ empty: true }) : await createOldDatabase();
    let before: unknown;
    if (from > 0) {
      await fillDatabase(database);
      before = await contentsOf(database);
      await migrateWithOwn(database, { to: from });
    }
    const holder = await connect(database, 'holder');
    await holder.query('BEGIN');
    await holder.query(hold);
    const killed = startMigrator(database);
    const showsIt = async (): Promise<void> => expect(await database.query(isAtIt)).not.toEqual([]);
    await vi.waitFor(showsIt, PATIENCE);
    const [first] = await database.query<{ pid: number }>(MIGRATORS, [0]);
    await killed.kill();
    if (outlivesClient) await showsIt();
    const again = startMigrator(database);
    await vi.waitFor(
      async () => expect(await database.query(MIGRATORS, [first?.pid])).toHaveLength(1),
      PATIENCE,
    );
    await holder.end();
    await again.succeeds();
    if (from > 0) expect(await contentsOf(database)).toEqual(before);
    expect(await database.query('SELECT FROM marks WHERE mark IS DISTINCT FROM hashtext(name)')).toEqual([]);
    expect(await database.query(BROKEN_INDEXES)).toEqual([]);
    const own = withOwnMigrations().map(({ id }) => id);
    expect((await listIds(database)).filter((id) => id >= BASELINE)).toEqual(own);
  },
);

async function fillDatabase(database: TestDatabase): Promise<void> {
  const old = await connect(database, 'filling');
  for (let n = 0; n < 500; n += 1) {
    const created = await commitAsBefore(old, { verb: 'create', name: `a${n}`, expected: 0n, data: 'one' });
    if (n % 3 > 0) continue;
    const verb = n % 2 === 0 ? 'update' : 'delete';
    await commitAsBefore(old, { verb, name: `a${n}`, expected: created, data: 'two' });
  }
  await old.end();
}
