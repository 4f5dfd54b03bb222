import { expect, test, vi } from 'vitest';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';
import { startStandby, takeBackup } from './copies.ts';
import { openLog, Recorder, write } from './kit.ts';
import { LATEST, listNames, startServer, writeMany } from './served-log.ts';
import { connect } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const COMPACTED = { failure: { kind: 'compacted' } };
/** Servers are stopped, copied and started again. */
const LONG_MS = 90_000;

test('after a promotion that lost commits no revision is given out twice, and no server goes on from a lost one', {
  tags: 'long',
  timeout: LONG_MS,
}, async () => {
  await using primary = await startPrivatePostgres();
  await using standby = await startStandby(primary);
  await using server = await startServer([primary.url, standby.url]);
  const kept = await writeMany(server, 'kept', 3);
  await using replica = await connect(standby.url);
  const there = 'SELECT FROM revisions';
  await vi.waitFor(async () => expect(await replica.query(there)).toHaveLength(3), PATIENCE);
  await standby.cutOff();
  const lost = await writeMany(server, 'lost', 5);
  const lastLost = lost.at(-1) ?? NO_REVISION;
  await server.cache.list(LATEST);
  const watches = [kept[0], lost[0], lastLost].map((revision) => server.watchFrom(revision ?? NO_REVISION));
  const ended = Promise.all(watches.map((watch) => expect(watch).rejects.toMatchObject(COMPACTED)));
  await primary.kill();
  await standby.promote();

  expect(await listNames(server)).toEqual(['kept-0', 'kept-1', 'kept-2']);
  await ended;
  const stale = server.cache.commit(write('update', 'kept-0', lost[0]));
  await expect(stale).rejects.toMatchObject({ failure: { kind: 'conflict' } });
  const next = await server.cache.commit(write('update', 'kept-0', kept[0]));
  expect(next).toBeGreaterThan(lastLost + 1_000_000n);
  // One that has never seen the lost revisions refuses them too.
  await using other = await startServer([primary.url, standby.url]);
  for (const { watchFrom, cache } of [server, other]) {
    for (const revision of [...kept, ...lost]) {
      await expect(watchFrom(revision)).rejects.toMatchObject(COMPACTED);
      const exact = { ...LATEST, freshness: { kind: 'exact', revision } } as const;
      await expect(cache.list(exact)).rejects.toMatchObject(COMPACTED);
    }
  }
  const epochs = await replica.query<{ reason: string }>('SELECT reason FROM epochs ORDER BY epoch');
  expect(epochs.map(({ reason }) => reason)).toEqual([
    'the schema was made',
    'PostgreSQL went from timeline 00000001 to 00000002',
  ]);
});

test('after files were put back under a running server nothing lost is shown, and numbers go on beyond', {
  tags: 'long',
  timeout: LONG_MS,
}, async () => {
  await using postgres = await startPrivatePostgres();
  await using server = await startServer([postgres.url]);
  await writeMany(server, 'kept', 3);
  await postgres.stop();
  const backup = await takeBackup(postgres);
  await postgres.start();
  const lost = await writeMany(server, 'lost', 4);
  const lastLost = lost.at(-1) ?? NO_REVISION;
  const watching = expect(server.watchFrom(lastLost)).rejects.toMatchObject(COMPACTED);
  for (let times = 0; times < 2; times += 1) {
    await postgres.stop();
    await backup.putBack();
    await postgres.start();
    // The second time, the epoch that began the first time is lost as well.
    expect(await listNames(server)).toEqual(['kept-0', 'kept-1', 'kept-2']);
    await expect(server.watchFrom(lastLost)).rejects.toMatchObject(COMPACTED);
    lost.push(...(await writeMany(server, `later-${times}`, 3)));
    expect(lost).toEqual([...new Set(lost)].sort((a, b) => (a < b ? -1 : 1)));
    expect(lost.at(-1)).toBeGreaterThan((lost.at(-4) ?? NO_REVISION) + 1_000_000n);
  }
  await watching;
});

/** What a failover to a standby that lagged behind looks like, without one, and without any connection that breaks. */
async function loseCommits(query: (text: string, values: unknown[]) => Promise<unknown>, kept: Revision) {
  await query('DELETE FROM objects WHERE revision > $1', [kept.toString()]);
  await query('DELETE FROM revisions WHERE revision > $1', [kept.toString()]);
  await query("SELECT setval('revisions_revision_seq', $1)", [kept.toString()]);
}

test('a commit and a fresh read notice by themselves that commits are gone', async () => {
  for (const notices of ['commit', 'read'] as const) {
    await using database = await createTestDatabase();
    const log = openLog(database.url);
    const kept = await log.committer.commit(write('create', 'kept'));
    const lost = await log.committer.commit(write('create', 'lost'));
    await log.reader.currentRevision();
    await loseCommits(database.query, kept);
    const next = await (notices === 'commit'
      ? log.committer.commit(write('create', 'lost'))
      : log.reader.currentRevision());
    expect(next).toBeGreaterThan(lost + 1_000_000n);
    expect(await log.reader.compactedRevision()).toBeGreaterThan(lost + 1_000_000n);
    await log.close();
  }
});

