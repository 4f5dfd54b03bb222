import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openPostgres, type PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { migrateDatabase } from '../../../src/storage/postgres/setup.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import type { ChangeWithPrevious, StoredObject } from '../../../src/storage/revision-log.ts';
import { createTestDatabase, type PrivatePostgres, startPrivatePostgres } from '../../postgres.ts';
import { type Standby, startStandby } from './copies.ts';
import { openLog, write } from './kit.ts';
import { connect, type Session } from './stalls.ts';

const PATIENCE = { timeout: 20_000, interval: 20 };
/** Servers are copied, stopped and started again. */
const LONG_MS = 90_000;
const CONFIG_MAPS = { group: '', resource: 'configmaps' };

let primary: PrivatePostgres;
let standby: Standby;
let replica: Session;

beforeAll(async () => {
  primary = await startPrivatePostgres();
  await migrateDatabase({ urls: [primary.url], poolSize: 1 });
  standby = await startStandby(primary);
  replica = await connect(standby.url);
}, LONG_MS);

afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await standby[Symbol.asyncDispose]();
  await primary[Symbol.asyncDispose]();
});

/** Objects of one test do not meet those of another. */
let test_ = 0;
beforeEach(() => {
  test_ += 1;
});
const named = (name: string): string => `${name}-${test_}`;

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
  await vi.waitFor(
    async () => expect(await replica.query(query, [String(revision)])).toHaveLength(1),
    PATIENCE,
  );
}

/** While it lasts the standby receives and does not replay. */
async function pausedReplay(): Promise<AsyncDisposable> {
  await replica.query('SELECT pg_wal_replay_pause()');
  const state = 'SELECT pg_get_wal_replay_pause_state() AS state';
  await vi.waitFor(async () => expect(await replica.query(state)).toEqual([{ state: 'paused' }]), PATIENCE);
  return { [Symbol.asyncDispose]: async () => void (await replica.query('SELECT pg_wal_replay_resume()')) };
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
  const paused = await pausedReplay();
  const late = await create(log, 'late');
  const before = (late - 1n) as Revision;
  const reading = changes(log, before, late);
  const asked =
    "SELECT FROM pg_stat_activity WHERE application_name LIKE 'pg-apiserver history%' AND datname IS NOT NULL";
  await vi.waitFor(async () => expect(await replica.query(asked)).not.toEqual([]), PATIENCE);
  await paused[Symbol.asyncDispose]();
  expect((await reading).map(({ revision }) => revision)).toEqual([late]);
  expect(log.lines).toEqual([]);
});

test('what the standby shows before the primary does is not loaded', async () => {
  await using log = open([standby.url]);
  const visible = await create(log, 'visible');
  await replayed(visible);
  await using session = await connect(primary.url);
  await session.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await session.query('SELECT pg_reload_conf()');
  const stalled = create(log, 'stalled');
  stalled.catch(() => {});
  const there = 'SELECT FROM revisions WHERE name = $1';
  await vi.waitFor(
    async () => expect(await replica.query(there, [named('stalled')])).toHaveLength(1),
    PATIENCE,
  );
  expect(await session.query(there, [named('stalled')])).toEqual([]);
  await using other = open([standby.url]);
  let begun = NO_REVISION;
  const loading = load(other).then((loaded) => {
    begun = loaded.revision;
  });
  const waits = "SELECT FROM pg_stat_activity WHERE query LIKE '%await_commits%' AND wait_event_type = 'Lock'";
  await vi.waitFor(async () => expect(await session.query(waits)).toHaveLength(1), PATIENCE);
  expect(begun).toBe(NO_REVISION);
  await session.query("ALTER SYSTEM SET synchronous_standby_names = ''");
  await session.query('SELECT pg_reload_conf()');
  await loading;
  expect(begun).toBe(await stalled);
});

describe('a failure in the middle of it', () => {
  test('a statement that recovery cancels is read from the primary, and the standby stays in service', async () => {
    await using log = open([standby.url]);
    const last = await create(log, 'a');
    await load(log);
    await changes(log, NO_REVISION, last);
    await replica.query("ALTER SYSTEM SET max_standby_streaming_delay = '0'");
    await replica.query('SELECT pg_reload_conf()');
    await using session = await connect(primary.url);
    let conflicts = 0;
    const reader = log.reader;
    let rows: StoredObject[] = [];
    await reader.loadCurrent(
      () => {
        rows = [];
      },
      (batch) => void rows.push(...batch),
    );
    // Rows that a snapshot still sees are taken away under it.
    const churn = async (): Promise<void> => {
      await session.query('CREATE TABLE IF NOT EXISTS churn (n int)');
      await session.query('DROP TABLE churn');
    };
    await churn();
    const before = await replica.query<{ sum: string }>(CONFLICTS);
    await vi.waitFor(async () => {
      await Promise.all([
        changes(log, NO_REVISION, last).then((found) => expect(found.at(-1)?.revision).toBe(last)),
        session.query('LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE').catch(() => {}),
        session
          .query('BEGIN; LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE; COMMIT')
          .catch(() => {}),
      ]);
      const [after] = await replica.query<{ sum: string }>(CONFLICTS);
      conflicts = Number(after?.sum) - Number(before[0]?.sum);
      expect(conflicts).toBeGreaterThan(0);
    }, PATIENCE);
    expect(log.readServers().servers[0]?.isInService).toBe(true);
  });
});

const CONFLICTS = 'SELECT sum(confl_lock + confl_snapshot) AS sum FROM pg_stat_database_conflicts';
void createTestDatabase;
void openPostgres;
