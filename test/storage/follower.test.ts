import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Followed, Follower } from '../../src/storage/follower.ts';
import type { PostgresLog } from '../../src/storage/postgres/postgres.ts';
import type { Entry, WatchEvent } from '../../src/storage/store.ts';
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
  readonly told: string[] = [];
  refused = '';
  #waiting: { text: string; resolve: () => void }[] = [];

  replace(entries: readonly Entry[]): void {
    this.#tell(`all: ${entries.map(({ name }) => name).join(' ')}`);
  }

  apply({ type, entry }: WatchEvent): void {
    if (entry.name === this.refused) {
      this.refused = '';
      throw new Error(`refused ${entry.name}`);
    }
    this.#tell(`${type} ${entry.name}`);
  }

  sees(text: string): Promise<void> {
    if (this.told.includes(text)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ text, resolve }));
  }

  #tell(text: string): void {
    this.told.push(text);
    for (const waiter of this.#waiting) if (waiter.text === text) waiter.resolve();
  }
}

test('an index begins with everything at once, sees every change, and begins again after an error', async () => {
  await cache.commit(write('create', 'a'));
  await cache.commit(write('create', 'b'));
  const [maps, secrets] = [new Names(), new Names()];
  const errors: string[] = [];
  const follower = new Follower({
    store: cache,
    sources: [
      { resource: CONFIG_MAPS, index: maps },
      { resource: SECRETS, index: secrets },
    ],
    onError: (error) => errors.push(String(error)),
  });
  const ended = new AbortController();
  const following = follower.run(ended.signal);
  await follower.ready();
  expect([maps.told, secrets.told]).toEqual([['all: a b'], ['all: ']]);

  await cache.commit(write('create', 'c'));
  await maps.sees('ADDED c');
  maps.refused = 'd';
  await cache.commit(write('create', 'd'));
  await maps.sees('all: a b c d');
  expect(errors).toEqual(['Error: refused d']);
  await cache.commit(write('create', 'e'));
  await maps.sees('ADDED e');
  expect(maps.told).toEqual(['all: a b', 'ADDED c', 'all: a b c d', 'ADDED e']);

  ended.abort();
  await following;
});
