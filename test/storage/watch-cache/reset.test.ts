import { expect, test, vi } from 'vitest';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Change, ChangeSink, RevisionReader, StoredObject } from '../../../src/storage/revision-log.ts';
import type { WatchQuery } from '../../../src/storage/store.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { CONFIG_MAPS, Reader, readWatch } from './kit.ts';

const COMPACTED = { failure: { kind: 'compacted' } };
const LATEST = { kind: 'latest' } as const;
const never = new AbortController().signal;
const at = (revision: number): Revision => toRevision(revision);

function stored(name: string, revision: number): StoredObject {
  const json = Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"}}`);
  return { key: { ...CONFIG_MAPS, namespace: 'default', name }, revision: at(revision), uid: name, json };
}

const created = (name: string, revision: number): Change => ({
  ...stored(name, revision),
  ...{ verb: 'create', previous: undefined, committedAt: new Date() },
});

/** A log that answers when the test says so. */
class Log {
  /** The loads that have begun, each waiting for what there is. */
  readonly loads: { give(revision: number, names: readonly string[]): void; fail(): void }[] = [];
  readonly replays: (() => void)[] = [];
  current = at(0);
  compacted = at(0);
  /** Until it resolves, the compacted revision is not answered. */
  answers = Promise.resolve();
  /** Until it resolves, there is no connection for questions. */
  readonly connected: Promise<void>;
  sink: ChangeSink | undefined;
  readonly cache: WatchCache;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(connected = Promise.resolve()) {
    this.connected = connected;
    const reader: RevisionReader = {
      currentRevision: async () => {
        await this.connected;
        return this.current;
      },
      compactedRevision: async () => {
        const answer = this.compacted;
        await this.answers;
        return answer;
      },
      get: async () => undefined,
      listAt: async () => ({ objects: [], remaining: 0 }),
      changesBetween: () => new Promise((resolve) => this.replays.push(() => resolve([]))),
      loadCurrent: (begin, batch) =>
        new Promise((resolve, reject) => {
          const give = (revision: number, names: readonly string[]): void => {
            begin(at(revision));
            batch(names.map((name) => stored(name, revision)));
            this.current = at(revision);
            this.compacted = at(revision);
            resolve();
          };
          this.loads.push({ give, fail: () => reject(new Error('the database is gone')) });
        }),
    };
    const feed = {
      run: (_: Revision, sink: ChangeSink, signal: AbortSignal): Promise<void> => {
        this.sink = sink;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      },
      hurry: () => {},
    };
    const committer = { commit: () => Promise.reject(new Error('nothing is written')) };
    this.cache = new WatchCache({ reader, feed, committer, fieldsOf: () => () => ({}) });
    this.#running = this.cache.run(this.#stop.signal);
  }

