import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../../../src/request/api-request.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Entry, FrameEncoder } from '../../../src/storage/store.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from '../postgres/kit.ts';
import { CONFIG_MAPS, encoder, revisionsOf, Sink, watchQuery } from './kit.ts';

let database: TestDatabase;
let log: PostgresLog;
let cache: WatchCache;
const stop = new AbortController();
let running: Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
  cache = new WatchCache({ ...log, fieldsOf: () => () => ({}) });
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

test('a list after a write contains it, whichever server wrote', async () => {
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
    const sink = new Sink();
    const end = new AbortController();
    const watching = cache.watch(watchQuery(sink, { kind: 'after', revision: from }), end.signal);
    await sink.reached(revisions.length - at - 1);
    end.abort();
    await watching;
    expect(revisionsOf(sink)).toEqual(revisions.slice(at + 1));
  }
});

test('a watch from before the memory of the cache is served from SQL and joined to the stream', async () => {
  const revisions = await writeMany('old', 10);
  const later = new WatchCache({ ...openLog(database.url), fieldsOf: () => () => ({}) });
  const end = new AbortController();
  const serving = later.run(end.signal);
  await later.ready();
  const sink = new Sink();
  const watching = later.watch(
    watchQuery(sink, { kind: 'after', revision: revisions[0] as Revision }),
    end.signal,
  );
  await sink.reached(9);
  const more = await writeMany('new', 5);
  await sink.reached(14);
  expect(revisionsOf(sink)).toEqual([...revisions.slice(1), ...more]);
  end.abort();
  await Promise.all([watching, serving]);
});

test('a slow watcher is set aside, delays nobody, and goes on where it was', async () => {
  const slow = new Sink();
  const quick = new Sink();
  const end = new AbortController();
  const [start] = await writeMany('slow-start', 1);
  const from = { kind: 'after', revision: start as Revision } as const;
  const watching = [slow, quick].map((sink) => cache.watch(watchQuery(sink, from), end.signal));
  slow.full = true;
  const revisions = await writeMany('slow', 30);
  await quick.reached(30);
  expect(slow.frames).toHaveLength(1);
  slow.drain();
  await slow.reached(30);
  expect(revisionsOf(slow)).toEqual(revisions);
  expect(revisionsOf(quick)).toEqual(revisions);
  end.abort();
  await Promise.all(watching);
});

test('an object that leaves the selector is DELETED to its watcher, with the state before', async () => {
  const sink = new Sink();
  const end = new AbortController();
  const matches = (entry: Entry): boolean => entry.json.includes('"data":"in"');
  const created = await cache.commit(write('create', 'moves', undefined, 'in'));
  const watching = cache.watch(
    watchQuery(sink, { kind: 'after', revision: created }, { matches }),
    end.signal,
  );
  const changed = await cache.commit(write('update', 'moves', created, 'in'));
  const left = await cache.commit(write('update', 'moves', changed, 'out'));
  const back = await cache.commit(write('update', 'moves', left, 'in'));
  const gone = await cache.commit(write('delete', 'moves', back, 'in'));
  await sink.reached(4);
  expect(sink.frames).toEqual([
    `MODIFIED moves ${changed}`,
    `DELETED moves ${left}`,
    `ADDED moves ${back}`,
    `DELETED moves ${gone}`,
  ]);
  end.abort();
  await watching;
});

/** Watchers of everything from now on with one encoder, which counts what it is asked for. */
async function watchTogether(count: number) {
  const encoded: string[] = [];
  const counting: FrameEncoder = {
    ...encoder,
    id: 'counting',
    encode: (event) => {
      encoded.push(event.entry.name);
      return encoder.encode(event);
    },
  };
  const [start] = await writeMany(`together-${Date.now()}`, 1);
  const end = new AbortController();
  const sinks = Array.from({ length: count }, () => new Sink());
  const from = { kind: 'after', revision: start as Revision } as const;
  const watching = sinks.map((sink) =>
    cache.watch(watchQuery(sink, from, { encoder: counting }), end.signal),
  );
  await new Promise((resolve) => setImmediate(resolve));
  const stopWatching = async (): Promise<void> => {
    end.abort();
    await Promise.all(watching);
  };
  return { encoded, sinks, stopWatching };
}

test('a frame is encoded once for all watchers with the same encoder', async () => {
  const { encoded, sinks, stopWatching } = await watchTogether(20);
  await writeMany('count', 10);
  await Promise.all(sinks.map((sink) => sink.reached(10)));
  expect(encoded).toHaveLength(10);
  await stopWatching();
});

test('a frame is encoded once for all watchers that fell behind together', async () => {
  const { encoded, sinks, stopWatching } = await watchTogether(20);
  for (const sink of sinks) sink.full = true;
  await writeMany('behind', 10);
  await Promise.all(sinks.map((sink) => sink.reached(1)));
  expect(encoded).toHaveLength(1);
  for (const sink of sinks) sink.drain();
  await Promise.all(sinks.map((sink) => sink.reached(10)));
  expect(encoded).toHaveLength(10);
  await stopWatching();
});

test('a watch or list from before the history ends with compacted', async () => {
  await writeMany('gone', 3);
  await database.query('UPDATE compaction SET revision = (SELECT max(revision) FROM revisions)');
  const sink = new Sink();
  const from = { kind: 'after', revision: 1n as Revision } as const;
  const fresh = new WatchCache({ ...openLog(database.url), fieldsOf: () => () => ({}) });
  const end = new AbortController();
  const serving = fresh.run(end.signal);
  await expect(fresh.watch(watchQuery(sink, from), end.signal)).rejects.toMatchObject({
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
