import { afterAll, beforeAll, expect, test } from 'vitest';
import { RevisionWatch } from '../../src/history/revision-watch.ts';
import { toEntry } from '../../src/history/told-entry.ts';
import { EncodedLog } from '../../src/storage/encoded-log.ts';
import type { LoggedRevision } from '../../src/storage/history.ts';
import type { LogFollower, LogProgress } from '../../src/storage/log-progress.ts';
import type { PostgresLog } from '../../src/storage/postgres/postgres.ts';
import { NO_REVISION, type Revision } from '../../src/storage/revision.ts';
import type { WatchEvent } from '../../src/storage/store.ts';
import { WatchCache } from '../../src/storage/watch-cache/watch-cache.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';
import { openLog, write } from '../storage/postgres/kit.ts';

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

type Conditions = ConstructorParameters<typeof RevisionWatch>[0]['conditions'];

class Reader {
  readonly told: Revision[] = [];
  readonly bookmarks: Revision[] = [];
  readonly #over = new AbortController();
  readonly #run: Promise<void>;
  #reached = Promise.withResolvers<void>();
  #wanted = Number.POSITIVE_INFINITY;

  /** `slow`: each event is waited for. */
  constructor(
    after: Revision,
    conditions: Conditions = {},
    { slow = false, bookmarks = false, progress = cache as LogProgress } = {},
  ) {
    const history = new EncodedLog(log, []).decodeHistory(log.history);
    const watch = new RevisionWatch({
      ...{ history, progress, conditions, bookmarks, after, tellsBegin: false },
      tell: async ({ revision }: LoggedRevision) => {
        const head = { kind: 'Revision', apiVersion: 'v1' };
        return toEntry({ ...head, metadata: { name: String(revision) } }, revision);
      },
    });
    const take = (event: WatchEvent): Promise<void> | undefined => {
      if (event.type === 'BOOKMARK') this.bookmarks.push(event.revision);
      else this.told.push(event.revision);
      if (this.told.length >= this.#wanted) this.#reached.resolve();
      return slow ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    };
    this.#run = watch.run(take, this.#over.signal);
    this.#run.catch((error: unknown) => this.#reached.reject(error));
  }

  reached(count: number): Promise<void> {
    this.#wanted = count;
    if (this.told.length >= count) this.#reached.resolve();
    return this.#reached.promise;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#run;
  }
}

test('watches that begin anywhere while others write are told of each revision once, in order', async () => {
  const before = await log.committer.commit(write('create', 'before'));
  const made: Revision[] = [];
  const readers: Reader[] = [new Reader(before)];
  for (let round = 0; round < 20; round += 1) {
    const names = Array.from({ length: 25 }, (_, at) => `r${round}-${at}`);
    const commits = names.map((name) => log.committer.commit(write('create', name)));
    if (round % 4 === 1) readers.push(new Reader(before, {}, { slow: round % 8 === 1 }));
    made.push(...(await Promise.all(commits)));
  }
  made.sort((a, b) => (a < b ? -1 : 1));
  await Promise.all(readers.map((reader) => reader.reached(made.length)));
  await Promise.all(readers.map((reader) => reader.stop()));
  for (const { told } of readers) expect(told).toEqual(made);
});

test('what does not concern a watch costs no question, and moves its bookmarks on', async () => {
  const after = await log.history.newest();
  const reader = new Reader(after, { name: 'mine' }, { bookmarks: true });
  let other: Revision = after;
  for (let at = 0; at < 5; at += 1) other = await log.committer.commit(write('create', `other${at}`));
  await expect.poll(() => reader.bookmarks.at(-1)).toBe(other);
  const mine = await log.committer.commit(write('create', 'mine'));
  await reader.reached(1);
  await reader.stop();
  expect(reader.told).toEqual([mine]);
});

test('a watch that begins while the state is loaded misses nothing that was written before it is there', async () => {
  const after = await log.history.newest();
  const followers: LogFollower[] = [];
  const follow = (follower: LogFollower): (() => void) => {
    followers.push(follower);
    return () => {};
  };
  const progress = { applied: NO_REVISION, follow };
  const reader = new Reader(after, { name: 'meanwhile' }, { progress });
  const made = await log.committer.commit(write('create', 'meanwhile'));
  // It was loaded with the state. What is told of begins behind it.
  const later = write('create', 'later');
  const revision = await log.committer.commit(later);
  const change = { ...later, revision, previous: undefined, committedAt: new Date() };
  for (const follower of followers) follower.applied([change]);
  await reader.reached(1);
  await reader.stop();
  expect(reader.told).toEqual([made]);
});

test('a watch ends when the history that it follows is gone', async () => {
  const after = await log.history.newest();
  const reader = new Reader(after);
  const ended = expect(reader.reached(1)).rejects.toMatchObject({ failure: { kind: 'compacted' } });
  await cache.reset();
  await ended;
});
