import pg from 'pg';
import { expect, test } from 'vitest';
import type { DatabaseSource } from '../../../src/storage/postgres/connection/connection.ts';
import { PostgresHistory } from '../../../src/storage/postgres/past/postgres-history.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, withoutLoss } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

test('people see in SQL who changed what, and any object as it was', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const created = await log.committer.commit(write('create', 'web', undefined, 'one'));
  const updated = await log.committer.commit(write('update', 'web', created, 'two'));
  const removed = await log.committer.commit(write('delete', 'web', updated, 'two'));
  const history = await database.query(
    "SELECT who, verb, what, namespace, name, object->'data'->>'data' AS data FROM history ORDER BY revision",
  );
  const row = { who: 'tester', what: 'configmaps', namespace: 'default', name: 'web' };
  expect(history).toEqual([
    { ...row, verb: 'create', data: 'one' },
    { ...row, verb: 'update', data: 'two' },
    { ...row, verb: 'delete', data: 'two' },
  ]);
  const at = async (position: string): Promise<unknown> => {
    const text = `SELECT object_at('', 'configmaps', 'default', 'web', ${position})->'data'->>'data' AS data`;
    return (await database.query<{ data: string | null }>(text))[0]?.data;
  };
  expect(await at(`${created}`)).toBe('one');
  expect(await at(`${updated}`)).toBe('two');
  expect(await at(`${removed}`)).toBeNull();
  expect(await at(`(SELECT committed_at FROM revisions WHERE revision = ${created})`)).toBe('one');
  expect(await at(`now() - interval '1 day'`)).toBeNull();
  expect(await at('now()')).toBeNull();
  // As people write it: a text, whose type PostgreSQL has to choose.
  expect(await at(`'${created}'`)).toBe('one');
  expect(await at(`(SELECT committed_at::text FROM revisions WHERE revision = ${updated})`)).toBe('two');
  expect(await at(`'now'`)).toBeNull();
  await expect(at(`'last week'`)).rejects.toThrow(/invalid input syntax for type timestamp/);
  const counts = await database.query(`SELECT
    (SELECT count(*) FROM cluster_at('${created}'))::int AS cluster,
    (SELECT count(*) FROM cluster_at('${created}', 'default', 'configmaps'))::int AS namespace,
    (SELECT count(*) FROM cluster_diff('${created}', '${updated}') WHERE path = 'data.data')::int AS diff`);
  expect(counts).toEqual([{ cluster: 1, namespace: 1, diff: 1 }]);
  await log.close();
});

test('an object that jsonb cannot hold does not hide the others', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a', undefined, 'NUL \0, half a pair \ud800'));
  await log.committer.commit(write('create', 'b', undefined, 'fine'));
  for (const view of ['objects_jsonb', 'history_jsonb']) {
    const rows = await database.query(`SELECT object->'data'->>'data' AS data FROM ${view} ORDER BY name`);
    expect(rows).toEqual([{ data: 'NUL \ufffd, half a pair \ufffd' }, { data: 'fine' }]);
  }
  await log.close();
});

test('time in the log never runs backwards, with any jump of the clock', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a'));
  await database.query("UPDATE revisions SET committed_at = now() + interval '1 hour'");
  await log.committer.commit(write('create', 'b'));
  const rows = await database.query('SELECT count(DISTINCT committed_at)::int AS times FROM revisions');
  expect(rows).toEqual([{ times: 1 }]);
  await log.close();
});

test('a page that is compacted while it is read does not end the list', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const names = ['a', 'b', 'c', 'd'];
  const written: Revision[] = [];
  for (const name of names) written.push(await log.committer.commit(write('create', name)));
  const [, second] = written;
  let questions = 0;
  const pool = withoutLoss(new pg.Pool({ connectionString: database.url }));
  const compacting: DatabaseSource = async () => {
    questions += 1;
    // The second reads the page that the first has found; the partition is dropped in between.
    if (questions === 2) {
      await database.query('DELETE FROM revisions WHERE revision <= $1', [second?.toString()]);
      await database.query('UPDATE compaction SET revision = $1', [second?.toString()]);
    }
    return { pool, prepares: false };
  };
  const history = new PostgresHistory(compacting, log.reader);
  const page = await history.rows({ order: 'oldest first', limit: 2, states: 'none' });
  expect(page).toEqual({ rows: [], next: second });
  await pool.end();
  await log.close();
});
