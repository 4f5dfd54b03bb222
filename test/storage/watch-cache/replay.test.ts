import { expect, test, vi } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { NO_REVISION, type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { ChangeQuery, RevisionReader } from '../../../src/storage/revision-log.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { aborted } from '../../../src/util/pause.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, write } from '../postgres/kit.ts';
import { CONFIG_MAPS, Reader, readWatch, revisionsOf } from './kit.ts';

/** Counts what is asked. */
function counting(reader: PostgresLog['reader']): {
  reader: RevisionReader;
  asked: { pages: ChangeQuery[]; compacted: number };
} {
  const asked = { pages: [] as ChangeQuery[], compacted: 0 };
  const counted: RevisionReader = {
    currentRevision: () => reader.currentRevision(),
    compactedRevision: () => {
      asked.compacted += 1;
      return reader.compactedRevision();
    },
    get: (key) => reader.get(key),
    loadCurrent: (begin, batch) => reader.loadCurrent(begin, batch),
    listAt: (query) => reader.listAt(query),
    changesBetween: (query) => {
      asked.pages.push(query);
      return reader.changesBetween(query);
    },
  };
  return { reader: counted, asked };
}

/** A server that has begun after so many changes, of each of which the first watches resumed. */
async function restarted(changes: number) {
  const database = await createTestDatabase();
  const log = openLog(database.url);
  const revisions: Revision[] = [];
  for (let at = 0; at < changes; at += 100) {
    const names = Array.from({ length: Math.min(100, changes - at) }, (_, n) => `w${at + n}`);
    revisions.push(...(await Promise.all(names.map((name) => log.committer.commit(write('create', name))))));
  }
  revisions.sort((a, b) => (a < b ? -1 : 1));
  const { reader, asked } = counting(log.reader);
  const cache = new WatchCache({ ...log, reader, fieldsOf: () => () => ({}) });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  await cache.ready();
  return {
    ...{ log, cache, revisions, asked, signal: stop.signal },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await log.close();
      await database.drop();
    },
  };
}

test('watches that resume together share what is read from history, from every revision', {
  tags: 'long',
}, async () => {
  await using server = await restarted(1200);
  const { cache, revisions, asked, signal } = server;
  const readers = Array.from({ length: 2000 }, (_, n) => ({ reader: new Reader(), from: (n % 7) * 20 }));
  const watching = readers.map(({ reader, from }) =>
    readWatch(cache, { reader, start: { kind: 'after', revision: revisions[from] as Revision } }, signal),
  );
  for (const { reader, from } of readers) {
    await reader.reached(revisions.length - from - 1);
    expect(revisionsOf(reader)).toEqual(revisions.slice(from + 1));
  }
  expect(asked.pages.length).toBeLessThan(20);
  expect(asked.compacted).toBeLessThan(20);
  expect(watching).toHaveLength(2000);
});

test('watches of single objects that resume together share it too, and one alone reads no more than its own', async () => {
  await using server = await restarted(300);
  const { cache, revisions, asked, signal } = server;
  const watchName = (name: string, reader: Reader, from: number): Promise<void> =>
    cache
      .watch(
        {
          ...{ resource: CONFIG_MAPS, scope: { namespace: 'default', name }, bookmarks: false },
          start: { kind: 'after', revision: revisions[from] as Revision },
        },
        signal,
      )
      .then((events) => events.deliver(reader.take));
  const alone = new Reader();
  void watchName('w200', alone, 0);
  await alone.reached(1);
  expect(asked.pages.map(({ scope }) => scope)).toEqual([{ namespace: 'default', name: 'w200' }]);
  const readers = Array.from({ length: 250 }, () => new Reader());
  for (const [n, reader] of readers.entries()) void watchName(`w${n + 40}`, reader, 10);
  await Promise.all(readers.map((reader) => reader.reached(1)));
  for (const [n, reader] of readers.entries())
    expect(reader.lines).toEqual([expect.stringContaining(`ADDED w${n + 40} `)]);
  expect(asked.pages.length).toBeLessThan(10);
});

test('a watcher that takes nothing, or replays from far behind, does not hold up the others', async () => {
  await using server = await restarted(1500);
  const { cache, revisions, signal } = server;
  const slow = new Reader();
  slow.full = true;
  const start = (from: number) => ({ kind: 'after', revision: revisions[from] ?? NO_REVISION }) as const;
  void readWatch(cache, { reader: slow, start: start(0) }, signal);
  const quick = Array.from({ length: 50 }, () => new Reader());
  for (const reader of quick) void readWatch(cache, { reader, start: start(1400) }, signal);
  await Promise.all(quick.map((reader) => reader.reached(99)));
  expect(slow.lines).toHaveLength(1);
  slow.drain();
  await slow.reached(1499);
  expect(revisionsOf(slow)).toEqual(revisions.slice(1));
});

test('a read of what is newest that the cache does not reach in time is unavailable, not from the future', async () => {
  await using server = await restarted(1);
  const { log, revisions } = server;
  const [first = NO_REVISION] = revisions;
  const { reader } = counting(log.reader);
  const ahead = { ...reader, currentRevision: async () => toRevision(first + 5n) };
  const hurry = vi.fn();
  const silent = { run: (_from: Revision, _sink: unknown, signal: AbortSignal) => aborted(signal), hurry };
  const cache = new WatchCache({ ...log, reader: ahead, feed: silent, fieldsOf: () => () => ({}) });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  await cache.ready();
  const read = cache.get(write('create', 'w0').key, { kind: 'latest' });
  await expect(read).rejects.toMatchObject({ failure: { kind: 'unavailable' } });
  expect(hurry).toHaveBeenCalledTimes(1);
  stop.abort();
  await running;
});