test('a row that another server has made in place of a lost one does not hide the loss', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const kept = await log.committer.commit(write('create', 'kept'));
  const lost = await log.committer.commit(write('create', 'lost'));
  await loseCommits(database.query, kept);
  const fresh = openLog(database.url);
  for (const name of ['a', 'b', 'c']) await fresh.committer.commit(write('create', name));
  const next = await log.committer.commit(write('create', 'd'));
  expect(next).toBeGreaterThan(lost + 1_000_000n);
  const reasons = await database.query<{ reason: string }>('SELECT reason FROM epochs ORDER BY epoch');
  expect(reasons.at(-1)?.reason).toBe(`revision ${lost} is another write`);
  await Promise.all([log.close(), fresh.close()]);
});

test('a server that hears of an epoch from another begins afresh, also when nothing is written', async () => {
  await using database = await createTestDatabase();
  await using server = await startServer([database.url]);
  const [first] = await writeMany(server, 'a', 1);
  const watching = expect(server.watchFrom(first ?? NO_REVISION)).rejects.toMatchObject(COMPACTED);
  await database.query("UPDATE epochs SET timeline = '00000000'");
  const other = openLog(database.url);
  const epoch = await other.reader.currentRevision();
  expect(epoch).toBeGreaterThan((first ?? NO_REVISION) + 1_000_000n);
  expect((await server.cache.list(LATEST)).revision).toBe(epoch);
  await watching;
  await other.close();
});

test('a moment after an epoch began is one of it, also before anything is written in it', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a'));
  await database.query("UPDATE epochs SET timeline = '00000000'");
  const other = openLog(database.url);
  const epoch = await other.reader.currentRevision();
  const [{ now } = { now: '' }] = await database.query<{ now: string }>(
    "SELECT to_json(clock_timestamp())#>>'{}' AS now",
  );
  const revision = await other.history.revisionAt(now);
  expect(revision).toBe(epoch);
  const { objects } = await other.reader.listAt({
    ...{ resource: { group: '', resource: 'configmaps' }, scope: {}, limit: 10, revision: epoch },
  });
  expect(objects.map(({ key }) => key.name)).toEqual(['a']);
  await Promise.all([log.close(), other.close()]);
});

test('numbers go on beyond those of a forgotten epoch', async () => {
  await using database = await createTestDatabase();
  const given: Revision[] = [];
  for (let times = 0; times < 3; times += 1) {
    await database.query('DELETE FROM epochs WHERE epoch > 0');
    await loseCommits(database.query, 1n as Revision);
    await database.query("UPDATE epochs SET timeline = '00000000'");
    const fresh = openLog(database.url);
    for (const name of ['a', 'b', 'c']) given.push(await fresh.committer.commit(write('create', name)));
    await fresh.close();
  }
  expect(given).toEqual([...new Set(given)].sort((a, b) => (a < b ? -1 : 1)));
});

test('people see in SQL what was before the epoch', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const first = await log.committer.commit(write('create', 'a'));
  await log.committer.commit(write('update', 'a', first));
  const [moment] = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  await database.query("UPDATE epochs SET system_id = '1'");
  const other = openLog(database.url);
  expect(await other.reader.currentRevision()).toBeGreaterThan(first + 1n);
  await other.close();
  const state = await database.query('SELECT name, revision FROM cluster_at($1::timestamptz)', [moment?.now]);
  expect(state).toEqual([{ name: 'a', revision: (first + 1n).toString() }]);
  expect(await database.query('SELECT FROM epochs')).toHaveLength(2);
  await log.close();
});

test('one server that compacts does not take what an epoch has left, and is not stopped by it', async () => {
  await using database = await createTestDatabase();
  await database.query("UPDATE compaction SET history_window = '0'");
  const log = openLog(database.url);
  const recorder = new Recorder(() => log.reader.currentRevision());
  const first = await log.committer.commit(write('create', 'a'));
  const second = await log.committer.commit(write('update', 'a', first));
  await database.query("UPDATE epochs SET timeline = '00000000'");
  const third = await log.committer.commit(write('update', 'a', second));
  const fourth = await log.committer.commit(write('update', 'a', third));
  expect(await log.compactor.compact(new AbortController().signal)).toBe(1);
  expect(await database.query('SELECT FROM revisions')).toHaveLength(2);
  const stop = new AbortController();
  const running = log.feed.run(third, recorder, stop.signal);
  await recorder.reached(fourth);
  expect(recorder.resets).toEqual([]);
  stop.abort();
  await running;
  await log.close();
});
