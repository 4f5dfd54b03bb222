import { afterAll, beforeAll, expect, test } from 'vitest';
import { RevisionWatch } from '../../../src/history/revisions/revision-watch.ts';
import { SharedRows } from '../../../src/history/revisions/shared-rows.ts';
import { toVirtualEntry } from '../../../src/history/virtual-entry.ts';
import { AddedEvent } from '../../../src/storage/added-event.ts';
import { EncodedLog } from '../../../src/storage/encoded-log.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { History, LoggedRevision } from '../../../src/storage/history.ts';
import type { LogFollower, LogProgress } from '../../../src/storage/log-progress.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { NO_REVISION, type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { WatchEvent } from '../../../src/storage/store.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from '../../storage/postgres/kit.ts';

let database: TestDatabase;
let log: PostgresLog;
let cache: WatchCache;
let history: History;
/** Questions that were asked of the log, and those that are to fail. */
const asked = { questions: 0, failures: 0 };
const stop = new AbortController();
let running: Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
  history = countingHistory();
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

/** The log, whose questions are counted, and fail where that is wanted. */
function countingHistory(): History {
  const history = new EncodedLog(log, []).decodeHistory(log.history);
  return {
    revisionAt: (moment) => history.revisionAt(moment),
    begin: () => {
      asked.questions += 1;
      return history.begin();
    },
    newest: () => history.newest(),
    rows: async (query) => {
      asked.questions += 1;
      if (asked.failures === 0) return history.rows(query);
      asked.failures -= 1;
      throw new StorageError({ kind: 'unavailable', reason: 'it is away' });
    },
  };
}

type Conditions = ConstructorParameters<typeof RevisionWatch>[0]['conditions'];

class Reader {
  readonly sent: Revision[] = [];
  readonly bookmarks: Revision[] = [];
  readonly #over = new AbortController();
  readonly #run: Promise<void>;
  #reached = Promise.withResolvers<void>();
  #wanted = Number.POSITIVE_INFINITY;

  /** `slow`: each event is waited for. */
  constructor(
    after: Revision,
    conditions: Conditions = {},
    {
      slow = false,
      bookmarks = false,
      progress = cache as LogProgress,
      shared = new SharedRows(history),
    } = {},
  ) {
    const watch = new RevisionWatch({
      ...{ history, shared, progress, conditions, bookmarks, after, announcesBegin: false },
      toEvent: async ({ revision }: LoggedRevision) => {
        const head = { kind: 'Revision', apiVersion: 'v1' };
        return new AddedEvent(toVirtualEntry({ ...head, metadata: { name: String(revision) } }, revision));
      },
    });
    const take = (event: WatchEvent): Promise<void> | undefined => {
      if (event.type === 'BOOKMARK') this.bookmarks.push(event.revision);
      else this.sent.push(event.revision);
      if (this.sent.length >= this.#wanted) this.#reached.resolve();
      return slow ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    };
    this.#run = watch.run(take, this.#over.signal);
    this.#run.catch(() => {});
  }

  reached(count: number): Promise<void> {
    this.#wanted = count;
    this.#reached = Promise.withResolvers();
    this.#run.catch(this.#reached.reject);
    if (this.sent.length >= count) this.#reached.resolve();
    return this.#reached.promise;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#run;
  }
}

test('watches that begin anywhere while others write are sent of each revision once, in order', async () => {
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
  for (const { sent } of readers) expect(sent).toEqual(made);
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
  expect(reader.sent).toEqual([mine]);
});

test('a row is read once for all watches that want it', async () => {
  const shared = new SharedRows(history);
  const after = await log.history.newest();
  const readers = Array.from({ length: 50 }, () => new Reader(after, {}, { shared }));
  const before = asked.questions;
  const made: Revision[] = [];
  for (let at = 0; at < 10; at += 1) {
    made.push(await log.committer.commit(write('create', `shared${at}`)));
    await Promise.all(readers.map((reader) => reader.reached(at + 1)));
  }
  await Promise.all(readers.map((reader) => reader.stop()));
  for (const { sent } of readers) expect(sent).toEqual(made);
  expect(asked.questions - before).toBe(10);
});

test('watches that begin at the same time ask once where the log begins, and later ones anew', async () => {
  const shared = new SharedRows(history);
  const before = asked.questions;
  await Promise.all(Array.from({ length: 50 }, () => shared.begin()));
  await shared.begin();
  expect(asked.questions - before).toBe(2);
});

test('while the log cannot be read a watch waits, and goes on where it was', async () => {
  const after = await log.history.newest();
  const reader = new Reader(after);
  asked.failures = 2;
  const made = await log.committer.commit(write('create', 'away'));
  await reader.reached(1);
  await reader.stop();
  expect(reader.sent).toEqual([made]);
  expect(asked.failures).toBe(0);
});

/** Followers of a log that tells what the test says. */
function staged(): { readonly progress: LogProgress; readonly followers: LogFollower[] } {
  const followers: LogFollower[] = [];
  const follow = (follower: LogFollower): (() => void) => {
    followers.push(follower);
    return () => {};
  };
  return { progress: { applied: NO_REVISION, follow }, followers };
}

test('a watch that begins while the state is loaded is sent of what was written before, though nothing follows', async () => {
  const after = await log.history.newest();
  const { progress, followers } = staged();
  const reader = new Reader(after, { name: 'meanwhile' }, { progress });
  const made = await log.committer.commit(write('create', 'meanwhile'));
  for (const follower of followers) follower.loaded(made);
  await reader.reached(1);
  await reader.stop();
  expect(reader.sent).toEqual([made]);
});

test('a slow reader is sent of everything, and few rows are kept for it', async () => {
  const after = await log.history.newest();
  const reader = new Reader(after, {}, { slow: true });
  const commits = Array.from({ length: 700 }, (_, at) => log.committer.commit(write('create', `slow${at}`)));
  const made = (await Promise.all(commits)).sort((a, b) => (a < b ? -1 : 1));
  await reader.reached(made.length);
  await reader.stop();
  expect(reader.sent).toEqual(made);
});

test('a watch ends when the history that it follows is gone', async () => {
  const after = await log.history.newest();
  const reader = new Reader(after);
  const ended = expect(reader.reached(1)).rejects.toMatchObject({ failure: { kind: 'compacted' } });
  await cache.reset('rewound');
  await ended;
});

test('a watch goes on when the state is loaded afresh from the same history', async () => {
  const reader = new Reader(await log.history.newest());
  const made = [await log.committer.commit(write('create', 'loaded'))];
  await reader.reached(1);
  await cache.reset();
  made.push(await log.committer.commit(write('create', 'afresh')));
  await reader.reached(2);
  await reader.stop();
  expect(reader.sent).toEqual(made);
});

test('a watch that began in the new history does not end with the old one', async () => {
  const { progress, followers } = staged();
  const after = await log.history.newest();
  const reader = new Reader(after, {}, { progress });
  const over = toRevision(after - 1n);
  const failure = { kind: 'compacted', requested: NO_REVISION, compacted: over } as const;
  for (const follower of followers) follower.ended(new StorageError(failure), over);
  const made = await log.committer.commit(write('create', 'anew'));
  for (const follower of followers) follower.loaded(made);
  await reader.reached(1);
  await reader.stop();
  expect(reader.sent).toEqual([made]);
});
