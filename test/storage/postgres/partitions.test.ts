import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, Recorder, write } from './kit.ts';
import { makeHistory, pagesOf } from './made-history.ts';

const never = new AbortController().signal;

const partitions = (database: TestDatabase) =>
  database.query<{ low: string; high: string }>('SELECT low, high FROM log_partitions()');

const partitionOf = async (database: TestDatabase, revision: Revision): Promise<string | undefined> => {
  const text = 'SELECT tableoid::regclass::text AS partition FROM revisions WHERE revision = $1';
  return (await database.query<{ partition: string }>(text, [revision.toString()]))[0]?.partition;
};

test('writes go on across the edge of a partition, and one batch may have both sides of it', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(await log.reader.currentRevision(), recorder, stop.signal);
  await log.compactor.makeAhead();
  const [first] = await partitions(database);
  await database.query("SELECT setval('revisions_revision_seq', $1)", [Number(first?.high) - 6]);
  const before = await log.committer.commit(write('create', 'before'));
  const revisions = await Promise.all(
    Array.from({ length: 20 }, (_, n) => log.committer.commit(write('create', `n${n}`))),
  );
  const places = await Promise.all([before, ...revisions].map((one) => partitionOf(database, one)));
  expect(new Set(places)).toEqual(new Set(['revisions_1', 'revisions_10001']));
  const batches = await database.query(
    'SELECT follows_revision FROM revisions GROUP BY 1 HAVING count(DISTINCT tableoid) = 2',
  );
  expect(batches).toHaveLength(1);
  await recorder.reached(revisions.reduce((a, b) => (a > b ? a : b)));
  expect(recorder.changes).toHaveLength(21);
  stop.abort();
  await tail;
  await log.close();
});

test('a write for which no partition was made ahead makes it, and is streamed like any other', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(await log.reader.currentRevision(), recorder, stop.signal);
  const [{ high } = { high: '' }] = await database.query<{ high: string }>('SELECT high FROM log_bounds');
  await database.query("SELECT setval('revisions_revision_seq', $1)", [high]);
  const last = await log.committer.commit(write('create', 'a'));
  expect(last).toBe(BigInt(high) + 1n);
  expect(await partitionOf(database, last)).toBe(`revisions_${high}`);
  await recorder.reached(last);
  // Revisions that a new epoch has left out are no reason for more than one partition.
  await database.query("SELECT setval('revisions_revision_seq', 1800000000000)");
  const far = await log.committer.commit(write('create', 'b'));
  await recorder.reached(far);
  expect(recorder.changes.map(({ key }) => key.name)).toEqual(['a', 'b']);
  expect(await partitions(database)).toHaveLength(3);
  stop.abort();
  await tail;
  await log.close();
});

test('a partition is made ahead before it is needed, once, however many servers look after it', async () => {
  await using database = await createTestDatabase();
  const logs = [1, 2, 3].map(() => openLog(database.url));
  const [log] = logs as [PostgresLog];
  for (const name of ['a', 'b']) await log.committer.commit(write('create', name));
  const made = await Promise.all(logs.map(({ compactor }) => compactor.makeAhead()));
  expect(made.sort()).toEqual([0, 0, 1]);
  const count = (await partitions(database)).length;
  expect(await beginPartition(database)).toBe(count);
  await log.committer.commit(write('create', 'c'));
  expect(await partitions(database)).toHaveLength(count);
  await Promise.all(logs.map((one) => one.close()));
});

test('a partition is as large as what was written in the last eighth of the window, within bounds', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '80 minutes');
  const log = openLog(database.url);
  const size = async (): Promise<number> =>
    Number((await database.query<{ size: string }>('SELECT next_partition_size() AS size'))[0]?.size);
  expect(await size()).toBe(10_000);
  const first = await log.committer.commit(write('create', 'a'));
  await database.query("UPDATE revisions SET committed_at = now() - interval '11 minutes'");
  await database.query("SELECT setval('revisions_revision_seq', $1)", [(first + 70_000n).toString()]);
  const last = await log.committer.commit(write('create', 'b'));
  expect(await size()).toBe(Number(last - first));
  await database.query("UPDATE revisions SET committed_at = now() - interval '11 minutes'");
  expect(await size()).toBe(10_000);
  await log.close();
});

test('what every partition has: its CHECKs, its indexes, and storage that keeps objects in their rows', async () => {
  await using database = await createTestDatabase();
  const [options] = await database.query(
    `SELECT c.reloptions::text AS options,
       (SELECT array_agg(DISTINCT pg_get_indexdef(i.indexrelid)) FROM pg_index i WHERE i.indrelid = c.oid)::text AS indexes
     FROM pg_class c WHERE oid = 'revisions_1'::regclass`,
  );
  expect(options?.options).toMatch(/toast_tuple_target=(4080|8160)/);
  for (const columns of [
    '(revision)',
    '(api_group, resource, namespace, name, revision DESC)',
    '(resource, revision)',
    'brin (committed_at)',
    '(previous_revision) INCLUDE (revision) WHERE (previous_revision < 1)',
  ])
    expect(options?.indexes).toContain(columns);
  const insert = (verb: string, object: string): Promise<unknown> =>
    database.query(
      `INSERT INTO revisions (api_group, resource, namespace, name, uid, verb, object, committed_at, write_id,
         username, user_agent, source_address, request_id, field_manager, follows_revision)
       VALUES ('', '', '', '', '', $1, $2, now(), gen_random_uuid(), '', '', '', '', '', 0)`,
      [verb, object],
    );
  await expect(insert('bind', '{}')).rejects.toMatchObject({ constraint: 'revisions_verb_check' });
  await expect(database.query('UPDATE revisions SET object = NULL')).resolves.toEqual([]);
  await insert('create', '{}');
  await expect(database.query('UPDATE revisions SET object = NULL')).rejects.toMatchObject({
    constraint: 'revisions_check',
  });
});

