import { expect, test, vi } from 'vitest';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { endTogether, startDatabaseProxy } from '../../kit/database-proxy.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

/** PostgreSQL documentation, 55.7: ReadyForQuery of a session without a transaction, and ErrorResponse. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const FIELDS = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
const ENDED = Buffer.concat([Buffer.from([0x45, 0, 0, 0, FIELDS.length + 4]), Buffer.from(FIELDS)]);

/** Of the startup message: what a connection is for. */
const REPLICATION = 'replication\0database';
const REPLAY = 'application_name\0pg-apiserver replay';

/** Stands before a database, and ends the first connections for a purpose in the breath in which they are accepted. */
async function startEndingProxy(
  url: string,
  { purpose, times, word = ENDED }: { purpose: string; times: number; word?: Buffer },
) {
  let left = times;
  const proxy = await startDatabaseProxy(url, (near, reach) => {
    const far = reach();
    let ends = false;
    near.on('data', (bytes) => {
      if (bytes.includes(purpose) && left > 0) {
        left -= 1;
        ends = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (ends && bytes.includes(READY)) near.end(Buffer.concat([bytes, word]));
      else near.write(bytes);
    });
    endTogether(near, far);
  });
  return { ...proxy, hasEnded: () => left === 0 };
}

test('a stream whose connection is ended in the breath in which it is accepted begins again', async () => {
  await using database = await createTestDatabase();
  using proxy = await startEndingProxy(database.url, { purpose: REPLICATION, times: 2 });
  const log = openLog(proxy.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await vi.waitFor(() => expect(proxy.hasEnded()).toBe(true), { timeout: 60_000 });
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), { timeout: 60_000 });
  await recorder.reached(await log.committer.commit(write('create', 'a')));
  stop.abort();
  await running;
  await log.close();
});

test.each([
  ['with a word', ENDED],
  ['without a word', Buffer.alloc(0)],
])(
  'a query whose connection is ended %s in the breath in which it is accepted fails, and the next one is answered',
  async (_, word) => {
    await using database = await createTestDatabase();
    using proxy = await startEndingProxy(database.url, { purpose: REPLAY, times: 2, word });
    const log = openLog(proxy.url);
    for (let ended = 0; ended < 2; ended += 1)
      await expect(log.reader.compactedRevision()).rejects.toMatchObject({
        failure: { kind: 'unavailable' },
      });
    expect(proxy.hasEnded()).toBe(true);
    expect(await log.reader.compactedRevision()).toBe(NO_REVISION);
    await log.close();
  },
);
