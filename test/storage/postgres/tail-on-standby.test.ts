import { afterEach, beforeEach, expect, type TestContext, test, vi } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type PrivatePostgres, startPrivatePostgres } from '../../postgres.ts';
import { type Standby, startStandby } from './copies.ts';
import { openLog, Recorder, write } from './kit.ts';
import { connect, releaseCommits, type Session, stallCommits, stalled } from './stalls.ts';

/** Servers are copied, stopped and started again. */
const LONG_MS = 120_000;

let primary: PrivatePostgres;
let standby: Standby;
let session: Session;

/** A primary whose only slot is taken, and a standby with free slots. */
beforeEach(async () => {
  primary = await startPrivatePostgres({ settings: ['max_replication_slots=1'] });
  session = await connect(primary.url);
  standby = await startStandby(primary);
  await session.query("SELECT pg_create_physical_replication_slot('taken')");
}, LONG_MS);

afterEach(async () => {
  await session[Symbol.asyncDispose]();
  await standby[Symbol.asyncDispose]();
  await primary[Symbol.asyncDispose]();
});

async function needsVersion(version: number, { skip }: TestContext): Promise<void> {
  const [row] = await session.query<{ number: string }>(
    "SELECT current_setting('server_version_num') AS number",
  );
  if (Number(row?.number) < version * 10_000) skip(`PostgreSQL ${version} or newer`);
}

interface Follower extends AsyncDisposable {
  readonly log: PostgresLog;
  readonly recorder: Recorder;
  readonly lines: string[];
  names(): string[];
  comesFrom(source: string | undefined): Promise<void>;
}

/** A server's log, which writes nothing itself. */
function follow(url = primary.url, readUrls = [standby.url]): Follower {
  const lines: string[] = [];
  const log = openLog(url, { readUrls, onTrouble: (line) => lines.push(line) });
  const recorder = new Recorder(() => log.reader.currentRevision());
  const stop = new AbortController();
  const running = log.feed.run(0n as Revision, recorder, stop.signal);
  return {
    ...{ log, recorder, lines },
    names: () => recorder.changes.map(({ key }) => key.name),
    comesFrom: (source) => vi.waitFor(() => expect(log.feed.state.source).toBe(source), PATIENCE),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await log.close();
    },
  };
}

