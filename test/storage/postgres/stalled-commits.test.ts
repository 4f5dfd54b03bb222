import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { NO_REVISION, toRevision } from '../../../src/storage/revision.ts';
import { startDatabaseProxy } from '../../kit/database-proxy.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';
import { connect, releaseCommits, type Session, stallCommits, stalled } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const CONFIG_MAPS = { group: '', resource: 'configmaps' };

/** A transaction that the creation of a slot waits for. */
async function openTransaction(url: string): Promise<Session & { readonly xid: string }> {
  const session = await connect(url);
  await session.query('BEGIN');
  const [row] = await session.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
  return { ...session, xid: row?.xid ?? '' };
}

async function slotWaitsFor(session: Session, xid: string): Promise<void> {
  const waiting = 'SELECT FROM pg_locks WHERE transactionid::text = $1 AND NOT granted';
  await vi.waitFor(async () => expect(await session.query(waiting, [xid])).toHaveLength(1), PATIENCE);
}

test('a commit that waits for a standby while the slot begins reaches the tail', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  const log = openLog(postgres.url);
  const first = await log.committer.commit(write('create', 'first'));
  // A slot is made in steps, each of which waits for those who write. What commits during the last is what it leaves out.
  await using one = await openTransaction(postgres.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await slotWaitsFor(session, one.xid);
  await using other = await openTransaction(postgres.url);
  await one.query('ROLLBACK');
  await slotWaitsFor(session, other.xid);
  await stallCommits(session);
  const stalling = log.committer.commit(write('create', 'stalled'));
  await stalled(session);
  await other.query('ROLLBACK');
  const made = 'SELECT FROM pg_replication_slots WHERE confirmed_flush_lsn IS NOT NULL';
  await vi.waitFor(async () => expect(await session.query(made)).toHaveLength(1), PATIENCE);
  await releaseCommits(session);
  const revision = await stalling;
  await recorder.reached(revision);
  expect(recorder.changes.map((change) => change.revision)).toEqual([first, revision]);
  stop.abort();
  await running;
  await log.close();
});

test('what the stream leaves out is noticed with the next change, and read from the table', async () => {
  await using database = await createTestDatabase();
  const troubles: string[] = [];
  const log = openLog(database.url, { onTrouble: (message) => troubles.push(message) });
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const before = await log.committer.commit(write('create', 'before'));
  await recorder.reached(before);
  await database.query("ALTER PUBLICATION pg_apiserver_revisions SET (publish = '')");
  const leftOut = await log.committer.commit(write('create', 'left-out'));
  await database.query("ALTER PUBLICATION pg_apiserver_revisions SET (publish = 'insert')");
  const after = await log.committer.commit(write('create', 'after'));
  await recorder.reached(after);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual([before, leftOut, after]);
  const leftOutAfter = `the replication stream left out changes after revision ${before}`;
  expect(troubles).toContain(`the stream of changes: lost: ${leftOutAfter}; changes are polled`);
  stop.abort();
  await running;
  await log.close();
});

test('history that is read in SQL never ends before a revision that is on its way', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  const log = openLog(postgres.url);
  const first = await log.committer.commit(write('create', 'first'));
  await stallCommits(session);
  const stalling = log.committer.commit(write('create', 'stalled'));
  await stalled(session);
  const upTo = toRevision(first + 1n);
  const replay = log.reader.changesBetween({
    ...{ resource: CONFIG_MAPS, scope: {}, limit: 10 },
    ...{ after: NO_REVISION, upTo },
  });
  const list = log.reader.listAt({ resource: CONFIG_MAPS, scope: {}, limit: 10, revision: upTo });
  const waiting = "SELECT FROM pg_locks WHERE relation = 'commit_order'::regclass AND NOT granted";
  await vi.waitFor(async () => expect((await session.query(waiting)).length).toBeGreaterThan(0), PATIENCE);
  await releaseCommits(session);
  expect((await replay).map(({ revision }) => revision)).toEqual([first, upTo]);
  expect((await list).objects.map(({ revision }) => revision)).toEqual([first, upTo]);
  expect(await stalling).toBe(upTo);
  await log.close();
});

