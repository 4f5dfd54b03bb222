import { expect, test } from 'vitest';
import { StorageError } from '../../../src/storage/errors.ts';
import { Follower } from '../../../src/storage/follower.ts';
import { ObjectReader } from '../../../src/storage/object-reader.ts';
import type { ResourceSet } from '../../../src/storage/resource-set.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type {
  Change,
  ChangeSink,
  RevisionReader,
  StoredObject,
  WriteVerb,
} from '../../../src/storage/revision-log.ts';
import type { Entry, ListQuery } from '../../../src/storage/store.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { CONFIG_MAPS, Reader, readWatch } from './kit.ts';

const REASON = 'its key is gone';

function stored(name: string, revision: number, isReadable = true): StoredObject {
  const key = { ...CONFIG_MAPS, namespace: 'default', name };
  const json = Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"}}`);
  const object = { key, uid: name, revision: toRevision(revision) };
  return isReadable ? { ...object, json } : { ...object, json: Buffer.alloc(0), unreadable: REASON };
}

const changed = (verb: WriteVerb, object: StoredObject): Change => ({
  ...object,
  ...{ verb, previous: verb === 'create' ? undefined : toRevision(1), committedAt: new Date() },
});

/** A cache of one readable object and one that is not. */
async function withCache(
  use: (cache: WatchCache, sink: ChangeSink) => Promise<void>,
  kept?: ResourceSet,
): Promise<void> {
  const stop = new AbortController();
  const reader: RevisionReader = {
    currentRevision: async () => toRevision(9),
    compactedRevision: async () => toRevision(0),
    get: async ({ name }) => stored(name, 2, name !== 'bad'),
    listAt: async () => ({ objects: [stored('good', 1), stored('bad', 2, false)], remaining: 0 }),
    changesBetween: async () => [
      {
        ...changed('update', stored('bad', 3, false)),
        previousJson: Buffer.alloc(0),
        previousUnreadable: REASON,
      },
      {
        ...changed('update', stored('mended', 4)),
        previousJson: Buffer.alloc(0),
        previousUnreadable: REASON,
      },
      { ...changed('delete', stored('gone', 5, false)), previousJson: stored('gone', 1).json },
    ],
    loadCurrent: async (begin, batch) => {
      begin(toRevision(9));
      batch([stored('good', 1), stored('bad', 2, false)]);
    },
  };
  const fed = Promise.withResolvers<ChangeSink>();
  const feed = {
    run: (_: unknown, sink: ChangeSink, signal: AbortSignal): Promise<void> => {
      fed.resolve(sink);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    hurry: () => {},
  };
  const committer = { commit: () => Promise.reject(new Error('nothing is written')) };
  const parts = { reader, feed, committer, fieldsOf: () => () => ({}) };
  const cache = new WatchCache({ ...parts, ...(kept === undefined ? {} : { kept }) });
  const running = cache.run(stop.signal);
  await use(cache, await fed.promise);
  stop.abort();
  await running;
}

const ANY = { kind: 'any' } as const;
const query: ListQuery = { resource: CONFIG_MAPS, scope: {}, freshness: ANY, limit: 0 };
const keyOf = (name: string) => ({ ...CONFIG_MAPS, namespace: 'default', name });

/** The names and reasons that it fails with. */
const failure = async (read: Promise<unknown>): Promise<unknown> => {
  const error = await read.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StorageError) || error.failure.kind !== 'unreadable') return error;
  return error.failure.objects.map(({ key, uid, revision, reason }) => [key.name, uid, revision, reason]);
};

test('the error for an object that cannot be read, or for a list that has it, names it and says why', async () => {
  await withCache(async (cache) => {
    const bad = [['bad', 'bad', 2n, REASON]];
    expect((await cache.get(keyOf('good'), ANY))?.name).toBe('good');
    expect(await failure(cache.get(keyOf('bad'), ANY))).toEqual(bad);
    expect(await failure(cache.list(query))).toEqual(bad);
    expect(
      await failure(cache.list({ ...query, freshness: { kind: 'exact', revision: toRevision(5) } })),
    ).toEqual(bad);
    const watch = { start: { kind: 'state', freshness: ANY } as const, reader: new Reader() };
    expect(await failure(readWatch(cache, watch, new AbortController().signal))).toEqual(bad);
    expect(cache.state.resources).toMatchObject([{ objects: 1, unreadable: 1 }]);
  });
});

