import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { migrate } from '../../../src/storage/postgres/migration/migrate.ts';
import { readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import { onLeash } from '../../kit/leash.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { keepHistory, openLog, Recorder } from './kit.ts';

/** The last one before the log had partitions. */
const BEFORE = 22;
const PATIENCE = { timeout: 20_000, interval: 20 };

async function connect(database: TestDatabase, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url, application_name: name });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** A database of the version before. */
async function createOldDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  const client = await connect(database, 'setup');
  await migrate(
    client,
    readMigrations().filter(({ id }) => id <= BEFORE),
  );
  await client.end();
  return database;
}

async function upgrade(database: TestDatabase): Promise<string[]> {
  const client = await connect(database, 'migrate');
  return migrate(client, readMigrations()).finally(() => client.end());
}

const toObject = (name: string, data: string): string =>
  JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data: { data } });

interface OldWrite {
  readonly verb: string;
  readonly name: string;
  readonly expected: bigint;
  readonly data: string;
}

/** As servers of the version before do it: a statement that they have prepared before the upgrade. */
async function commitAsBefore(client: pg.Client, { verb, name, expected, data }: OldWrite): Promise<bigint> {
  const { rows } = await client.query<{ accepted: string[]; live: string[] }>({
    name: 'commit_revisions',
    text: `SELECT accepted, live FROM commit_revisions(
      ARRAY[$1::json], ARRAY[$2], '{""}', '{configmaps}', '{default}', ARRAY[$3], '{uid}', ARRAY[$4::bigint],
      ARRAY[$5::uuid], '{null}', '{old}', '{""}', '{""}', '{""}', '{""}', NULL, NULL, clock_timestamp())`,
    values: [toObject(name, data), verb, name, String(expected), randomUUID()],
  });
  const [accepted] = rows[0]?.accepted ?? [];
  if (accepted == null) throw new Error(`${verb} ${name} was refused: ${rows[0]?.live}`);
  return BigInt(accepted);
}

/** One object as servers of the version before read it. */
async function readAsBefore(client: pg.Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ data: string }>({
    name: 'get',
    text: `SELECT r.object->'data'->>'data' AS data FROM heads h JOIN revisions r ON r.revision = h.revision
      WHERE h.api_group = '' AND h.resource = 'configmaps' AND h.namespace = 'default' AND h.name = $1`,
    values: [name],
  });
  return rows[0]?.data;
}

/** A server of the version before that creates, updates, reads and deletes until it is told to stop. */
async function writeAsBefore(database: TestDatabase, writer: number, until: { stopped: boolean }) {
  const client = await connect(database, `pg-apiserver commits ${writer}`);
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
  const applied = await upgrade(database);
  const reached = recorder.changes.length;
  await vi.waitFor(() => expect(recorder.changes.length).toBeGreaterThan(reached + 20), PATIENCE);
  until.stopped = true;
  const writers = await writing;

  expect(applied).toEqual([
    'indexes_of_the_log',
    'partitions_and_objects',
    'log_and_objects',
    'bytes_of_objects',
  ]);
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

  const live = await database.query<{ name: string; data: string }>(
    "SELECT name, object->'data'->>'data' AS data FROM objects WHERE modified_at IS NOT NULL",
  );
  const expected = new Map(Array.from({ length: 450 }, (_, n) => [`still-${n}`, `still ${n}`]));
  for (const [name, data] of writers.flatMap((writer) => [...writer.states]))
    if (data !== undefined) expected.set(name, data);
  expect(new Map(live.map(({ name, data }) => [name, data]))).toEqual(expected);
  expect(
    await database.query(
      'SELECT FROM objects o JOIN revisions r USING (revision) WHERE o.object::text <> r.object::text',
    ),
  ).toEqual([]);

  // With the last server of the version before, what was kept for them goes, and then the log of before.
  const names = readMigrations().map(({ name }) => name);
  expect(await upgrade(database)).toEqual(names.slice(names.indexOf('without_heads')));
  const last = await database.query<{ name: string; revision: string }>(
    'SELECT name, revision FROM objects LIMIT 2',
  );
  for (const { name, revision } of last) {
    const client = await connect(database, 'writer');
    await commitAsBefore(client, { verb: 'update', name, expected: BigInt(revision), data: 'three' });
    await client.end();
  }
  await log.compactor.compact(new AbortController().signal);
  expect(await database.query("SELECT to_regclass('revisions_before') AS old")).toEqual([{ old: null }]);
  const loaded: string[] = [];
  await log.reader.loadCurrent(
    () => {},
    (batch) => loaded.push(...batch.map(({ key }) => key.name)),
  );
  expect(loaded.sort()).toEqual([...expected.keys()].sort());
  stop.abort();
  await tail;
  await log.close();
});

