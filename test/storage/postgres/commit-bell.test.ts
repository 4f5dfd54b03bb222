import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';
import { connect } from './stalls.ts';

const HELD =
  "SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/** The URL of a role that may serve, and may not replicate. */
async function serverRole(database: TestDatabase): Promise<string> {
  const name = `server_${randomBytes(4).toString('hex')}`;
  await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`);
  await database.query('SELECT grant_server($1)', [name]);
  const url = new URL(database.url);
  url.username = name;
  url.password = 'secret';
  return url.href;
}

test('without the right to replicate, a commit of another server is there long before the next poll, and it is said why once', async () => {
  await using database = await createTestDatabase();
  const lines: string[] = [];
  const log = openLog(await serverRole(database), { onTrouble: (line) => lines.push(line) });
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(async () => expect(await database.query(HELD)).toHaveLength(1), PATIENCE);
  const other = openLog(database.url);
  const delays: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const revision = await other.committer.commit(write('create', `a${n}`));
    const committedMs = performance.now();
    await recorder.reached(revision);
    delays.push(performance.now() - committedMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // A poll every 250 ms, or every second, would take half of that.
  expect(delays.toSorted((a, b) => a - b)[10]).toBeLessThan(60);
  expect(lines).toEqual([
    expect.stringMatching(/^changes are polled: the user "server_\w+" may not replicate/),
  ]);
  expect(log.feed.state).toMatchObject({ mode: 'polling', stalled: undefined });
  stop.abort();
  await running;
  await Promise.all([log.close(), other.close()]);
  await vi.waitFor(async () => expect(await database.query(HELD)).toEqual([]), PATIENCE);
});

test('a commit rings only while a server listens', async () => {
  await using database = await createTestDatabase();
  await database.query('CREATE TABLE rung (at timestamptz)');
  await database.query(
    'CREATE OR REPLACE FUNCTION ring_for_commits() RETURNS void LANGUAGE sql AS $$ INSERT INTO rung VALUES (now()) $$',
  );
  const log = openLog(database.url);
  const rings = async (): Promise<number> => (await database.query('SELECT FROM rung')).length;
  await log.committer.commit(write('create', 'a'));
  expect(await rings()).toBe(0);
  {
    await using listener = await connect(database.url);
    await listener.query('SELECT await_commit_bell()');
    await log.committer.commit(write('create', 'b'));
    expect(await rings()).toBe(1);
    await expect(log.committer.commit(write('create', 'b'))).rejects.toThrow();
    expect(await rings()).toBe(1);
  }
  await vi.waitFor(async () => expect(await database.query(HELD)).toEqual([]), PATIENCE);
  await log.committer.commit(write('create', 'c'));
  expect(await rings()).toBe(1);
  await log.close();
});
