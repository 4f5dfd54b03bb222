// @module-tag long
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import type { ChangeWithPrevious, StoredObject } from '../../../src/storage/revision-log.ts';
import { type PrivatePostgres, startPrivatePostgres } from '../../postgres.ts';
import { type Standby, startStandby } from './copies.ts';
import { openLog, write } from './kit.ts';
import { migrateDatabase } from './migrate-database.ts';
import { connect, releaseCommits, stallCommits } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
/** Servers are copied, stopped and started again. */
const LONG_MS = 90_000;
const CONFIG_MAPS = { group: '', resource: 'configmaps' };

let primary: PrivatePostgres;
let standby: Standby;

beforeAll(async () => {
  primary = await startPrivatePostgres();
  standby = await startStandby(primary);
}, LONG_MS);

afterAll(async () => {
  await standby[Symbol.asyncDispose]();
  await primary[Symbol.asyncDispose]();
});

async function onStandby<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
  await using session = await connect(standby.url);
  return await session.query<Row>(text, values);
}

/** Objects of one test do not meet those of another. */
let count = 0;
beforeEach(() => {
  count += 1;
});
const named = (name: string): string => `${name}-${count}`;

interface Opened extends PostgresLog, AsyncDisposable {
  readonly lines: string[];
  /** How often the standby answered, then the primary in its place. */
  counts(): [number, number];
}

function open(readUrls: readonly string[], urls: readonly string[] = [primary.url]): Opened {
  const lines: string[] = [];
  const log = openLog(urls[0] ?? '', { urls, readUrls, onTrouble: (line) => lines.push(line) });
  return {
    ...log,
    lines,
    counts: () => {
      const { servers, answeredByPrimary } = log.readServers();
      return [servers.reduce((sum, { answered }) => sum + answered, 0), answeredByPrimary];
    },
    [Symbol.asyncDispose]: () => log.close(),
  };
}

async function load({ reader }: PostgresLog): Promise<{ revision: Revision; names: string[] }> {
  let objects: StoredObject[] = [];
  let revision = NO_REVISION;
  await reader.loadCurrent(
    (at) => {
      revision = at;
      objects = [];
    },
    (batch) => void objects.push(...batch),
  );
  return { revision, names: objects.map(({ key }) => key.name) };
}

const listAt = ({ reader }: PostgresLog, revision: Revision): Promise<string[]> =>
  reader
    .listAt({ resource: CONFIG_MAPS, scope: {}, revision, limit: 1000 })
    .then(({ objects }) => objects.map(({ key }) => key.name));

const changes = ({ reader }: PostgresLog, after: Revision, upTo: Revision): Promise<ChangeWithPrevious[]> =>
  reader.changesBetween({ resource: CONFIG_MAPS, scope: {}, after, upTo, limit: 500 });

const create = ({ committer }: PostgresLog, name: string): Promise<Revision> =>
  committer.commit(write('create', named(name)));

/** Resolves when the standby has what was committed. */
async function replayed(revision: Revision): Promise<void> {
  const query = 'SELECT FROM revisions WHERE revision = $1';
  await vi.waitFor(async () => expect(await onStandby(query, [String(revision)])).toHaveLength(1), PATIENCE);
}

/** While it lasts the standby receives and does not replay. */
async function pausedReplay(): Promise<AsyncDisposable> {
  await onStandby('SELECT pg_wal_replay_pause()');
  const state = 'SELECT pg_get_wal_replay_pause_state() AS state';
  await vi.waitFor(async () => expect(await onStandby(state)).toEqual([{ state: 'paused' }]), PATIENCE);
  return { [Symbol.asyncDispose]: async () => void (await onStandby('SELECT pg_wal_replay_resume()')) };
}

test('history, old lists and loads are read from the standby, and say what the primary says', async () => {
  await using direct = open([]);
  await using log = open([standby.url]);
  const before = await create(log, 'a');
  const first = await create(log, 'b');
  const last = await log.committer.commit(write('delete', named('b'), first));
  expect(await load(log)).toEqual(await load(direct));
  expect(await listAt(log, first)).toEqual(await listAt(direct, first));
  expect(await changes(log, before, last)).toEqual(await changes(direct, before, last));
  expect(log.counts()).toEqual([3, 0]);
  expect(direct.counts()).toEqual([0, 0]);
  expect(log.lines).toEqual([]);
});

