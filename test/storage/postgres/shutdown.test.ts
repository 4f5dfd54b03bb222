import { expect, test, vi } from 'vitest';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { startPrivatePostgres } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';
import { startSilentProxy } from './silent-proxy.ts';
import { connect } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
/** A fast shutdown takes a tenth of a second; after 20 the harness ends PostgreSQL by force. */
const SHUTDOWN_MS = 2000;
/** Where a server cannot be heard any more: as long as its silence is put up with, and what else a shutdown takes. */
const HALF_OPEN_SHUTDOWN_MS = 7000;

test('PostgreSQL shuts down under a live tail, and changes go on arriving when it is back', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres();
  const log = openLog(postgres.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const revisions = [await log.committer.commit(write('create', 'before'))];
  for (let round = 0; round < 2; round += 1) {
    await recorder.reached(revisions.at(-1) ?? NO_REVISION);
    // A new sender is in state catchup for a moment.
    await vi.waitFor(async () => expect(await sendersOf(postgres.url)).toBe(1), PATIENCE);
    const begunAtMs = performance.now();
    await postgres.stop();
    expect(performance.now() - begunAtMs).toBeLessThan(SHUTDOWN_MS);
    await postgres.start();
    revisions.push(await log.committer.commit(write('create', `after-${round}`)));
    await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  }
  await recorder.reached(revisions.at(-1) ?? NO_REVISION);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual(revisions);
  stop.abort();
  await running;
  await log.close();
});

test('PostgreSQL shuts down in time when the tail is gone without a word', { tags: 'long' }, async () => {
  await using postgres = await startPrivatePostgres();
  using proxy = await startSilentProxy(postgres.url);
  const log = openLog(proxy.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const before = await log.committer.commit(write('create', 'before'));
  await recorder.reached(before);
  await vi.waitFor(async () => expect(await sendersOf(postgres.url)).toBe(1), PATIENCE);
  proxy.fallSilent();
  const begunAtMs = performance.now();
  await postgres.stop();
  expect(performance.now() - begunAtMs).toBeLessThan(HALF_OPEN_SHUTDOWN_MS);
  stop.abort();
  await running;
  await log.close();
});

async function sendersOf(url: string): Promise<number> {
  await using session = await connect(url);
  return (await session.query("SELECT FROM pg_stat_replication WHERE state = 'streaming'")).length;
}