test('without a cache the same is said, and the same is left out', async () => {
  await withCache(
    async (cache) => {
      const bad = [['bad', 'bad', 2n, REASON]];
      expect((await cache.get(keyOf('good'), ANY))?.name).toBe('good');
      expect(await failure(cache.get(keyOf('bad'), ANY))).toEqual(bad);
      expect(await failure(cache.list(query))).toEqual(bad);
      const around = await cache.list({ ...query, around: true });
      expect(around.entries.map(({ name }) => name)).toEqual(['good']);
      const watch = { start: { kind: 'state', freshness: ANY } as const, reader: new Reader() };
      expect(await failure(readWatch(cache, watch, new AbortController().signal))).toEqual(bad);
    },
    { kind: 'only', resources: [] },
  );
});

test('a list of what is beside it, and one that goes around it, are answered', async () => {
  await withCache(async (cache) => {
    const names = async (part: Partial<ListQuery>): Promise<string[]> =>
      (await cache.list({ ...query, ...part })).entries.map(({ name }) => name);
    expect(await names({ around: true })).toEqual(['good']);
    expect(await names({ scope: { namespace: 'other' } })).toEqual([]);
    expect(await names({ scope: { namespace: 'default', name: 'good' } })).toEqual(['good']);
  });
});

test('parts of the server go around it, unless they want to be sure that nothing else is there', async () => {
  await withCache(async (cache) => {
    const reader = new ObjectReader(cache);
    const names = (await reader.entries(CONFIG_MAPS, {}, 'cached')).map(({ name }) => name);
    expect(names).toEqual(['good']);
    expect(await failure(reader.entries(CONFIG_MAPS, {}, 'latest'))).toHaveLength(1);
    expect(await failure(reader.entry(keyOf('bad'), 'cached'))).toHaveLength(1);
    const replaced: string[][] = [];
    const index = {
      replace: (entries: readonly Entry[]) => void replaced.push(entries.map(({ name }) => name)),
      apply: () => {},
    };
    const stop = new AbortController();
    const follower = new Follower({ store: cache, sources: [{ resource: CONFIG_MAPS, index }] });
    const following = follower.run(stop.signal);
    await follower.ready();
    expect(replaced).toEqual([['good']]);
    stop.abort();
    await following;
  });
});

test('a watcher keeps the last state that could be read, and gets the next one that can be', async () => {
  await withCache(async (cache, sink) => {
    const stop = new AbortController();
    const reader = new Reader();
    const watch = { start: { kind: 'after', revision: toRevision(9) } as const, reader };
    const watching = readWatch(cache, watch, stop.signal);
    sink.apply([changed('update', stored('good', 10, false))]);
    expect(await failure(cache.get(keyOf('good'), ANY))).toEqual([['good', 'good', 10n, REASON]]);
    sink.apply([changed('update', stored('good', 11))]);
    sink.apply([changed('update', stored('good', 12, false))]);
    sink.apply([changed('delete', stored('good', 13, false))]);
    sink.apply([changed('update', stored('bad', 14))]);
    sink.apply([changed('delete', stored('bad', 15))]);
    await reader.reached(4);
    expect(reader.lines).toEqual(['MODIFIED good 11', 'DELETED good 13', 'ADDED bad 14', 'DELETED bad 15']);
    expect(cache.state.resources).toMatchObject([{ objects: 0, unreadable: 0 }]);
    stop.abort();
    await watching;
  });
});

test('an object that never could be read is deleted without an event', async () => {
  await withCache(async (cache, sink) => {
    sink.apply([changed('delete', stored('bad', 10, false))]);
    expect(await cache.get(keyOf('bad'), ANY)).toBeUndefined();
    expect((await cache.list(query)).entries).toHaveLength(1);
  });
});

test('a watch from before the memory passes over objects that cannot be read, and shows their end', async () => {
  await withCache(async (cache) => {
    const stop = new AbortController();
    const reader = new Reader();
    const watching = readWatch(
      cache,
      { start: { kind: 'after', revision: toRevision(1) }, reader },
      stop.signal,
    );
    await reader.reached(2);
    expect(reader.lines).toEqual(['ADDED mended 4', 'DELETED gone 5']);
    stop.abort();
    await watching;
  });
});