test('a standby that lags yields no page and no load without what is committed, and is asked again when it is back', async () => {
  await using log = open([standby.url]);
  const before = await create(log, 'before');
  await replayed(before);
  expect(await changes(log, NO_REVISION, before)).not.toEqual([]);
  {
    await using _paused = await pausedReplay();
    const late = await create(log, 'late');
    expect((await changes(log, before, late)).map(({ revision }) => revision)).toEqual([late]);
    expect(await listAt(log, late)).toContain(named('late'));
    expect(await load(log)).toMatchObject({
      revision: late,
      names: expect.arrayContaining([named('late')]),
    });
    // A load of a server that has just started knows of nothing.
    await using fresh = open([standby.url]);
    expect(await load(fresh)).toMatchObject({ revision: late });
    expect(log.counts()).toEqual([1, 3]);
    const { host } = new URL(standby.url);
    expect(log.lines).toEqual([`read server ${host}: lost: it has not replayed revision ${late} yet`]);
    const asked = log.readServers().servers.map(({ isInService }) => isInService);
    expect(asked).toEqual([false]);
  }
  await vi.waitFor(() => expect(log.lines.at(-1)).toMatch(/: back after /), PATIENCE);
  const [answered] = log.counts();
  await load(log);
  expect(log.counts()[0]).toBe(answered + 1);
});

test('a standby that is a little behind is waited for', async () => {
  await using log = open([standby.url]);
  await load(log);
  // A read waits for 300 ms, which is less than a connection may take on a busy machine.
  await using session = await connect(standby.url);
  await using _paused = await pausedReplay();
  const late = await create(log, 'late');
  const before = (late - 1n) as Revision;
  const reading = changes(log, before, late);
  const asked =
    "SELECT FROM pg_stat_activity WHERE application_name LIKE 'pg-apiserver history%' AND datname IS NOT NULL";
  await vi.waitFor(async () => expect(await session.query(asked)).not.toEqual([]), {
    ...PATIENCE,
    interval: 1,
  });
  await session.query('SELECT pg_wal_replay_resume()');
  expect((await reading).map(({ revision }) => revision)).toEqual([late]);
  expect(log.lines).toEqual([]);
});

test('what the standby shows before the primary does is not loaded', async () => {
  await using log = open([standby.url]);
  await create(log, 'visible');
  await using session = await connect(primary.url);
  await stallCommits(session);
  const committing = create(log, 'stalled');
  const there = 'SELECT FROM revisions WHERE name = $1';
  await vi.waitFor(async () => expect(await onStandby(there, [named('stalled')])).toHaveLength(1), PATIENCE);
  expect(await session.query(there, [named('stalled')])).toEqual([]);
  await using other = open([standby.url]);
  let isLoaded = false;
  const loading = load(other).then((loaded) => {
    isLoaded = true;
    return loaded;
  });
  const waits =
    "SELECT FROM pg_stat_activity WHERE query LIKE '%await_commits%' AND wait_event_type = 'Lock'";
  await vi.waitFor(async () => expect(await session.query(waits)).toHaveLength(1), PATIENCE);
  expect(isLoaded).toBe(false);
  await releaseCommits(session);
  expect((await loading).revision).toBe(await committing);
});

/** Readers of a table wait at the standby, and at the primary, until it is let go. */
async function lockTable(
  table: string,
): Promise<{ also(table: string): Promise<void>; letGo(): Promise<void> }> {
  const session = await connect(primary.url);
  const lock = async (name: string): Promise<void> => {
    await session.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
    // A commit sends the record of the lock on its way.
    await using other = await connect(primary.url);
    await other.query("SELECT pg_logical_emit_message(true, 'lock', '')");
  };
  await session.query('BEGIN');
  await lock(table);
  await vi.waitFor(async () => expect(await onStandby(LOCKED, [table])).toHaveLength(1), PATIENCE);
  return {
    also: lock,
    letGo: async () => {
      await session.query('COMMIT');
      await session[Symbol.asyncDispose]();
    },
  };
}

const LOCKED =
  "SELECT FROM pg_locks WHERE relation = $1::text::regclass AND mode = 'AccessExclusiveLock' AND granted";
const WAITS =
  "SELECT FROM pg_stat_activity WHERE application_name LIKE 'pg-apiserver %' AND wait_event_type = 'Lock'";
const CONFLICTS = 'SELECT FROM pg_stat_database_conflicts WHERE confl_lock > 0';

/** The reader is past everything that is asked of the standby before, and in the middle of its rows. */
const inTheMiddle = (): Promise<void> =>
  vi.waitFor(async () => expect(await onStandby(WAITS)).toHaveLength(1), PATIENCE);

test.each([
  ['load', 'objects', (log: Opened) => load(log).then(({ names }) => names)],
  [
    'replay',
    'superseded',
    (log: Opened, upTo: Revision) =>
      changes(log, (upTo - 1n) as Revision, upTo).then((found) => found.map(({ key }) => key.name)),
  ],
] as const)(
  'a standby that is killed in the middle of a %s costs nothing of it, and is back when it has started',
  async (_, table, read) => {
    await using log = open([standby.url]);
    const last = await create(log, 'last');
    await replayed(last);
    const lock = await lockTable(table);
    const reading = read(log, last);
    await inTheMiddle();
    await standby.kill();
    await lock.letGo();
    const names = await reading;
    expect(names.filter((name) => name === named('last'))).toHaveLength(1);
    expect(names).toEqual([...new Set(names)]);
    expect(log.counts()).toEqual([0, 1]);
    expect(log.lines).toEqual([expect.stringMatching(/^read server .*: lost: /)]);
    // No read waits for it as long as it is away.
    await read(log, last);
    expect(log.counts()).toEqual([0, 2]);
    await standby.start();
    await vi.waitFor(() => expect(log.lines.at(-1)).toMatch(/: back after /), PATIENCE);
    await read(log, last);
    expect(log.counts()).toEqual([1, 2]);
  },
  LONG_MS,
);

