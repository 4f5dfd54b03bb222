import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { listMigrations, migrate } from '../../../src/storage/postgres/migration/migrate.ts';
import { readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { StoredObject } from '../../../src/storage/revision-log.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, write } from './kit.ts';

/** The last one before objects could be without their bytes. */
const BEFORE = 41;
const OLD_SERVER = `pg-apiserver commits (schema ${BEFORE})`;
const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const PATIENCE = { timeout: 20_000, interval: 20 };
const never = new AbortController().signal;

async function connect(database: TestDatabase, name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url, application_name: name });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function upgrade(database: TestDatabase, to?: number): Promise<string[]> {
  const client = await connect(database, 'migrate');
  return migrate(client, readMigrations(), to === undefined ? {} : { to }).finally(() => client.end());
}

async function createDatabaseOfBefore(): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  await upgrade(database, BEFORE);
  return database;
}

/** As servers of the version before do it. */
async function commitAsBefore(
  client: pg.Client,
  name: string,
  expected: bigint,
  data: string,
): Promise<bigint> {
  const { json } = write('update', name, undefined, data);
  const { rows } = await client.query<{ accepted: string }>({
    name: 'commit_revisions',
    text: `SELECT accepted[1] AS accepted FROM commit_revisions(
      ARRAY[$1::json], ARRAY[$2], '{""}', '{configmaps}', '{default}', ARRAY[$3], '{uid}', ARRAY[$4::bigint],
      ARRAY[$5::uuid], '{null}', '{old}', '{""}', '{""}', '{""}', '{""}', NULL, NULL, clock_timestamp())`,
    values: [String(json), expected === 0n ? 'create' : 'update', name, String(expected), randomUUID()],
  });
  return BigInt(rows[0]?.accepted ?? 0);
}

/** All objects as servers of the version before load them: from the table, which has all of them. */
async function loadAsBefore(client: pg.Client): Promise<Record<string, unknown>> {
  const { rows } = await client.query<{ name: string; data: string | null }>({
    name: 'load',
    text: "SELECT name, object->'data'->>'data' AS data FROM objects ORDER BY name",
  });
  return Object.fromEntries(rows.map(({ name, data }) => [name, data]));
}

const dataOf = ({ json }: StoredObject): unknown => JSON.parse(String(json)).data.data;

async function load({ reader }: PostgresLog): Promise<Record<string, unknown>> {
  const objects: StoredObject[] = [];
  await reader.loadCurrent(
    () => {},
    (batch) => objects.push(...batch),
  );
  return Object.fromEntries(objects.map((one) => [one.key.name, dataOf(one)]));
}

const countUnfilled = async (database: TestDatabase): Promise<number> =>
  (await database.query('SELECT FROM objects WHERE object IS NULL')).length;

