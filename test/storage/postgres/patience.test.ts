// @module-tag long
import { expect, test } from 'vitest';
import { StorageError } from '../../../src/storage/errors.ts';
import { startBlackHole } from '../../kit/black-hole.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';
import { connect } from './stalls.ts';

/** As long as a write waits here, and how much later its answer may come on a machine that does much else. */
const PATIENCE_MS = 2000;
const LATE_MS = 1500;

/** What a write was answered with, and after how long. */
async function answerOf(committed: Promise<unknown>): Promise<{ kind: string; afterMs: number }> {
  const begunAtMs = performance.now();
  const kind = await committed.then(
    () => 'committed',
    (error: unknown) => (error instanceof StorageError ? error.failure.kind : String(error)),
  );
  return { kind, afterMs: performance.now() - begunAtMs };
}

const BOUND_MS = PATIENCE_MS + LATE_MS;

test('writes under way when the network goes silent are answered in time: those sent are unknown, the others not made', async () => {
  await using database = await createTestDatabase();
  await using network = await startBlackHole(database.url);
  const log = openLog(network.url, { writePatienceMs: PATIENCE_MS });
  await log.committer.commit(write('create', 'before'));
  network.swallow();
  const sent = answerOf(log.committer.commit(write('create', 'sent')));
  // The second goes nowhere: one write is not worth a lane of its own.
  await expect.poll(() => log.committer.queued).toBe(0);
  const queued = answerOf(log.committer.commit(write('create', 'queued')));
  expect(await sent).toMatchObject({ kind: 'unknown' });
  expect((await sent).afterMs).toBeLessThan(BOUND_MS);
  expect(await queued).toMatchObject({ kind: 'unavailable' });
  expect((await queued).afterMs).toBeLessThan(BOUND_MS);
  await log.close();
});

test('a write that finds no way to the database is answered in time, however many hosts are silent', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using one = await startBlackHole(database.url);
  await using other = await startBlackHole(database.url);
  one.swallow();
  other.swallow();
  const log = openLog(one.url, { urls: [one.url, other.url, one.url], writePatienceMs: PATIENCE_MS });
  const answer = await answerOf(log.committer.commit(write('create', 'a')));
  expect(answer).toMatchObject({ kind: 'unavailable' });
  expect(answer.afterMs).toBeLessThan(BOUND_MS);
  await log.close();
});

test('writes behind a lock that is not given fail as certainly not made, once another wait would take longer than they may', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using holder = await connect(database.url);
  await holder.query('BEGIN; LOCK TABLE commit_order IN EXCLUSIVE MODE');
  // The lock is waited for as long as commit_revisions says: once, and then there is not enough time for another wait.
  const log = openLog(database.url, { writePatienceMs: 15_000 });
  const answers = Array.from({ length: 30 }, (_, n) =>
    answerOf(log.committer.commit(write('create', `w${n}`))),
  );
  for (const answer of await Promise.all(answers)) {
    expect(answer).toMatchObject({ kind: 'unavailable' });
    expect(answer.afterMs).toBeLessThan(15_000 + LATE_MS);
  }
  await holder.query('ROLLBACK');
  expect(await database.query('SELECT FROM revisions')).toHaveLength(0);
  expect(await answerOf(log.committer.commit(write('create', 'after')))).toMatchObject({ kind: 'committed' });
  await log.close();
});

test('what was answered as not made is not made later', async () => {
  await using database = await createTestDatabase();
  await using network = await startBlackHole(database.url);
  network.swallow();
  // Longer than a connection that is not answered takes to give up, on which the lane still waits when its writes do not.
  const log = openLog(network.url, { writePatienceMs: 7000 });
  const given = Array.from({ length: 5 }, (_, n) => answerOf(log.committer.commit(write('create', `w${n}`))));
  for (const answer of given) expect((await answer).kind).toBe('unavailable');
  network.release();
  const revision = await log.committer.commit(write('create', 'after'));
  expect(await database.query('SELECT revision::text, name FROM revisions')).toEqual([
    { revision: String(revision), name: 'after' },
  ]);
  await log.close();
});

test('writes that wait are bounded in bytes: more are refused at once, and room comes back with the answers', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using holder = await connect(database.url);
  const log = openLog(database.url);
  await holder.query('BEGIN; LOCK TABLE commit_order IN EXCLUSIVE MODE');
  const large = 'x'.repeat(2_900_000);
  const answers = Array.from({ length: 30 }, (_, n) =>
    answerOf(log.committer.commit(write('create', `w${n}`, undefined, large))),
  );
  const refused = (await Promise.all(answers.slice(-7))).map(({ kind }) => kind);
  expect(refused).toEqual(Array.from({ length: 7 }, () => 'overloaded'));
  await holder.query('ROLLBACK');
  for (const answer of answers.slice(0, 23)) expect((await answer).kind).toBe('committed');
  expect((await answerOf(log.committer.commit(write('create', 'after')))).kind).toBe('committed');
  await log.close();
});

test('a database that takes no writes is asked again and again, with pauses, until it does', async () => {
  await using database = await createTestDatabase();
  await using network = await startBlackHole(database.url);
  const log = openLog(network.url, { writePatienceMs: 5000 });
  await log.committer.commit(write('create', 'before'));
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await database.query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'pg-apiserver%' AND datname = current_database()`);
  // A write on a connection that is about to break would be one whose answer is lost.
  await expect.poll(() => network.open).toBe(0);
  const { connections } = network;
  const refused = answerOf(log.committer.commit(write('create', 'refused')));
  expect(await refused).toMatchObject({ kind: 'unavailable' });
  // Pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and 2 s, each halved at most.
  expect(network.connections - connections).toBeLessThan(12);
  const patient = answerOf(log.committer.commit(write('create', 'patient')));
  await using writer = await connect(database.url);
  await writer.query('SET default_transaction_read_only = off');
  await writer.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  expect(await patient).toMatchObject({ kind: 'committed' });
  await log.close();
});