test('partitions stay while a server of the version before is connected', async () => {
  await using database = await createOldDatabase();
  await keepHistory(database, '0');
  const old = await connect(database, 'pg-apiserver tail');
  const one = await commitAsBefore(old, { verb: 'create', name: 'a', expected: 0n, data: 'one' });
  await upgrade(database);
  const two = await commitAsBefore(old, { verb: 'update', name: 'a', expected: one, data: 'two' });
  await commitAsBefore(old, { verb: 'create', name: 'b', expected: 0n, data: 'one' });
  const log = openLog(database.url);
  expect(await log.compactor.compact(new AbortController().signal)).toBe(0);
  expect(await log.reader.compactedRevision()).toBe(two);
  expect(await readAsBefore(old, 'a')).toBe('two');
  await old.end();
  await vi.waitFor(
    async () => expect(await log.compactor.compact(new AbortController().signal)).toBe(1),
    PATIENCE,
  );
  await log.close();
});

test('a call that waits for the lock while the tables change goes on in the function of before, and its object is there', async () => {
  await using database = await createOldDatabase();
  const old = await connect(database, 'pg-apiserver commits');
  const created = await commitAsBefore(old, { verb: 'create', name: 'a', expected: 0n, data: 'one' });
  const gone = await commitAsBefore(old, { verb: 'create', name: 'b', expected: 0n, data: 'one' });
  const reader = await connect(database, 'reader');
  await reader.query('BEGIN; SELECT FROM heads');
  const upgrading = upgrade(database);
  const waits = async (relation: string): Promise<void> =>
    vi.waitFor(
      async () =>
        expect(
          await database.query('SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted', [
            relation,
          ]),
        ).not.toEqual([]),
      PATIENCE,
    );
  await waits('heads');
  const writing = (async () => {
    const client = await connect(database, 'pg-apiserver commits');
    // Each waits: the first for the change of the tables, the others for those before them.
    const other = await connect(database, 'pg-apiserver commits');
    const third = await connect(database, 'pg-apiserver commits');
    const all = Promise.all([
      commitAsBefore(client, { verb: 'update', name: 'a', expected: created, data: 'two' }),
      commitAsBefore(other, { verb: 'delete', name: 'b', expected: gone, data: 'one' }),
      commitAsBefore(third, { verb: 'create', name: 'c', expected: 0n, data: 'new' }),
    ]);
    await waits('commit_order');
    await reader.query('COMMIT');
    await all;
    await Promise.all([client, other, third].map((one) => one.end()));
  })();
  await writing;
  await upgrading;
  expect(
    await database.query("SELECT name, object->'data'->>'data' AS data FROM objects ORDER BY name"),
  ).toEqual([
    { name: 'a', data: 'two' },
    { name: 'c', data: 'new' },
  ]);
  await Promise.all([old.end(), reader.end()]);
});

test('what a function of before writes to heads is in the objects, with its bytes', async () => {
  await using database = await createOldDatabase();
  const old = await connect(database, 'pg-apiserver commits');
  const created = await commitAsBefore(old, { verb: 'create', name: 'a', expected: 0n, data: 'one' });
  const updated = await commitAsBefore(old, { verb: 'update', name: 'a', expected: created, data: 'two' });
  await upgrade(database);
  const data = "SELECT object->'data'->>'data' AS data FROM objects";
  expect(await database.query(data)).toEqual([{ data: 'two' }]);
  await old.query(
    'UPDATE heads h SET revision = $1 FROM (SELECT ctid AS place FROM heads) p WHERE h.ctid = p.place',
    [String(created)],
  );
  expect(await database.query(data)).toEqual([{ data: 'one' }]);
  await old.query('DELETE FROM heads h USING (SELECT ctid AS place FROM heads) p WHERE h.ctid = p.place');
  expect(await database.query(data)).toEqual([]);
  await old.query(
    "INSERT INTO heads (api_group, resource, namespace, name, revision, uid) VALUES ('', 'configmaps', 'default', 'a', $1, 'uid')",
    [String(updated)],
  );
  expect(await database.query(data)).toEqual([{ data: 'two' }]);
  await old.end();
});

test('an upgrade that is cut off anywhere goes on where it is begun again', async () => {
  await using database = await createOldDatabase();
  const old = await connect(database, 'old');
  for (let n = 0; n < 250; n += 1)
    await commitAsBefore(old, { verb: 'create', name: `a${n}`, expected: 0n, data: 'one' });
  await old.end();
  let cuts = 0;
  for (let after = 1; ; after += 1) {
    const client = await connect(database, 'migrate');
    let left = after;
    const cutting = new Proxy(client, {
      get: (target, property) => {
        if (property !== 'query') return Reflect.get(target, property);
        return (...args: Parameters<pg.Client['query']>) => {
          left -= 1;
          if (left === 0) void target.end();
          return target.query(...args);
        };
      },
    });
    const done = await migrate(cutting, readMigrations()).then(
      () => true,
      () => false,
    );
    await client.end();
    if (done && left > 0) break;
    cuts += 1;
  }
  expect(cuts).toBeGreaterThan(20);
  expect(await database.query('SELECT FROM objects WHERE object IS NULL')).toEqual([]);
  expect(await database.query('SELECT FROM objects')).toHaveLength(250);
  expect(await database.query('SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid')).toEqual([]);
  const log = openLog(database.url);
  expect(await log.reader.currentRevision()).toBe(250n);
  await log.close();
});

