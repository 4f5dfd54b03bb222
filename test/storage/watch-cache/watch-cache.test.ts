import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Caller } from '../../../src/request/api-request.ts';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Encoding, Entry } from '../../../src/storage/store.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from '../postgres/kit.ts';
import { CONFIG_MAPS, Reader, readWatch, revisionsOf, TEXT } from './kit.ts';

let database: TestDatabase;
let log: PostgresLog;
let cache: WatchCache;
const stop = new AbortController();
let running: Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
  const compression = { afterTurns: 1, leastBytes: 100_000 };
  cache = new WatchCache({ ...log, fieldsOf: () => () => ({}), compression });
  running = cache.run(stop.signal);
  await cache.ready();
});

afterAll(async () => {
  stop.abort();
  await running;
  await log.close();
  await database.drop();
});

async function writeMany(prefix: string, count: number): Promise<Revision[]> {
  const revisions = [];
  for (let n = 0; n < count; n += 1) revisions.push(await cache.commit(write('create', `${prefix}-${n}`)));
  return revisions;
}

test('a list after a write contains it, from every server', async () => {
  const other = openLog(database.url);
  const revision = await other.committer.commit(write('create', 'from-elsewhere'));
  const page = await cache.list({
    resource: CONFIG_MAPS,
    scope: {},
    freshness: { kind: 'latest' },
    limit: 0,
  });
  expect(page.revision).toBeGreaterThanOrEqual(revision);
  expect(page.entries.map(({ name }) => name)).toContain('from-elsewhere');
  await other.close();
});

test('a read that waits for a revision ends when its caller has gone', async () => {
  const revision = toRevision((await log.reader.currentRevision()) + 1_000_000n);
  for (const read of [
    (caller: Caller) => cache.get(write('create', 'a').key, { kind: 'not-older', revision }, caller),
    (caller: Caller) =>
      cache.list({
        ...{ resource: CONFIG_MAPS, scope: {}, limit: 0, caller },
        freshness: { kind: 'exact', revision },
      }),
  ]) {
    const gone = new AbortController();
    const reading = expect(read({ signal: gone.signal, aborted: false })).rejects;
    gone.abort();
    await reading.toMatchObject({ failure: { kind: 'abandoned' } });
  }
});

test('chunks of one list show one state while writes go on', async () => {
  await writeMany('chunk', 25);
  const query = { resource: CONFIG_MAPS, scope: { namespace: 'default' }, limit: 10 };
  const first = await cache.list({ ...query, freshness: { kind: 'latest' } });
  const before = first.entries.length + (first.remaining ?? 0);
  await writeMany('chunk-later', 5);
  const names = first.entries.map(({ name }) => name);
  let { next } = first;
  while (next !== undefined) {
    const page = await cache.list({
      ...query,
      freshness: { kind: 'exact', revision: first.revision },
      after: next,
    });
    expect(page.revision).toBe(first.revision);
    names.push(...page.entries.map(({ name }) => name));
    next = page.next;
  }
  expect(names).toHaveLength(before);
  expect(names).toEqual([...new Set(names)].sort());
  expect(names.some((name) => name.startsWith('chunk-later'))).toBe(false);
});

test('a list of a past revision comes from history', async () => {
  const [first] = await writeMany('past', 3);
  const page = await cache.list({
    resource: CONFIG_MAPS,
    scope: { namespace: 'default' },
    freshness: { kind: 'exact', revision: first as Revision },
    limit: 0,
  });
  const past = page.entries.filter(({ name }) => name.startsWith('past-'));
  expect(past.map(({ name }) => name)).toEqual(['past-0']);
});

test('a watch resumed from any revision misses nothing and repeats nothing', async () => {
  const revisions = await writeMany('resume', 20);
  for (const [at, from] of revisions.entries()) {
    const reader = new Reader();
    const end = new AbortController();
    const watching = readWatch(cache, { reader, start: { kind: 'after', revision: from } }, end.signal);
    await reader.reached(revisions.length - at - 1);
    end.abort();
    await watching;
    expect(revisionsOf(reader)).toEqual(revisions.slice(at + 1));
  }
});

