import { expect, test } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { ResourceSet } from '../../../src/storage/resource-set.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { RevisionReader } from '../../../src/storage/revision-log.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from '../postgres/kit.ts';
import { CONFIG_MAPS, Reader, readWatch, revisionsOf } from './kit.ts';

const NOTHING: ResourceSet = { kind: 'only', resources: [] };

interface Subject extends AsyncDisposable {
  readonly database: TestDatabase;
  readonly log: PostgresLog;
  readonly cache: WatchCache;
  /** How often each method of the reader was called. */
  readonly asked: Map<string, number>;
  /** What the next list is preceded by. */
  beforeList: () => Promise<unknown>;
}

async function open(kept: ResourceSet): Promise<Subject> {
  const database = await createTestDatabase();
  const log = openLog(database.url);
  const asked = new Map<string, number>();
  const count = (name: string): void => void asked.set(name, (asked.get(name) ?? 0) + 1);
  const reader: RevisionReader = {
    currentRevision: () => log.reader.currentRevision(),
    compactedRevision: () => log.reader.compactedRevision(),
    get: (key) => {
      count('get');
      return log.reader.get(key);
    },
    loadCurrent: (...all) => log.reader.loadCurrent(...all),
    listAt: async (query) => {
      count('list');
      await subject.beforeList();
      return log.reader.listAt(query);
    },
    changesBetween: (query) => {
      count('changes');
      return log.reader.changesBetween(query);
    },
  };
  const { committer, feed } = log;
  const cache = new WatchCache({ ...{ committer, feed, reader, kept }, fieldsOf: () => () => ({}) });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  await cache.ready();
  const subject: Subject = {
    ...{ database, log, cache, asked },
    beforeList: async () => {},
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await log.close();
      await database.drop();
    },
  };
  return subject;
}

const after = (revision: Revision) => ({ kind: 'after', revision }) as const;

/** As if the window had passed. */
const compact = (database: TestDatabase): Promise<unknown> =>
  database.query('UPDATE compaction SET revision = (SELECT max(revision) FROM revisions)');

test('a quiet watch outlives the compaction of what it has seen, and those who wait share what is read', async () => {
  await using subject = await open(NOTHING);
  const { cache, database, asked } = subject;
  const begin = await cache.commit(write('create', 'first'));
  const stop = new AbortController();
  const readers = Array.from({ length: 50 }, () => new Reader());
  const ended = readers.map((reader) => readWatch(cache, { start: after(begin), reader }, stop.signal));
  const elsewhere = { ...write('create', 'x'), key: { ...write('create', 'x').key, resource: 'others' } };
  const revision = await cache.commit(elsewhere);
  await cache.get(elsewhere.key, { kind: 'not-older', revision });
  await compact(database);
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    const before = asked.get('changes') ?? 0;
    await cache.commit(write('create', name));
    await Promise.all(readers.map((reader) => reader.reached(at + 1)));
    expect((asked.get('changes') ?? 0) - before).toBeLessThanOrEqual(2);
  }
  stop.abort();
  await Promise.all(ended);
  for (const { lines } of readers) expect(lines.map((line) => line.split(' ')[1])).toEqual(['a', 'b', 'c']);
});

test('a watch from before the history is refused, and one of a quiet resource from now on is not', async () => {
  await using subject = await open(NOTHING);
  const { cache, database } = subject;
  const old = await cache.commit(write('create', 'a'));
  const now = await cache.commit(write('create', 'b'));
  await cache.list({
    resource: CONFIG_MAPS,
    scope: {},
    freshness: { kind: 'not-older', revision: now },
    limit: 0,
  });
  await compact(database);
  const reader = new Reader();
  const stop = new AbortController();
  await expect(readWatch(cache, { start: after(old), reader }, stop.signal)).rejects.toMatchObject({
    failure: { kind: 'compacted' },
  });
  const watching = readWatch(cache, { start: after(now), reader, bookmarks: true }, stop.signal);
  await cache.commit({ ...write('create', 'x'), key: { ...write('create', 'x').key, resource: 'others' } });
  await reader.reached(1);
  stop.abort();
  await watching;
  expect(reader.lines[0]).toMatch(/^BOOKMARK/);
});

test('a list that is overtaken by compaction begins again, unless its revision was asked for', async () => {
  await using subject = await open(NOTHING);
  const { cache, database } = subject;
  const revision = await cache.commit(write('create', 'a'));
  const overtake = (): void => {
    subject.beforeList = async () => {
      subject.beforeList = async () => {};
      await subject.log.committer.commit(write('create', `later-${Date.now()}`));
      await compact(database);
    };
  };
  const query = { resource: CONFIG_MAPS, scope: {}, limit: 0 };
  overtake();
  const { entries } = await cache.list({ ...query, freshness: { kind: 'latest' } });
  expect(entries).toHaveLength(2);
  overtake();
  await expect(cache.list({ ...query, freshness: { kind: 'exact', revision } })).rejects.toMatchObject({
    failure: { kind: 'compacted' },
  });
});

test('what is to be in memory is there, and is read from the log by who asks for that', async () => {
  await using subject = await open({ kind: 'only', resources: [CONFIG_MAPS] });
  const { cache, asked } = subject;
  const { key } = write('create', 'a');
  const revision = await cache.commit(write('create', 'a'));
  const read = { kind: 'not-older', revision } as const;
  expect((await cache.get(key, read))?.revision).toBe(revision);
  expect(asked.get('get')).toBeUndefined();
  expect((await cache.uncached?.get(key, read))?.revision).toBe(revision);
  expect(asked.get('get')).toBe(1);
  const readers = [new Reader(), new Reader()];
  const stop = new AbortController();
  const start = after(revision);
  const watching = [cache, cache.uncached].map((store, at) =>
    store === undefined || readers[at] === undefined
      ? undefined
      : readWatch(store, { start, reader: readers[at] }, stop.signal),
  );
  await cache.commit(write('update', 'a', revision));
  await Promise.all(readers.map((reader) => reader.reached(1)));
  stop.abort();
  await Promise.all(watching);
  expect(readers.map(revisionsOf)[0]).toEqual(readers.map(revisionsOf)[1]);
});

test('a cold start reads only what is to be in memory', async () => {
  await using subject = await open(NOTHING);
  const { cache, log } = subject;
  await cache.commit(write('create', 'a'));
  await cache.commit({ ...write('create', 'x'), key: { ...write('create', 'x').key, resource: 'others' } });
  const others = [{ group: '', resource: 'others' }];
  const load = async (which?: ResourceSet): Promise<string[]> => {
    const names: string[] = [];
    await log.reader.loadCurrent(
      () => {},
      (batch) => names.push(...batch.map(({ key }) => key.name)),
      which,
    );
    return names.sort();
  };
  expect(await load()).toEqual(['a', 'x']);
  expect(await load({ kind: 'only', resources: others })).toEqual(['x']);
  expect(await load({ kind: 'except', resources: others })).toEqual(['a']);
  expect(await load(NOTHING)).toEqual([]);
  expect(await log.countObjects()).toHaveLength(2);
});