test('an object that is overwritten stays on its page, whose room the next write uses: no index has a column that changes', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  let last = await log.committer.commit(write('create', 'a'));
  for (let n = 0; n < 3; n += 1) last = await log.committer.commit(write('update', 'a', last, `${n}`));
  // A session of PostgreSQL 14 reports what it did with its next transaction, or at its end.
  await log.close();
  const updates = 'SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = $1';
  await expect
    .poll(() => database.query(updates, ['objects']))
    .toEqual([{ n_tup_upd: '3', n_tup_hot_upd: '3' }]);
});

test('an object that a page takes is in its row, in every partition of the log and among the objects', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  // Nothing that compression makes smaller.
  const data = (): string => randomBytes(2750).toString('hex');
  let last = await log.committer.commit(write('create', 'a', undefined, data()));
  expect(await partitionOf(database, last)).toBe('revisions_1');
  await beginPartition(database);
  last = await log.committer.commit(write('update', 'a', last, data()));
  expect(await partitionOf(database, last)).not.toBe('revisions_1');
  await fillObjects(database);
  const outside = await database.query(
    `SELECT c.oid::regclass::text AS "table", pg_relation_size(c.reltoastrelid) AS bytes
     FROM pg_class c
     WHERE c.oid IN (SELECT partition FROM log_partitions() UNION SELECT 'objects'::regclass)
       AND pg_relation_size(c.reltoastrelid) > 0`,
  );
  expect(outside).toEqual([]);
  await log.close();
});

test('the room of large objects is used again as soon as autovacuum has come by, which the table sees to', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  let last = await log.committer.commit(write('create', 'a'));
  for (let round = 0; round < 6; round += 1) {
    for (let n = 0; n < 100; n += 1) {
      last = await log.committer.commit(write('update', 'a', last, `${n}`.repeat(3000)));
      await fillObjects(database);
    }
    await database.query('VACUUM objects');
  }
  const [large] = await database.query<{ bytes: string }>("SELECT pg_table_size('objects') AS bytes");
  expect(Number(large?.bytes)).toBeLessThan(250 * 8192);
  const [options] = await database.query<{ options: string }>(
    "SELECT reloptions::text AS options FROM pg_class WHERE oid = 'objects'::regclass",
  );
  for (const option of ['fillfactor=70', 'autovacuum_vacuum_scale_factor=0.02'])
    expect(options?.options).toContain(option);
  await log.close();
});

test('nothing is ever deleted row by row from the log', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  let last = await log.committer.commit(write('create', 'a'));
  for (let n = 0; n < 5; n += 1) {
    await beginPartition(database);
    last = await log.committer.commit(write('update', 'a', last));
    last = await log.committer.commit(write('update', 'a', last));
    await log.compactor.compact(never);
  }
  const [size] = await database.query<{ rows: number; bytes: string }>(
    `SELECT count(*)::int AS rows, (SELECT sum(pg_relation_size(partition)) FROM log_partitions()) AS bytes FROM revisions`,
  );
  expect(size?.rows).toBe(2);
  expect(Number(size?.bytes)).toBe(8192);
  await log.close();
});

test('which revision has replaced a state is read from an index alone, however far away it lies', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 hour');
  await makeHistory(database, { resource: 'configmaps', objects: 2000, rounds: 20 });
  await database.query('VACUUM revisions');
  const plan = await database.query<{ 'QUERY PLAN': string }>(`
    EXPLAIN SELECT r.revision, r.previous_revision FROM revisions r
    WHERE r.previous_revision < 10001 AND r.previous_revision > 0 AND r.revision >= 10001 AND r.revision > 0
    ORDER BY r.previous_revision LIMIT 1000`);
  const text = plan.map((line) => line['QUERY PLAN']).join('\n');
  expect(text).toContain('Index Only Scan using revisions_10001_by_older_state');
});

test('states that are kept of a partition cost the same at its end as at its beginning', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 hour');
  // Each state of the second half of the partition is replaced after its end.
  await makeHistory(database, { resource: 'configmaps', objects: 9000, rounds: 3 });
  await database.query('VACUUM ANALYZE revisions');
  // What the planner believes of a partition a thousand times as large.
  await database.query(
    'ALTER FUNCTION keep_superseded(regclass, bigint, bigint, bigint, integer) SET enable_nestloop = off',
  );
  const [{ low, high } = { low: '', high: '' }] = (await partitions(database)).slice(1);
  const pagesAfter = (copied: number): Promise<number> =>
    pagesOf(database, `SELECT keep_superseded('revisions_${low}', ${high}, ${copied}, 0, 100)`);
  const [first, last] = [await pagesAfter(Number(low)), await pagesAfter(Number(high) - 2200)];
  expect(last).toBeLessThan(first * 1.5);
});
