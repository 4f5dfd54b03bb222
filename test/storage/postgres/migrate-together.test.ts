// @module-tag long
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { BASELINE, migrateWithOwn, withOwnMigrations } from './own-migrations.ts';
import { writeSchema } from './written-schema.ts';

const SERVERS = 5;
const OBJECTS = 300;

const migrateTogether = (database: TestDatabase): Promise<PromiseSettledResult<string[]>[]> =>
  Promise.allSettled(Array.from({ length: SERVERS }, () => migrateWithOwn(database)));

let schema = '';

beforeAll(async () => {
  await using fresh = await createTestDatabase({ empty: true });
  await migrateWithOwn(fresh);
  await fresh.query('SELECT make_partition(0)');
  schema = await writeSchema(fresh.query);
});

/** A database of that migration, with objects, of which some were updated; 0: an empty one. */
async function createDatabaseAt(migration: number): Promise<TestDatabase> {
  const database = await createTestDatabase({ empty: true });
  if (migration === 0) return database;
  await migrateWithOwn(database, { to: migration });
  await database.query(COMMIT, ['create', 0, OBJECTS]);
  await database.query(COMMIT, ['update', OBJECTS / 2, OBJECTS]);
  return database;
}

/** As servers of the baseline do it. */
const COMMIT = `
  SELECT commit_revisions(
    array_agg(json_build_object('kind', 'ConfigMap', 'apiVersion', 'v1', 'data', json_build_object('verb', $1::text))),
    array_agg($1::text), array_agg(''::text), array_agg('configmaps'::text), array_agg('default'::text), array_agg('a' || n),
    array_agg('uid'::text),
    array_agg(CASE $1::text WHEN 'create' THEN 0 ELSE n END), array_agg(gen_random_uuid()), array_agg(NULL::timestamptz),
    array_agg('old'::text), array_agg(''::text), array_agg(''::text), array_agg(''::text), array_agg(''::text), NULL, NULL, clock_timestamp(), NULL, NULL)
  FROM generate_series($2::bigint + 1, $3::bigint) n`;

/** As after an upgrade by one server alone. */
async function expectWhole(database: TestDatabase, from: number): Promise<void> {
  const ids = await database.query<{ id: number }>('SELECT id FROM schema_migrations ORDER BY id');
  expect(ids.map(({ id }) => id).filter((id) => id >= BASELINE)).toEqual(
    withOwnMigrations().map(({ id }) => id),
  );
  expect(await database.query('SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid')).toEqual([]);
  const half = (verb: string) => ({ verb, count: String(OBJECTS / 2) });
  const states = await database.query(
    "SELECT object->'data'->>'verb' AS verb, count(*) FROM current_objects GROUP BY 1 ORDER BY 1",
  );
  expect(states).toEqual(from === 0 ? [] : [half('create'), half('update')]);
  await database.query('SELECT make_partition(0)');
  expect(await writeSchema(database.query)).toBe(schema);
}

test.each([0, BASELINE, 65, 78, 84])(
  'servers that start at the same time on a database of migration %i all come up, and apply each of the others once',
  async (from) => {
    await using database = await createDatabaseAt(from);
    const outcomes = await migrateTogether(database);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    const applied = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
    const missing = withOwnMigrations().filter(({ id }) => id > from);
    expect(applied.sort()).toEqual(missing.map(({ name }) => name).sort());
    await expectWhole(database, from);
  },
);

/** Those that migrate hold one of its locks. */
const TERMINATE = `
  SELECT pg_terminate_backend(pid) AS ended
  FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = hashtext('pg-apiserver')::oid
  LIMIT 1`;

test.each([0, BASELINE, 78])(
  'servers whose connections end while they migrate from %i leave the rest to the others',
  async (from) => {
    await using database = await createDatabaseAt(from);
    let isOver = false;
    const migrating = migrateTogether(database).finally(() => (isOver = true));
    let ended = 0;
    while (!isOver && ended < SERVERS - 1) {
      ended += (await database.query(TERMINATE)).length;
      // All of the migrations may take a few hundredths of a second.
      await pause(ended === 0 ? 1 : 100);
    }
    const outcomes = await migrating;
    expect(ended).toBeGreaterThan(0);
    const up = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(up.length).toBeGreaterThanOrEqual(SERVERS - ended);
    await expectWhole(database, from);
  },
);