const MIGRATOR = fileURLToPath(new URL('migrator-process.ts', import.meta.url));

/** `pg-apiserver migrate`, as far as the database sees it. */
function startMigrator(database: TestDatabase, to?: number) {
  const args = [MIGRATOR, database.url, ...(to === undefined ? [] : [String(to)])];
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
async function contentsOf(database: TestDatabase, objects: string): Promise<unknown> {
  return {
    log: await database.query(
      'SELECT revision, verb, name, uid, write_id, object::text, committed_at FROM revisions ORDER BY revision',
    ),
    objects: await database.query(`SELECT name, uid, revision, object::text FROM ${objects} ORDER BY name`),
  };
}

interface Interruption {
  /** Migrated before, so that what holds up the step is there to be held. */
  readonly from: number;
  /** A statement of a transaction that the step waits for. */
  readonly hold: string;
  /** Has rows while the step is at it. */
  readonly isAtIt: string;
  /** PostgreSQL goes on with it for somebody who is gone; otherwise it waits for a lock no longer than its timeout. */
  readonly outlivesClient: boolean;
}

const MIGRATORS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'pg-apiserver setup%' AND pid <> $1`;
const BUILDS = 'SELECT FROM pg_stat_progress_create_index WHERE datname = current_database()';
const FILLS = `SELECT FROM pg_stat_activity a WHERE datname = current_database() AND query LIKE '%fill_objects(200)%'
  AND wait_event_type = 'Lock' AND EXISTS (SELECT FROM objects WHERE modified_at IS NOT NULL)`;

test.each<[string, Interruption]>([
  [
    'the build of an index of the log',
    {
      from: BEFORE,
      hold: 'LOCK TABLE revisions IN ROW EXCLUSIVE MODE',
      isAtIt: BUILDS,
      outlivesClient: true,
    },
  ],
  [
    'the build of an index of the objects',
    { from: 32, hold: 'LOCK TABLE objects IN ROW EXCLUSIVE MODE', isAtIt: BUILDS, outlivesClient: true },
  ],
  [
    'a step that works in batches',
    {
      from: 32,
      hold: 'SELECT FROM objects ORDER BY ctid DESC LIMIT 1 FOR UPDATE',
      isAtIt: FILLS,
      outlivesClient: false,
    },
  ],
])(
  'an upgrade whose process is killed in %s goes on, beside what is left of it, and changes no byte',
  async (_, interruption) => {
    await using database = await createOldDatabase();
    const old = await connect(database, 'filling');
    for (let n = 0; n < 500; n += 1) {
      const created = await commitAsBefore(old, { verb: 'create', name: `a${n}`, expected: 0n, data: 'one' });
      if (n % 3 > 0) continue;
      const verb = n % 2 === 0 ? 'update' : 'delete';
      await commitAsBefore(old, { verb, name: `a${n}`, expected: created, data: 'two' });
    }
    await old.end();
    const before = await contentsOf(database, 'heads JOIN revisions USING (name, uid, revision)');
    await startMigrator(database, interruption.from).succeeds();
    const holder = await connect(database, 'holder');
    await holder.query('BEGIN');
    await holder.query(interruption.hold);
    const killed = startMigrator(database);
    const isAtIt = async (): Promise<void> =>
      expect(await database.query(interruption.isAtIt)).not.toEqual([]);
    await vi.waitFor(isAtIt, PATIENCE);
    const [first] = await database.query<{ pid: number }>(MIGRATORS, [0]);
    await killed.kill();
    if (interruption.outlivesClient) await isAtIt();
    const again = startMigrator(database);
    await vi.waitFor(
      async () => expect(await database.query(MIGRATORS, [first?.pid])).toHaveLength(1),
      PATIENCE,
    );
    await holder.end();
    await again.succeeds();
    expect(await contentsOf(database, 'objects')).toEqual(before);
    expect(await database.query('SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid')).toEqual(
      [],
    );
    const ids = await database.query<{ id: number }>('SELECT id FROM schema_migrations ORDER BY id');
    expect(ids.map(({ id }) => id)).toEqual(readMigrations().map(({ id }) => id));
  },
);