test('a watch from before the memory of the cache is served from SQL and joined to the stream', async () => {
  const revisions = await writeMany('old', 10);
  const later = new WatchCache({ ...openLog(database.url), fieldsOf: () => () => ({}) });
  const end = new AbortController();
  const serving = later.run(end.signal);
  await later.ready();
  const reader = new Reader();
  const watching = readWatch(
    later,
    { reader, start: { kind: 'after', revision: revisions[0] as Revision } },
    end.signal,
  );
  await reader.reached(9);
  const more = await writeMany('new', 5);
  await reader.reached(14);
  expect(revisionsOf(reader)).toEqual([...revisions.slice(1), ...more]);
  end.abort();
  await Promise.all([watching, serving]);
});

test('a slow watcher is set aside, delays no other, and goes on where it was', async () => {
  const slow = new Reader();
  const quick = new Reader();
  const end = new AbortController();
  const [begun] = await writeMany('slow-start', 1);
  const start = { kind: 'after', revision: begun as Revision } as const;
  const watching = [slow, quick].map((reader) => readWatch(cache, { reader, start }, end.signal));
  slow.full = true;
  const revisions = await writeMany('slow', 30);
  await quick.reached(30);
  expect(slow.lines).toHaveLength(1);
  slow.drain();
  await slow.reached(30);
  expect(revisionsOf(slow)).toEqual(revisions);
  expect(revisionsOf(quick)).toEqual(revisions);
  end.abort();
  await Promise.all(watching);
});

test('an object that leaves the selector is DELETED to its watcher, with the state before', async () => {
  const reader = new Reader();
  const end = new AbortController();
  const matches = (entry: Entry): boolean => entry.json.includes('"data":"in"');
  const created = await cache.commit(write('create', 'moves', undefined, 'in'));
  const watching = readWatch(
    cache,
    { reader, start: { kind: 'after', revision: created }, matches },
    end.signal,
  );
  const changed = await cache.commit(write('update', 'moves', created, 'in'));
  const left = await cache.commit(write('update', 'moves', changed, 'out'));
  const back = await cache.commit(write('update', 'moves', left, 'in'));
  const gone = await cache.commit(write('delete', 'moves', back, 'in'));
  await reader.reached(4);
  expect(reader.lines).toEqual([
    `MODIFIED moves ${changed}`,
    `DELETED moves ${left}`,
    `ADDED moves ${back}`,
    `DELETED moves ${gone}`,
  ]);
  end.abort();
  await watching;
});

test('objects that were compressed in memory are read, listed, changed and watched as before', async () => {
  const selected = (entry: Entry): boolean => entry.json.includes('"data":"in');
  const texts = Array.from({ length: 40 }, (_, at) => `in ${at} ${'and again '.repeat(500)}`);
  const revisions: Revision[] = [];
  for (const [at, text] of texts.entries())
    revisions.push(await cache.commit(write('create', `large-${at}`, undefined, text)));
  const large = (): Entry[] =>
    [...cache.present(CONFIG_MAPS)].filter(({ name }) => name.startsWith('large-'));
  const isCompressed = (entry: Entry): boolean => entry instanceof CachedEntry && entry.isSettled;
  await vi.waitFor(() => expect(large().filter(isCompressed).length).toBeGreaterThan(25), PATIENCE);
  for (const { name, json } of large())
    expect(JSON.parse(json.toString())).toMatchObject({
      metadata: { name },
      data: { data: texts[Number(name.slice('large-'.length))] },
    });

  const reader = new Reader();
  const end = new AbortController();
  const start = { kind: 'after', revision: revisions.at(-1) as Revision } as const;
  const watching = readWatch(cache, { reader, start, matches: selected }, end.signal);
  const changed = await cache.commit(write('update', 'large-3', revisions[3], 'out'));
  await reader.reached(1);
  expect(reader.lines).toEqual([`DELETED large-3 ${changed}`]);
  end.abort();
  await watching;
});