test.each(['pg_cancel_backend', 'pg_terminate_backend'])(
  'a commit that waits for a standby and meets %s is acknowledged when the standby has it, and not before',
  async (end) => {
    await using postgres = await startPrivatePostgres();
    await using session = await connect(postgres.url);
    const log = openLog(postgres.url);
    const first = await log.committer.commit(write('create', 'first'));
    await stallCommits(session);
    let isAnswered = false;
    const stalling = log.committer.commit(write('create', 'stalled')).finally(() => {
      isAnswered = true;
    });
    await stalled(session);
    await session.query(`SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    const finding =
      "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%find_writes%'";
    await vi.waitFor(async () => expect(await session.query(finding)).toHaveLength(1), PATIENCE);
    expect(isAnswered).toBe(false);
    await releaseCommits(session);
    expect(await stalling).toBe(first + 1n);
    await log.close();
  },
);

test('a commit that waits for a standby when its connection breaks is left to wait, and not shown', async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  using proxy = await startCuttingProxy(postgres.url);
  const log = openLog(proxy.url);
  const first = await log.committer.commit(write('create', 'first'));
  await stallCommits(session);
  const stalling = log.committer.commit(write('create', 'stalled'));
  await stalled(session);
  proxy.cut();
  const looking = "SELECT FROM pg_stat_activity WHERE state = 'idle' AND query LIKE '%pg_terminate_backend%'";
  await vi.waitFor(async () => expect(await session.query(looking)).toHaveLength(1), PATIENCE);
  expect(await session.query('SELECT FROM revisions')).toHaveLength(1);
  await stalled(session);
  await releaseCommits(session);
  expect(await stalling).toBe(first + 1n);
  await log.close();
});

test('what became of a commit that no standby confirms before the server closes is called unknown', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  const log = openLog(postgres.url);
  await log.committer.commit(write('create', 'first'));
  await stallCommits(session);
  const stalling = expect(log.committer.commit(write('create', 'stalled'))).rejects.toMatchObject({
    failure: { kind: 'unknown' },
  });
  await stalled(session);
  await session.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  await stalled(session);
  await log.close();
  await stalling;
  await releaseCommits(session);
});

test('a commit waits for the disk, also where the role turns that off', async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  await session.query('ALTER ROLE CURRENT_USER SET synchronous_commit = off');
  await session.query('ALTER ROLE CURRENT_USER SET client_min_messages = error');
  const log = openLog(postgres.url);
  await stallCommits(session);
  const stalling = log.committer.commit(write('create', 'a'));
  await stalled(session);
  await session.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  const finding = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%find_writes%'";
  await vi.waitFor(async () => expect(await session.query(finding)).toHaveLength(1), PATIENCE);
  await releaseCommits(session);
  await stalling;
  await log.close();
});

test('a commit that PostgreSQL ends because of a deadlock is made once the other transaction has ended', async () => {
  await using database = await createTestDatabase();
  const troubles: string[] = [];
  const log = openLog(database.url, { onTrouble: (message) => troubles.push(message) });
  await log.committer.commit(write('create', 'before'));
  await using other = await connect(database.url);
  // PostgreSQL ends the session that has waited for the longest when it finds the deadlock: this is to be the commit.
  await other.query("SET deadlock_timeout = '1min'");
  await other.query('BEGIN; LOCK TABLE objects IN EXCLUSIVE MODE');
  const commits = ['one', 'two'].map((name) => log.committer.commit(write('create', name)));
  const waiting = "SELECT FROM pg_locks WHERE relation = 'objects'::regclass AND NOT granted";
  await vi.waitFor(async () => expect(await other.query(waiting)).toHaveLength(1), PATIENCE);
  await other.query('LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE');
  await other.query('COMMIT');
  await Promise.all(commits);
  expect(troubles.join()).toContain('deadlock detected');
  expect(await database.query('SELECT name FROM revisions ORDER BY revision')).toMatchObject([
    { name: 'before' },
    { name: 'one' },
    { name: 'two' },
  ]);
  await log.close();
});

/** Stands between a server and PostgreSQL, which do not hear of it when it cuts the server off. */
async function startCuttingProxy(url: string) {
  const clients = new Set<Socket>();
  const proxy = await startDatabaseProxy(url, (client, reach) => {
    const server = reach();
    clients.add(client);
    client.on('data', (bytes) => server.write(bytes));
    server.on('data', (bytes) => client.write(bytes));
  });
  return {
    ...proxy,
    cut: () => {
      for (const client of clients) client.destroy();
    },
  };
}
