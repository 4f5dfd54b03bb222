import { expect, test } from 'vitest';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

const past = new Date(Date.now() - 1000);
const future = new Date(Date.now() + 3_600_000);

test('an object whose time is up ends by a delete of its last state that watchers see, once, from every server', async () => {
  await using database = await createTestDatabase();
  const logs = [openLog(database.url), openLog(database.url)];
  const [log] = logs;
  if (log === undefined) throw new Error('no log');
  const due = { ...write('create', 'due', undefined, 'NUL \0'), expiresAt: past };
  const created = await log.committer.commit(due);
  await log.committer.commit({ ...write('create', 'later'), expiresAt: future });
  await log.committer.commit(write('create', 'always'));
  const expired = await Promise.all(logs.map(({ expirer }) => expirer.expire()));
  expect(expired.reduce((sum, count) => sum + count, 0)).toBe(1);

  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await recorder.reached(await log.reader.currentRevision());
  const last = recorder.changes.at(-1);
  expect(last).toMatchObject({ verb: 'delete', previous: created, uid: due.uid });
  expect(last?.json.equals(due.json)).toBe(true);
  const names = await database.query('SELECT name FROM objects ORDER BY name');
  expect(names).toEqual([{ name: 'always' }, { name: 'later' }]);
  stop.abort();
  await running;
  await Promise.all(logs.map((each) => each.close()));
});

test('an object that was renewed in time lives on', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const created = await log.committer.commit({ ...write('create', 'a'), expiresAt: past });
  await log.committer.commit({ ...write('update', 'a', created), expiresAt: future });
  expect(await log.expirer.expire()).toBe(0);
  await log.close();
});