/** Watchers of everything from now on with one encoding, which counts what it is asked for. */
async function watchTogether(count: number) {
  const encoded: string[] = [];
  const counting: Encoding = {
    id: 'counting',
    encode: (event) => {
      encoded.push(event.entry.name);
      return TEXT.encode(event);
    },
  };
  const [begun] = await writeMany(`together-${Date.now()}`, 1);
  const end = new AbortController();
  const readers = Array.from({ length: count }, () => new Reader(counting));
  const start = { kind: 'after', revision: begun as Revision } as const;
  const watching = readers.map((reader) => readWatch(cache, { reader, start }, end.signal));
  await new Promise((resolve) => setImmediate(resolve));
  const stopWatching = async (): Promise<void> => {
    end.abort();
    await Promise.all(watching);
  };
  return { encoded, readers, stopWatching };
}

test('an event is encoded once for all watchers with the same encoding', async () => {
  const { encoded, readers, stopWatching } = await watchTogether(20);
  await writeMany('count', 10);
  await Promise.all(readers.map((reader) => reader.reached(10)));
  expect(encoded).toHaveLength(10);
  await stopWatching();
});

test('an event is encoded once for all watchers that fell behind together', async () => {
  const { encoded, readers, stopWatching } = await watchTogether(20);
  for (const reader of readers) reader.full = true;
  await writeMany('behind', 10);
  await Promise.all(readers.map((reader) => reader.reached(1)));
  expect(encoded).toHaveLength(1);
  for (const reader of readers) reader.drain();
  await Promise.all(readers.map((reader) => reader.reached(10)));
  expect(encoded).toHaveLength(10);
  await stopWatching();
});

test('a reader that cannot take an event ends its own watch with its error, and disturbs no other', async () => {
  const [begun] = await writeMany('refused', 1);
  const start = { kind: 'after', revision: begun as Revision } as const;
  const end = new AbortController();
  const broken = new Reader({
    id: 'broken',
    encode: () => {
      throw new Error('cannot be encoded');
    },
  });
  const reader = new Reader();
  const refused = expect(readWatch(cache, { reader: broken, start }, end.signal)).rejects.toThrow(
    'cannot be encoded',
  );
  const watching = readWatch(cache, { reader, start }, end.signal);
  await writeMany('refused-too', 2);
  await refused;
  await reader.reached(2);
  end.abort();
  await watching;
});

test('a watch that asked for bookmarks gets them while it keeps up, and another does not', async () => {
  const [begun] = await writeMany('marked', 1);
  const start = { kind: 'after', revision: begun as Revision } as const;
  const end = new AbortController();
  const [marked, other] = [new Reader(), new Reader()];
  const watching = [
    readWatch(cache, { reader: marked, start, bookmarks: true }, end.signal),
    readWatch(cache, { reader: other, start }, end.signal),
  ];
  await marked.reached(1);
  expect(marked.lines).toEqual([`BOOKMARK ${begun}`]);
  expect(other.lines).toEqual([]);
  end.abort();
  await Promise.all(watching);
});

test('a watch or list from before the history ends with compacted', async () => {
  await writeMany('gone', 3);
  await database.query('UPDATE compaction SET revision = (SELECT max(revision) FROM revisions)');
  const start = { kind: 'after', revision: 1n as Revision } as const;
  const fresh = new WatchCache({ ...openLog(database.url), fieldsOf: () => () => ({}) });
  const end = new AbortController();
  const serving = fresh.run(end.signal);
  await expect(readWatch(fresh, { reader: new Reader(), start }, end.signal)).rejects.toMatchObject({
    failure: { kind: 'compacted' },
  });
  const exact = { kind: 'exact', revision: 1n as Revision } as const;
  await expect(
    fresh.list({ resource: CONFIG_MAPS, scope: {}, freshness: exact, limit: 0 }),
  ).rejects.toMatchObject({
    failure: { kind: 'compacted' },
  });
  end.abort();
  await serving;
});
