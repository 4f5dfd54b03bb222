import { expect, test } from 'vitest';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { keepHistory, openLog, write } from './kit.ts';

const never = new AbortController().signal;
const YEAR_MS = 365 * 24 * 3600 * 1000;

async function newestTime(database: TestDatabase): Promise<number> {
  const text = 'SELECT committed_at FROM revisions ORDER BY revision DESC LIMIT 1';
  const [row] = await database.query<{ committed_at: Date }>(text);
  return row?.committed_at.getTime() ?? 0;
}

const timesRise = `SELECT bool_and(rises) AS rises FROM (
  SELECT committed_at >= lag(committed_at, 1, '-infinity') OVER (ORDER BY revision) AS rises FROM revisions) r`;

test('a database whose clock is far ahead of the servers does not take the log along, and is reported', async () => {
  await using database = await createTestDatabase();
  const troubles: string[] = [];
  const now = (): number => Date.now() - YEAR_MS;
  const log = openLog(database.url, { now, onTrouble: (message) => troubles.push(message) });
  await log.committer.commit(write('create', 'a'));
  expect(Math.abs((await newestTime(database)) - now())).toBeLessThan(120_000);
  await log.compactor.compact(never);
  expect(troubles).toHaveLength(1);
  expect(troubles[0]).toMatch(
    /^the database's clock is 3153\d{4} s ahead of this server's: set them right; until then this server cuts off no history$/,
  );
  await log.close();
});

test('a clock that jumps ahead cuts off no history', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 hour');
  // To this server the database's clock is ten days ahead.
  const log = openLog(database.url, { now: () => Date.now() - 10 * 24 * 3600 * 1000, onTrouble: () => {} });
  const first = await log.committer.commit(write('create', 'a'));
  await log.committer.commit(write('update', 'a', first));
  await database.query("UPDATE revisions SET committed_at = now() - interval '10 days'");
  await log.compactor.compact(never);
  expect(await log.reader.compactedRevision()).toBe(NO_REVISION);
  await log.close();
});

test('rows that a clock has dated a year ahead are given the present, and compaction goes on', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const troubles: string[] = [];
  const log = openLog(database.url, { onTrouble: (message) => troubles.push(message) });
  const commit = async (count: number, last?: Revision): Promise<Revision> => {
    let revision = last ?? (await log.committer.commit(write('create', 'a')));
    for (let n = 0; n < count; n += 1) revision = await log.committer.commit(write('update', 'a', revision));
    return revision;
  };
  const sane = await commit(3);
  const wrong = await commit(1500, sane);
  await database.query(
    "UPDATE revisions SET committed_at = committed_at + interval '1 year' WHERE revision > $1",
    [sane.toString()],
  );
  const pinned = await commit(2, wrong);
  expect(await newestTime(database)).toBeGreaterThan(Date.now() + YEAR_MS / 2);

  await log.compactor.compact(never);
  expect(await newestTime(database)).toBeLessThanOrEqual(Date.now());
  expect(troubles).toEqual(['1502 revisions were dated in the future; they have the present time now']);
  expect(await database.query(timesRise)).toEqual([{ rises: true }]);
  const last = await commit(1, pinned);
  await log.compactor.compact(never);
  expect(await log.reader.compactedRevision()).toBe(pinned);
  expect(await newestTime(database)).toBeLessThanOrEqual(Date.now());
  expect(last).toBeGreaterThan(pinned);
  await log.close();
});

test('a server whose own clock is behind does not take right times for wrong ones', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a'));
  const before = await newestTime(database);
  const behind = openLog(database.url, { now: () => Date.now() - YEAR_MS });
  await behind.committer.commit(write('create', 'b'));
  await behind.compactor.compact(never);
  expect(await newestTime(database)).toBe(before);
  await Promise.all([log.close(), behind.close()]);
});