test('bytes are left to the log when the last server has gone that looks for them among the objects, and not before', async () => {
  await using database = await createDatabaseOfBefore();
  await keepHistory(database, '0');
  const old = await connect(database, OLD_SERVER);
  const expected: Record<string, unknown> = {};
  const revisions = new Map<string, bigint>();
  const commitOld = async (name: string, data: string): Promise<void> => {
    revisions.set(name, await commitAsBefore(old, name, revisions.get(name) ?? 0n, data));
    expected[name] = data;
  };
  for (let n = 0; n < 250; n += 1) await commitOld(`o${n}`, 'one');

  expect(await upgrade(database)).toEqual(['objects_without_bytes']);
  const log = openLog(database.url);
  for (let n = 0; n < 20; n += 1) {
    await commitOld(`o${n}`, `two ${n}`);
    await log.committer.commit(write('create', `new-${n}`, undefined, `${n}`));
    expected[`new-${n}`] = `${n}`;
    expect(await loadAsBefore(old)).toEqual(expected);
    expect(await load(log)).toEqual(expected);
  }
  // Partitions go as before, by whichever of the two.
  await beginPartition(database);
  await commitOld('edge', 'one');
  await commitOld('next', 'one');
  expect(await fillObjects(database)).toBe(0);
  await old.query('SELECT compact_history()');
  expect((await old.query('SELECT leave_partition() AS outcome')).rows).toEqual([{ outcome: 'left' }]);
  expect(await log.compactor.compact(never)).toBe(1);
  expect(await loadAsBefore(old)).toEqual(expected);
  expect(await load(log)).toEqual(expected);
  expect(await countUnfilled(database)).toBe(0);

  await old.end();
  const states = async () => {
    await log.compactor.compact(never);
    const client = await connect(database, 'list');
    const listed = await listMigrations(client, readMigrations()).finally(() => client.end());
    return new Set(listed.map(({ state }) => state));
  };
  // The server that runs does what is left.
  await vi.waitFor(async () => expect(await states()).toEqual(new Set(['applied'])), PATIENCE);
  await log.committer.commit(write('update', 'edge', revisions.get('edge') as Revision, 'two'));
  expected.edge = 'two';
  expect(await countUnfilled(database)).toBe(1);
  expect(await load(log)).toEqual(expected);
  await beginPartition(database);
  await log.committer.commit(write('create', 'last', undefined, 'one'));
  expected.last = 'one';
  await log.committer.commit(write('update', 'o249', revisions.get('o249') as Revision, 'two'));
  expected.o249 = 'two';
  expect(await log.compactor.compact(never)).toBe(1);
  expect(await countUnfilled(database)).toBe(1);
  expect(await load(log)).toEqual(expected);
  await log.close();
});

test('a server serves the schema of the version before, until somebody migrates it who may', async () => {
  await using database = await createDatabaseOfBefore();
  await keepHistory(database, '0');
  const log = openLog(database.url, { onTrouble: () => {} });
  const order = write('create', 'a', undefined, 'one');
  const revision = await log.committer.commit(order);
  await log.committer.commit({ ...write('create', 'due'), expiresAt: new Date(Date.now() - 1000) });
  expect(await log.expirer.expire()).toBe(1);
  expect(await load(log)).toEqual({ a: 'one' });
  expect((await log.reader.get(order.key))?.json.equals(order.json)).toBe(true);
  const { objects } = await log.reader.listAt({ resource: CONFIG_MAPS, scope: {}, limit: 10, revision });
  expect(objects.map(dataOf)).toEqual(['one']);
  await expect(fillObjects(database)).rejects.toMatchObject({ code: '42883' });
  await beginPartition(database);
  for (const name of ['b', 'c']) await log.committer.commit(write('create', name));
  // Whoever may not migrate compacts all the same.
  await database.query("INSERT INTO schema_migrations (id, name, checksum) VALUES (9999, 'later', '')");
  expect(await log.compactor.compact(never)).toBe(1);
  expect(await database.query("SELECT to_regclass('filling') AS filling")).toEqual([{ filling: null }]);
  expect(await load(log)).toEqual({ a: 'one', b: 'x', c: 'x' });
  await log.close();
});

test('what people have built on the objects is whole after the upgrade', async () => {
  await using database = await createTestDatabase({ empty: true });
  await upgrade(database, 22);
  const old = await connect(database, 'old');
  await commitAsBefore(old, 'old', 0n, 'zero');
  await old.end();
  await database.query('CREATE VIEW mine AS SELECT name, object FROM objects');
  await upgrade(database);
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a', undefined, 'one'));
  expect(await countUnfilled(database)).toBe(1);
  expect(await database.query("SELECT name, object->'data'->>'data' AS data FROM mine")).toEqual([
    { name: 'old', data: 'zero' },
    { name: 'a', data: 'one' },
  ]);
  await log.close();
});

test('the upgrade that leaves out bytes, cut off anywhere, goes on where it is begun again', async () => {
  await using database = await createDatabaseOfBefore();
  const old = await connect(database, 'old');
  await commitAsBefore(old, 'a', 0n, 'one');
  await old.end();
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
  }
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'b', undefined, 'two'));
  expect(await countUnfilled(database)).toBe(1);
  expect(await load(log)).toEqual({ a: 'one', b: 'two' });
  await fillObjects(database);
  expect(await load(log)).toEqual({ a: 'one', b: 'two' });
  await log.close();
});
