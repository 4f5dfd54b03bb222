import { expect, test } from 'vitest';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { MAX_PAGE_BYTES, mayHaveMore } from '../../../src/storage/revision-log.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const LIMIT = 500;
const LARGE = 'x'.repeat(1_000_000);

test('pages of history are bounded in bytes, and together they are all of it', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const revisions: Revision[] = [];
  for (let n = 0; n < 30; n += 1) {
    const verb = n === 0 ? 'create' : 'update';
    revisions.push(await log.committer.commit(write(verb, 'a', revisions.at(-1), LARGE)));
  }
  const upTo = revisions.at(-1) ?? NO_REVISION;
  const read: Revision[] = [];
  for (let after = NO_REVISION; ; ) {
    const query = { resource: CONFIG_MAPS, scope: {}, after, upTo, limit: LIMIT };
    const page = await log.reader.changesBetween(query);
    const sizeBytes = page.reduce(
      (sum, { json, previousJson }) => sum + json.length + (previousJson?.length ?? 0),
      0,
    );
    // The one with which it is full is in it.
    expect(sizeBytes).toBeLessThan(MAX_PAGE_BYTES + 2_100_000);
    read.push(...page.map(({ revision }) => revision));
    after = read.at(-1) ?? upTo;
    if (!mayHaveMore(page, LIMIT)) break;
  }
  expect(read).toEqual(revisions);
  const tail = await log.reader.tailPage(NO_REVISION, LIMIT);
  expect(tail.changes.length).toBeLessThan(12);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await recorder.reached(upTo);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual(revisions);
  stop.abort();
  await running;
  await log.close();
});

test('a page ends for want of changes, or because it is full', () => {
  const change = (bytes: number) =>
    ({
      key: { ...CONFIG_MAPS, namespace: '', name: 'a' },
      revision: NO_REVISION,
      uid: '',
      json: Buffer.alloc(bytes),
    }) as const;
  expect(mayHaveMore([], 2)).toBe(false);
  expect(mayHaveMore([change(1)], 2)).toBe(false);
  expect(mayHaveMore([change(1), change(1)], 2)).toBe(true);
  expect(mayHaveMore([change(MAX_PAGE_BYTES)], 2)).toBe(true);
});
