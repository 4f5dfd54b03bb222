import { expect, test } from 'vitest';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import type { WindowWish } from '../../../src/storage/postgres/upkeep/history-window.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

const never = new AbortController().signal;
const DAYS_30 = 30 * 24 * 3600 * 1000;
const MINUTES_5 = 300_000;

const keep = ({ url }: TestDatabase, wish: WindowWish) =>
  setUpDatabase({ urls: [url], poolSize: 1 }, (database) => database.keepHistoryWindow(wish));

/** Answers the newest revision that is old. */
async function writeLongAgo(database: TestDatabase): Promise<Revision> {
  const log = openLog(database.url);
  const first = await log.committer.commit(write('create', 'a'));
  const second = await log.committer.commit(write('update', 'a', first));
  await log.committer.commit(write('update', 'a', second));
  const age = "committed_at - interval '29 days'";
  await database.query(`UPDATE revisions SET committed_at = ${age} WHERE revision <= $1`, [
    second.toString(),
  ]);
  await log.close();
  return second;
}

test('a server that is started without a window of its own deletes nothing that others keep', async () => {
  await using database = await createTestDatabase();
  expect(await keep(database, { windowMs: DAYS_30, isGiven: true })).toEqual({
    windowMs: DAYS_30,
    before: 'unset',
  });
  const second = await writeLongAgo(database);
  expect(await keep(database, { windowMs: MINUTES_5, isGiven: false })).toEqual({ windowMs: DAYS_30 });
  const log = openLog(database.url);
  await log.compactor.compact(never);
  expect(await log.reader.compactedRevision()).toBe(NO_REVISION);
  // A flag that is given changes the window, also for servers that run, and the answer says what it was.
  const changed = await keep(database, { windowMs: MINUTES_5, isGiven: true });
  expect(changed).toEqual({ windowMs: MINUTES_5, before: DAYS_30 });
  await log.compactor.compact(never);
  expect(await log.reader.compactedRevision()).toBe(second);
  await log.close();
});

test('until a server sets the window, all of history is kept', async () => {
  await using database = await createTestDatabase();
  await writeLongAgo(database);
  const log = openLog(database.url);
  await log.compactor.compact(never);
  expect(await log.reader.compactedRevision()).toBe(NO_REVISION);
  expect(await keep(database, { windowMs: MINUTES_5, isGiven: false })).toEqual({
    windowMs: MINUTES_5,
    before: 'unset',
  });
  await log.close();
});

test('servers that start together agree', async () => {
  await using database = await createTestDatabase();
  const kept = await Promise.all(
    Array.from({ length: 4 }, (_, n) => keep(database, { windowMs: MINUTES_5 + n, isGiven: false })),
  );
  expect(new Set(kept.map(({ windowMs }) => windowMs)).size).toBe(1);
});

test('what is kept is said with the windows of resources that have a shorter one', async () => {
  await using database = await createTestDatabase();
  const shorter = new Map([
    ['events', MINUTES_5],
    ['pods', DAYS_30 + 1],
  ]);
  await keep(database, { windowMs: DAYS_30, shorter, isGiven: true });
  expect(await keep(database, { windowMs: DAYS_30, isGiven: false })).toEqual({
    windowMs: DAYS_30,
    shorter: new Map([['events', MINUTES_5]]),
  });
});