/** Another server, which writes at its own pace while `during` goes on. Answers the names of what was acknowledged, in order. */
async function writingAlong(during: (written: readonly Revision[]) => Promise<void>): Promise<string[]> {
  const writer = openLog(primary.url);
  const written: Revision[] = [];
  const names: string[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let n = 0; !isOver; n += 1) {
      written.push(await writer.committer.commit(write('create', `w${n}`)));
      names.push(`w${n}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  await during(written);
  isOver = true;
  await writing;
  await writer.close();
  return names;
}

const more = (written: readonly unknown[], count = 30): Promise<void> => {
  const before = written.length;
  return vi.waitFor(() => expect(written.length).toBeGreaterThan(before + count), PATIENCE);
};

const onStandby = async (text: string): Promise<unknown[]> => {
  await using there = await connect(standby.url);
  return await there.query(text);
};

const hostOf = ({ url }: PrivatePostgres): string => new URL(url).host;

test('where the primary has no slot to give, a standby streams, and what it streams misses nothing and repeats nothing', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  await using follower = follow();
  const names = await writingAlong(async (written) => {
    await follower.comesFrom(hostOf(standby));
    const isWell = { mode: 'streaming', reason: undefined, stalled: undefined };
    const slots = "SELECT FROM pg_replication_slots WHERE temporary AND slot_type = 'logical'";
    // On a busy machine a stream may break and begin again meanwhile.
    await vi.waitFor(async () => {
      expect(follower.log.feed.state).toMatchObject(isWell);
      expect(await onStandby(slots)).toHaveLength(1);
    }, PATIENCE);
    await more(written);
  });
  await vi.waitFor(() => expect(follower.names()).toEqual(names), PATIENCE);
  expect(follower.recorder.resets).toEqual([]);
});

test('an idle primary is made to tell its standby what that needs for a slot; without the right to, it is waited for', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  {
    await using follower = follow();
    await follower.comesFrom(hostOf(standby));
  }
  await session.query("CREATE ROLE follower LOGIN REPLICATION PASSWORD 'secret'");
  await session.query("SELECT grant_server('follower')");
  const as = (url: string): string =>
    Object.assign(new URL(url), { username: 'follower', password: 'secret' }).href;
  await vi.waitFor(
    async () => expect(await onStandby("SELECT FROM pg_roles WHERE rolname = 'follower'")).toHaveLength(1),
    PATIENCE,
  );
  await using follower = follow(as(primary.url), [as(standby.url)]);
  const waits =
    "SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE_REPLICATION_SLOT%' AND state = 'active'";
  await vi.waitFor(async () => expect(await onStandby(waits)).toHaveLength(1), PATIENCE);
  expect(await follower.log.reader.tellStandbys()).toBe(false);
  // As PostgreSQL does by itself, but later.
  await session.query('CHECKPOINT');
  await follower.comesFrom(hostOf(standby));
});

test('a standby that is killed is gone on from without a gap, and streams again when it is back', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  await using follower = follow();
  const names = await writingAlong(async (written) => {
    await follower.comesFrom(hostOf(standby));
    await more(written);
    await standby.kill();
    await follower.comesFrom(undefined);
    await more(written);
    await standby.start();
    await follower.comesFrom(hostOf(standby));
    await more(written);
  });
  await vi.waitFor(() => expect(follower.names()).toEqual(names), PATIENCE);
  expect(follower.recorder.resets).toEqual([]);
});

test('followers of the primary do not show what a standby writes after its promotion, and miss nothing', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  await using follower = follow();
  const names = await writingAlong(async (written) => {
    await follower.comesFrom(hostOf(standby));
    await more(written);
    await standby.promote();
    const other = openLog(standby.url);
    await vi.waitFor(() => other.committer.commit(write('create', 'elsewhere')), PATIENCE);
    await other.close();
    await more(written);
    await follower.comesFrom(undefined);
    await more(written);
    await session.query("SELECT pg_drop_replication_slot('taken')");
    await follower.comesFrom('primary');
    await more(written);
  });
  await vi.waitFor(() => expect(follower.names()).toEqual(names), PATIENCE);
  expect(follower.recorder.resets).toEqual([]);
});

test('what a standby writes after its promotion is not shown, although it follows what was shown last', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  await using follower = follow();
  await follower.comesFrom(hostOf(standby));
  const writer = openLog(primary.url);
  const kept = await writer.committer.commit(write('create', 'kept'));
  await follower.recorder.reached(kept);
  const replayed = `SELECT FROM revisions WHERE revision = ${kept}`;
  await vi.waitFor(async () => expect(await onStandby(replayed)).toHaveLength(1), PATIENCE);
  await standby.promote();
  const other = openLog(standby.url);
  await vi.waitFor(() => other.committer.commit(write('create', 'elsewhere')), PATIENCE);
  await other.close();
  await vi.waitFor(() => expect(follower.log.feed.state.held).toBe(1), PATIENCE);
  const next = await writer.committer.commit(write('create', 'next'));
  await follower.recorder.reached(next);
  expect(follower.names()).toEqual(['kept', 'next']);
  await writer.close();
});

test('a standby that streams and lags holds up nothing that the primary shows', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  await using follower = follow();
  await follower.comesFrom(hostOf(standby));
  await onStandby('SELECT pg_wal_replay_pause()');
  const writer = openLog(primary.url);
  const revision = await writer.committer.commit(write('create', 'late'));
  await follower.recorder.reached(revision);
  expect(follower.log.feed.state.source).toBe(hostOf(standby));
  await onStandby('SELECT pg_wal_replay_resume()');
  const next = await writer.committer.commit(write('create', 'next'));
  await follower.recorder.reached(next);
  expect(follower.names()).toEqual(['late', 'next']);
  await writer.close();
});

test('what a standby streams and the primary does not show yet, because its commit waits, is not shown', {
  tags: 'long',
  timeout: LONG_MS,
}, async (context) => {
  await needsVersion(16, context);
  await using follower = follow();
  await follower.comesFrom(hostOf(standby));
  await stallCommits(session);
  const writer = openLog(primary.url);
  const stalling = writer.committer.commit(write('create', 'stalled'));
  await stalled(session);
  await vi.waitFor(() => expect(follower.log.feed.state.held).toBe(1), PATIENCE);
  expect(follower.names()).toEqual([]);
  await releaseCommits(session);
  await follower.recorder.reached(await stalling);
  expect(follower.names()).toEqual(['stalled']);
  await writer.close();
});

test('where no standby can stream either, changes are polled, and both reasons are shown', {
  tags: 'long',
  timeout: LONG_MS,
}, async () => {
  await using follower = follow(primary.url, [`postgres://absent@127.0.0.1:1/${'none'}`]);
  const writer = openLog(primary.url);
  const revision = await writer.committer.commit(write('create', 'a'));
  await follower.recorder.reached(revision);
  await vi.waitFor(
    () =>
      expect(follower.log.feed.state.reason).toMatch(
        /slots are in use; read server 127.0.0.1:1: .*ECONNREFUSED/,
      ),
    PATIENCE,
  );
  expect(follower.log.feed.state).toMatchObject({ mode: 'polling', source: undefined });
  await writer.close();
});

test(
  'a primary that has a slot streams itself',
  async () => {
    await session.query("SELECT pg_drop_replication_slot('taken')");
    await using follower = follow();
    await follower.comesFrom('primary');
  },
  LONG_MS,
);
