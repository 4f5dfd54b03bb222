import { expect, test, vi } from 'vitest';
import { migrateDatabase } from '../../../src/storage/postgres/setup.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { startPrivatePostgres } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

test('a PostgreSQL that is asked to stop is not held up by a tail that has seen everything', async () => {
  await using postgres = await startPrivatePostgres();
  await migrateDatabase({ urls: [postgres.url], poolSize: 1 });
  const log = openLog(postgres.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), { timeout: 10_000 });
  await recorder.reached(await log.committer.commit(write('create', 'a')));
  const begun = Date.now();
  // It waits until every tail has acknowledged all that it was sent, and is killed when that lasts 20 seconds.
  await postgres.stop();
  expect(Date.now() - begun).toBeLessThan(15_000);
  stop.abort();
  await running;
  await log.close();
}, 60_000);
