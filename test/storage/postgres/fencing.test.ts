import { expect, test, vi } from 'vitest';
import { Hosts } from '../../../src/storage/postgres/connection/hosts.ts';
import { LEASE_MS, Lease } from '../../../src/storage/postgres/fencing/primary-lease.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { startPrivatePostgres } from '../../postgres.ts';
import { startStandby } from './copies.ts';
import { openLog, write } from './kit.ts';
import { LATEST, listNames, startServer, writeMany } from './served-log.ts';
import { connect, releaseCommits, stallCommits } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const COMPACTED = { failure: { kind: 'compacted' } };
const UNAVAILABLE = { failure: { kind: 'unavailable' } };
const LONG_MS = 90_000;
const NAMES = "SELECT name FROM revisions WHERE name LIKE 'after-%'";

test('a primary that was not fenced is left when another host is promoted, and never come back to', {
  tags: 'long',
  timeout: LONG_MS,
}, async () => {
  await using primary = await startPrivatePostgres();
  await using standby = await startStandby(primary);
  const urls = [primary.url, standby.url];
  await using server = await startServer(urls);
  await writeMany(server, 'kept', 3);
  await using replica = await connect(standby.url);
  const there = 'SELECT FROM revisions';
  await vi.waitFor(async () => expect(await replica.query(there)).toHaveLength(3), PATIENCE);
  await standby.cutOff();
  const lost = (await writeMany(server, 'lost', 2)).at(-1) ?? NO_REVISION;
  const watching = expect(server.watchFrom(lost)).rejects.toMatchObject(COMPACTED);
  await standby.promote();

  await watching;
  expect(await listNames(server)).toEqual(['kept-0', 'kept-1', 'kept-2']);
  const [after] = await writeMany(server, 'after', 1);
  expect(after).toBeGreaterThan(lost + 1_000_000n);
  await using old = await connect(primary.url);
  expect(await old.query(NAMES)).toEqual([]);
  expect(await replica.query(NAMES)).toEqual([{ name: 'after-0' }]);
  // One that starts is not served by it either, though it is named first.
  await using other = await startServer(urls);
  expect((await other.cache.list(LATEST)).entries).toHaveLength(4);
  await standby.stop();
  const name = 'after-lost';
  const commit = server.cache.commit({ ...write('create', name), caller: { aborted: false } });
  await expect(server.cache.list(LATEST)).rejects.toMatchObject(UNAVAILABLE);
  expect(await old.query(NAMES)).toEqual([]);
  await standby.start();
  expect(await commit).toBeGreaterThan(after ?? NO_REVISION);
});

const primaryOn = (timeline: string, system = '7') => ({ isStandby: false, system, timeline });
const STANDBY = { isStandby: true, system: '7', timeline: null };

test('a host stays fenced while one is silent that may be on the later timeline', () => {
  const hosts = new Hosts();
  const fenced: string[] = [];
  hosts.onFenced((url) => fenced.push(url));
  hosts.saw('a', primaryOn('00000001'));
  hosts.saw('b', STANDBY);
  expect(fenced).toEqual([]);
  hosts.saw('b', primaryOn('00000002'));
  hosts.sawAll([primaryOn('00000001'), undefined]);
  hosts.saw('a', primaryOn('00000001'));
  expect([hosts.isFenced('a'), hosts.isFenced('b'), fenced]).toEqual([true, false, ['a']]);
  hosts.worked('a');
  expect(hosts.order(['a', 'b'])).toEqual(['b', 'a']);
  // The promoted one was made a standby of the old one again.
  hosts.saw('b', STANDBY);
  hosts.sawAll([primaryOn('00000001'), STANDBY]);
  expect(hosts.isFenced('a')).toBe(false);
  hosts.saw('c', primaryOn('00000009', 'other'));
  expect(hosts.isFenced('a')).toBe(false);
});

test('a lease that standbys do not renew ends by this clock alone', () => {
  let nowMs = 0;
  const lease = new Lease(() => nowMs);
  expect(lease.trouble).toBeUndefined();
  lease.learn(true);
  expect(lease.trouble).toMatch(/standbys/);
  lease.confirmed(nowMs);
  nowMs += LEASE_MS;
  expect(lease.trouble).toBeUndefined();
  nowMs += 1;
  expect(() => lease.assert()).toThrow('unavailable');
  lease.learn(false);
  expect(lease.trouble).toBeUndefined();
});

test(
  'a primary that its standbys confirm nothing to is neither read as fresh nor written to',
  async () => {
    await using postgres = await startPrivatePostgres();
    await using session = await connect(postgres.url);
    await stallCommits(session);
    const log = openLog(postgres.url);
    const stop = new AbortController();
    const guarded = log.guard.run(stop.signal);
    await vi.waitFor(() => expect(log.guard.trouble).toMatch(/standbys/), PATIENCE);
    await expect(log.reader.currentRevision()).rejects.toMatchObject(UNAVAILABLE);
    await expect(log.committer.commit(write('create', 'a'))).rejects.toMatchObject(UNAVAILABLE);
    await releaseCommits(session);
    await vi.waitFor(() => expect(log.guard.trouble).toBeUndefined(), PATIENCE);
    expect(await log.committer.commit(write('create', 'a'))).toBe(await log.reader.currentRevision());
    stop.abort();
    await guarded;
    await log.close();
  },
  LONG_MS,
);