  static async loaded(revision: number, names: readonly string[]): Promise<Log> {
    const log = new Log();
    log.loads.shift()?.give(revision, names);
    await log.cache.ready();
    await turns();
    return log;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

interface Begun {
  readonly reader: Reader;
  readonly over: Promise<void>;
}

function begin(log: Log, start: WatchQuery['start'], reader = new Reader()): Begun {
  return { reader, over: readWatch(log.cache, { reader, start }, never) };
}

test('a reset ends every watch, in each of its states', async () => {
  await using log = await Log.loaded(10, ['a', 'b', 'c']);
  const full = new Reader();
  full.full = true;
  const slow = new Reader();
  const watches = {
    live: begin(log, { kind: 'after', revision: at(10) }),
    listed: begin(log, { kind: 'state', freshness: LATEST }),
    'in the middle of its state': begin(log, { kind: 'state', freshness: LATEST }, full),
    'set aside': begin(log, { kind: 'after', revision: at(10) }, slow),
  };
  log.compacted = at(0);
  const replaying = begin(log, { kind: 'after', revision: at(5) });
  await turns();
  slow.full = true;
  log.sink?.apply([created('d', 11)]);
  await turns();
  const reset = log.sink?.reset('rewound');
  for (const { over } of Object.values(watches)) await expect(over).rejects.toMatchObject(COMPACTED);
  for (const replay of log.replays) replay();
  await expect(replaying.over).rejects.toMatchObject(COMPACTED);
  log.loads.shift()?.give(1000, ['a']);
  expect(await reset).toBe(at(1000));
  log.sink?.apply([created('e', 1001)]);
  await turns();
  const seen = Object.values(watches).flatMap(({ reader }) => reader.lines);
  expect(seen.filter((line) => line.includes(' e '))).toEqual([]);
  expect(full.lines).toHaveLength(1);
  expect(log.cache.state).toMatchObject({ loaded: true, applied: at(1001) });
});

test('a watch that asked whether it may begin before the reset does not begin on what came after it', async () => {
  await using log = await Log.loaded(10, ['a']);
  log.compacted = at(0);
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  log.answers = promise;
  const reader = new Reader();
  const { over } = begin(log, { kind: 'after', revision: at(5) }, reader);
  await turns();
  const reset = log.sink?.reset('rewound');
  log.loads.shift()?.give(1000, ['a']);
  await reset;
  answer();
  await expect(over).rejects.toMatchObject(COMPACTED);
  expect(reader.lines).toEqual([]);
});

test('what begins or waits during a reset gets the new state with its revision, and none of the old', async () => {
  await using log = await Log.loaded(10, ['a', 'lost']);
  log.current = at(1000);
  const query = { resource: CONFIG_MAPS, scope: {}, limit: 0 };
  const key = { ...CONFIG_MAPS, namespace: 'default', name: 'lost' };
  const before = [
    log.cache.list({ ...query, freshness: LATEST }),
    log.cache.list({ ...query, freshness: { kind: 'not-older', revision: at(11) } }),
  ];
  const waiting = begin(log, { kind: 'state', freshness: LATEST });
  await turns();
  const reset = log.sink?.reset('rewound');
  const during = [
    log.cache.list({ ...query, freshness: LATEST }),
    log.cache.list({ ...query, freshness: { kind: 'any' } }),
  ];
  const begun = begin(log, { kind: 'state', freshness: { kind: 'any' } });
  const resumed = begin(log, { kind: 'after', revision: at(10) });
  const got = log.cache.get(key, LATEST);
  expect(log.cache.state.loaded).toBe(false);
  log.loads.shift()?.give(1000, ['a']);
  await reset;
  for (const page of await Promise.all([...before, ...during])) {
    expect(page.revision).toBe(at(1000));
    expect(page.entries.map(({ name }) => name)).toEqual(['a']);
  }
  expect(await got).toBeUndefined();
  await expect(resumed.over).rejects.toMatchObject(COMPACTED);
  log.sink?.apply([created('new', 1001)]);
  await turns();
  for (const { reader } of [waiting, begun])
    expect(reader.lines).toEqual(['ADDED a 1000', 'INITIAL_EVENTS_END 1000', 'ADDED new 1001']);
});

test('a load that fails leaves the reset to be tried again, and nothing is served meanwhile', async () => {
  await using log = await Log.loaded(10, ['a']);
  const first = log.sink?.reset('rewound');
  const list = log.cache.list({ resource: CONFIG_MAPS, scope: {}, limit: 0, freshness: { kind: 'any' } });
  log.loads.shift()?.fail();
  await expect(first).rejects.toThrow('the database is gone');
  expect(log.cache.state.loaded).toBe(false);
  const second = log.sink?.reset('rewound');
  log.loads.shift()?.give(1000, ['b']);
  expect(await second).toBe(at(1000));
  expect((await list).entries.map(({ name }) => name)).toEqual(['b']);
});

test('a watch from before the memory waits for a database that is slow to say what is compacted', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await using log = await Log.loaded(10, ['a']);
    log.compacted = at(0);
    const slow = Promise.withResolvers<void>();
    log.answers = slow.promise;
    const { over } = begin(log, { kind: 'after', revision: at(5) });
    let failure: unknown;
    over.catch((error: unknown) => {
      failure = error;
    });
    await turns();
    await vi.advanceTimersByTimeAsync(20_000);
    await turns();
    slow.resolve();
    await expect.poll(() => log.replays.length).toBe(1);
    expect(failure).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('reads are not served before the connection for their questions is there, nor later when it fails', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const connection = Promise.withResolvers<void>();
    await using log = new Log(connection.promise);
    log.loads.shift()?.give(10, ['a']);
    await turns();
    expect(log.cache.state.loaded).toBe(false);
    if (end === 'resolve') connection.resolve();
    else connection.reject(new Error('no connection'));
    await log.cache.ready();
    await turns();
  }
});
