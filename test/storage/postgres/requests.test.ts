import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, keepHistory, openLog, write } from './kit.ts';
import { makeHistory, pagesOf } from './made-history.ts';

const never = new AbortController().signal;

const indexed = async (database: TestDatabase): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_indexes WHERE indexdef LIKE '%USING hash (request_id)%' ORDER BY 1",
  );
  return rows.map(({ name }) => name);
};

/** Two partitions that are written to no more, and one that is. */
async function writePartitions(database: TestDatabase, log: PostgresLog): Promise<void> {
  await keepHistory(database, '1 hour');
  await log.compactor.makeAhead();
  for (const name of ['a', 'b', 'c']) {
    await log.committer.commit(write('create', name));
    if (name !== 'c') await beginPartition(database);
    await log.committer.commit(write('create', `${name}2`));
    await log.compactor.makeAhead();
  }
}

test('what a request has changed is found by an index, in all partitions but those that are written to', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await keepHistory(database, '1 hour');
  await makeHistory(database, { resource: 'configmaps', objects: 200, rounds: 200 });
  await log.committer.commit(write('create', 'newest'));
  expect(await log.compactor.indexRequests(never)).toBe(4);
  expect(await indexed(database)).toEqual([1, 10001, 20001, 30001].map((low) => `revisions_${low}`));
  expect(await log.compactor.indexRequests(never)).toBe(0);
  const [{ id } = { id: '' }] = await database.query<{ id: string }>(
    'SELECT request_id AS id FROM history WHERE revision = 12345',
  );
  const text = `SELECT revision FROM history WHERE request_id = '${id}'`;
  expect(await database.query(text)).toEqual([{ revision: '12345' }]);
  expect(await pagesOf(database, text)).toBeLessThan(40);
  await log.close();
});

test('a partition in which one request wrote very much is indexed at as many pages a row as others', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await keepHistory(database, '1 hour');
  await database.query(
    "CREATE OR REPLACE FUNCTION next_partition_size() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 30000::bigint'",
  );
  const rows = 45_000;
  await makeHistory(database, { resource: 'configmaps', objects: 300, rounds: rows / 300 });
  // As of what expires, which no request has ended.
  await database.query("UPDATE revisions SET request_id = '' WHERE revision BETWEEN 10001 AND 35000");
  expect(await log.compactor.indexRequests(never)).toBe(2);
  const { index } = Object.fromEntries(log.compactor.costs);
  expect((index?.pagesHit ?? 0) + (index?.pagesRead ?? 0)).toBeLessThan(rows * 8);
  expect(await indexed(database)).toEqual(['revisions_1']);
  expect(await log.compactor.indexRequests(never)).toBe(0);
  const [{ id } = { id: '' }] = await database.query<{ id: string }>(
    'SELECT request_id AS id FROM revisions WHERE revision = 39000',
  );
  expect(
    await pagesOf(database, 'SELECT revision FROM revisions_10001 WHERE request_id = $1', [id]),
  ).toBeLessThan(20);
  await log.close();
});

test('a partition is indexed once, however many servers look after it', async () => {
  await using database = await createTestDatabase();
  const logs = [1, 2, 3].map(() => openLog(database.url));
  await writePartitions(database, logs[0] as PostgresLog);
  const made = await Promise.all(logs.map(({ compactor }) => compactor.indexRequests(never)));
  expect(await indexed(database)).toHaveLength(2);
  expect(made.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(2);
  await Promise.all(logs.map((one) => one.close()));
});

test('while a partition is indexed commits, reads and new partitions go on', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await writePartitions(database, log);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // Until the transaction ends the index is being made.
  await client.query('BEGIN');
  expect((await client.query('SELECT index_requests() AS of')).rows).toEqual([{ of: 'revisions_10001' }]);
  await log.committer.commit(write('create', 'meanwhile'));
  const before = (await database.query('SELECT FROM log_partitions()')).length;
  await beginPartition(database);
  expect(await log.compactor.makeAhead()).toBe(1);
  await log.committer.commit(write('create', 'next'));
  await log.committer.commit(write('create', 'one more'));
  expect(await database.query('SELECT FROM log_partitions()')).toHaveLength(before + 1);
  expect(await database.query('SELECT FROM history')).toHaveLength(9);
  // Another server leaves it alone, and says nothing.
  await expect(log.compactor.indexRequests(never)).rejects.toMatchObject({ code: '55P03' });
  await client.query('COMMIT');
  await client.end();
  await log.compactor.indexRequests(never);
  expect(await indexed(database)).toHaveLength(3);
  await log.close();
});

test('the upkeep of a server indexes what is written to no more', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url, { compactionIntervalMs: 3_600_000 });
  await writePartitions(database, log);
  const stop = new AbortController();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const running = log.compactor.run(stop.signal);
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await vi.waitFor(async () => expect(await indexed(database)).toHaveLength(2), PATIENCE);
  stop.abort();
  await running;
  await log.close();
});

test('a partition that is about to go is not indexed', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await writePartitions(database, log);
  await database.query(
    "UPDATE revisions SET committed_at = committed_at - interval '2 hours' WHERE revision <= 10001",
  );
  await database.query('SELECT compact_history()');
  await log.compactor.indexRequests(never);
  expect(await indexed(database)).toEqual(['revisions_10001']);
  await log.close();
});