test('a read that recovery cancels is answered by the primary, and the standby stays in service', async () => {
  await onStandby("ALTER SYSTEM SET max_standby_streaming_delay = '0'");
  await onStandby('SELECT pg_reload_conf()');
  await using log = open([standby.url]);
  const last = await create(log, 'last');
  await replayed(last);
  const lock = await lockTable('superseded');
  const reading = changes(log, (last - 1n) as Revision, last);
  await inTheMiddle();
  await lock.also('epochs');
  await vi.waitFor(async () => expect(await onStandby(CONFLICTS)).toHaveLength(1), PATIENCE);
  await lock.letGo();
  expect((await reading).map(({ revision }) => revision)).toEqual([last]);
  expect(log.counts()).toEqual([0, 1]);
  expect(log.lines).toEqual([expect.stringMatching(/conflict with recovery: it is read elsewhere$/)]);
  expect(log.readServers().servers[0]?.isInService).toBe(true);
});

test('another database of the same PostgreSQL is never read, nor is the primary taken for a standby', async () => {
  await using session = await connect(primary.url);
  await session.query('CREATE DATABASE stranger');
  const ofStranger = (url: string): string => Object.assign(new URL(url), { pathname: '/stranger' }).href;
  await migrateDatabase({ urls: [ofStranger(primary.url)], poolSize: 1 });
  const stranger = open([], [ofStranger(primary.url)]);
  let strange = await create(stranger, 'strange');
  await using log = open([ofStranger(standby.url), primary.url]);
  const last = await create(log, 'last');
  while (strange < last) strange = await stranger.committer.commit(write('create', `another-${strange}`));
  await stranger.close();
  expect(await load(log)).toMatchObject({ revision: last });
  expect(await listAt(log, last)).toContain(named('last'));
  expect(log.counts()).toEqual([0, 2]);
  expect(log.lines).toEqual([
    expect.stringMatching(/ lost: .* is no standby$/),
    expect.stringMatching(/ lost: it has another database than the primary$/),
  ]);
});

test('several take turns, and one that is away has none', async () => {
  const away = await freePort();
  await using log = open([standby.url, `${standby.url}?turn=2`, `postgres://127.0.0.1:${away}/postgres`]);
  const last = await create(log, 'last');
  for (let times = 0; times < 12; times += 1) await changes(log, NO_REVISION, last);
  const { servers, answeredByPrimary } = log.readServers();
  const [first = 0, second = 0, third] = servers.map(({ answered }) => answered);
  expect([first + second, third, answeredByPrimary]).toEqual([12, 0, 0]);
  expect(Math.abs(first - second)).toBeLessThanOrEqual(2);
  expect(log.lines).toEqual([expect.stringMatching(/^read server 127.0.0.1:.*: lost: .*ECONNREFUSED/)]);
});

test('a read server has no more connections than its pool and one that loads', async () => {
  await using log = open([standby.url]);
  const last = await create(log, 'last');
  await replayed(last);
  const lock = await lockTable('objects');
  const alsoReads = await lockTable('superseded');
  const reading = Array.from({ length: 20 }, (_, n) => changes(log, BigInt(n) as Revision, last));
  reading.push(load(log).then(() => []));
  const ours = "SELECT FROM pg_stat_activity WHERE application_name LIKE 'pg-apiserver %'";
  await vi.waitFor(async () => expect(await onStandby(WAITS)).toHaveLength(5), PATIENCE);
  expect(await onStandby(ours)).toHaveLength(5);
  await lock.letGo();
  await alsoReads.letGo();
  await Promise.all(reading);
  expect(log.counts()).toEqual([21, 0]);
});

test(
  'a standby that is promoted is not read any more, over connections from before either',
  async () => {
    await using other = await startStandby(primary);
    await using log = open([other.url]);
    const before = await create(log, 'before');
    await changes(log, NO_REVISION, before);
    expect(log.counts()).toEqual([1, 0]);
    await other.promote();
    await using session = await connect(other.url);
    const recovers = 'SELECT pg_is_in_recovery() AS recovers';
    await vi.waitFor(
      async () => expect(await session.query(recovers)).toEqual([{ recovers: false }]),
      PATIENCE,
    );
    await using elsewhere = open([], [other.url]);
    await elsewhere.committer.commit(write('create', 'elsewhere'));
    expect(await changes(log, NO_REVISION, before)).not.toEqual([]);
    expect(await load(log)).toMatchObject({ names: expect.not.arrayContaining(['elsewhere']) });
    expect(log.counts()).toEqual([1, 2]);
    expect(log.lines).toEqual([expect.stringMatching(/ lost: it is no standby any more$/)]);
  },
  LONG_MS,
);
