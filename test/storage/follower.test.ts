import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Followed, Follower } from '../../src/storage/follower.ts';
import type { PostgresLog } from '../../src/storage/postgres/postgres.ts';
import type { Entry, ObjectEvent } from '../../src/storage/store.ts';
import { WatchCache } from '../../src/storage/watch-cache/watch-cache.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';
import { openLog, write } from '../storage/postgres/kit.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const SECRETS = { group: '', resource: 'secrets' };

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

/** An index of names that tells what happened to it, and can refuse a name once. */
class Names implements Followed {
  readonly seen: string[] = [];
  refused = '';
  #waiting: { text: string; resolve: () => void }[] = [];

  replace(entries: readonly Entry[]): void {
    this.#tell(`all: ${entries.map(({ name }) => name).join(' ')}`);
  }

  apply({ type, entry }: ObjectEvent): void {
    if (entry.name === this.refused) {
      this.refused = '';
      throw new Error(`refused ${entry.name}`);
    }
    this.#tell(`${type} ${entry.name}`);
  }

  sees(text: string): Promise<void> {
    if (this.seen.includes(text)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ text, resolve }));
  }

  #tell(text: string): void {
    this.seen.push(text);
    for (const waiter of this.#waiting) if (waiter.text === text) waiter.resolve();
  }
}

test('an index begins with everything at once, sees every change, and begins anew in the run after an error', async () => {
  await cache.commit(write('create', 'a'));
  await cache.commit(write('create', 'b'));
  const [maps, secrets] = [new Names(), new Names()];
  const follower = new Follower({
    store: cache,
    sources: [
      { resource: CONFIG_MAPS, index: maps },
      { resource: SECRETS, index: secrets },
    ],
  });
  const ended = new AbortController();
  const following = follower.run(ended.signal);
  await follower.ready();
  expect([maps.seen, secrets.seen]).toEqual([['all: a b'], ['all: ']]);

  await cache.commit(write('create', 'c'));
  await maps.sees('ADDED c');
  maps.refused = 'd';
  const failed = expect(following).rejects.toThrow('refused d');
  await cache.commit(write('create', 'd'));
  await failed;

  const filled = Promise.withResolvers<void>();
  const again = follower.run(ended.signal, filled.resolve);
  await filled.promise;
  expect(secrets.seen).toEqual(['all: ', 'all: ']);
  await cache.commit(write('create', 'e'));
  await maps.sees('ADDED e');
  expect(maps.seen).toEqual(['all: a b', 'ADDED c', 'all: a b c d', 'ADDED e']);

  ended.abort();
  await again;
});

test('indexes are filled anew, without an error, from a history that takes the place of another', async () => {
  const names = new Names();
  const follower = new Follower({ store: cache, sources: [{ resource: SECRETS, index: names }] });
  const ended = new AbortController();
  const following = follower.run(ended.signal);
  await follower.ready();
  const { key, ...rest } = write('create', 'kept');
  await cache.commit({ ...rest, key: { ...key, resource: 'secrets' } });
  await names.sees('ADDED kept');
  await cache.reset();
  await names.sees('all: kept');
  expect(names.seen).toEqual(['all: ', 'ADDED kept', 'all: kept']);
  ended.abort();
  await following;
});

test('a follower of nothing is ready, and runs until it is stopped', async () => {
  const follower = new Follower({ store: cache, sources: [] });
  const ended = new AbortController();
  let isOver = false;
  const following = follower.run(ended.signal).then(() => {
    isOver = true;
  });
  await follower.ready();
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  ended.abort();
  await following;
});
