import { expect, test } from 'vitest';
import { DeliveredEvents } from '../../src/storage/delivered-events.ts';
import { StorageError } from '../../src/storage/errors.ts';
import { type Revision, toRevision } from '../../src/storage/revision.ts';
import type { Write } from '../../src/storage/revision-log.ts';
import { type Route, RoutedStore } from '../../src/storage/routed-store.ts';
import type { ListQuery, Store, WatchEvent, WatchQuery } from '../../src/storage/store.ts';

const EVENTS = { group: '', resource: 'events' };
const KEY = { ...EVENTS, namespace: 'default', name: 'one' };
const WRITE = { verb: 'create', key: KEY } as Write;
const moved = (after?: Revision): StorageError =>
  new StorageError({ kind: 'moved', ...(after === undefined ? {} : { after }) });

/** A store that answers with its own revision, after `before` has run. */
function storeAt(
  revision: number,
  before: () => void | Promise<void> = () => {},
): Store & { starts: unknown[] } {
  const starts: unknown[] = [];
  return {
    starts,
    get: async () => {
      await before();
      return undefined;
    },
    list: async () => {
      await before();
      return { revision: toRevision(revision), entries: [] };
    },
    commit: async () => {
      await before();
      return toRevision(revision);
    },
    watch: async ({ start }, signal) => {
      starts.push(start);
      return new DeliveredEvents(async (take) => {
        void take({ type: 'BOOKMARK', revision: toRevision(revision) });
        await before();
      }, signal);
    },
  };
}

const LIST = { resource: EVENTS, scope: {}, freshness: { kind: 'latest' }, limit: 0 } as ListQuery;
const WATCH = {
  resource: EVENTS,
  scope: {},
  start: { kind: 'after', revision: toRevision(3) },
  bookmarks: true,
} as WatchQuery;
const never = new AbortController().signal;

test('a read that ends when its resource has moved is asked again of the new store, after an answer and after an error', async () => {
  for (const fails of [false, true]) {
    const after = storeAt(20);
    let route: ReturnType<Route>;
    const before = storeAt(10, () => {
      // The new store is not open at once.
      route = Promise.resolve(after).finally(() => {
        route = after;
      });
      if (fails)
        throw new StorageError({ kind: 'future', requested: toRevision(20), current: toRevision(10) });
    });
    route = before;
    expect((await new RoutedStore(() => route).list(LIST)).revision).toBe(20n);
  }
  const failing = storeAt(1, () => {
    throw moved();
  });
  await expect(new RoutedStore(() => failing).get(KEY, { kind: 'any' })).rejects.toMatchObject({
    failure: { kind: 'moved' },
  });
});

test('a write that is refused because its resource moves is made again, in the store that then takes it', async () => {
  const after = storeAt(20);
  let refused = 0;
  let route: Store;
  const before = storeAt(10, () => {
    refused += 1;
    if (refused === 3) route = after;
    throw moved();
  });
  route = before;
  expect(await new RoutedStore(() => route).commit(WRITE)).toBe(20n);
  expect(refused).toBe(3);
  const conflict = new StorageError({ kind: 'conflict', key: KEY, current: toRevision(9) });
  const conflicting = storeAt(1, () => {
    throw conflict;
  });
  await expect(new RoutedStore(() => conflicting).commit(WRITE)).rejects.toBe(conflict);
});

test('a watch goes on in the new store from where it has got to, and begins anew where it had sent half of a state', async () => {
  for (const iterated of [false, true]) {
    const after = storeAt(20);
    let route: Store;
    const before = storeAt(10, () => {
      route = after;
      throw moved(toRevision(10));
    });
    route = before;
    const stream = await new RoutedStore(() => route).watch(WATCH, never);
    const events: WatchEvent[] = [];
    if (iterated) for await (const batch of stream) events.push(...batch);
    else await stream.deliver((event) => void events.push(event));
    expect(events.map((event) => ('revision' in event ? event.revision : undefined))).toEqual([10n, 20n]);
    expect(after.starts).toEqual([{ kind: 'after', revision: 10n }]);
  }
  const half = storeAt(10, () => {
    throw moved();
  });
  const stream = await new RoutedStore(() => half).watch(WATCH, never);
  await expect(stream.deliver(() => undefined)).rejects.toMatchObject({ failure: { kind: 'compacted' } });
});
