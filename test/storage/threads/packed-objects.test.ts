import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import { pack } from '../../../src/storage/compressed-block.ts';
import { errorForms } from '../../../src/storage/error-forms.ts';
import { toPosition } from '../../../src/storage/key.ts';
import type { LogFollower } from '../../../src/storage/log-progress.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Change } from '../../../src/storage/revision-log.ts';
import { LogClient } from '../../../src/storage/threads/log-client.ts';
import type { LogHearing, LogService } from '../../../src/storage/threads/log-contract.ts';
import { type HostedLog, LogHost } from '../../../src/storage/threads/log-host.ts';
import { Compression } from '../../../src/storage/watch-cache/compression.ts';
import { RecentEncodings } from '../../../src/storage/watch-cache/recent-encodings.ts';
import { ResourceCache } from '../../../src/storage/watch-cache/resource-cache.ts';
import { PortCalls } from '../../../src/util/port-calls.ts';

const PODS = { group: '', resource: 'pods' };
const COUNT = 40;
const FILLER = 'some words that each pod has again and again, '.repeat(100);

const createCache = (): ResourceCache =>
  new ResourceCache({
    ...{ resource: PODS, loadedAt: toRevision(1), encodings: new RecentEncodings() },
    readFields: () => ({}),
  });

function toPod(name: string, revision: number): Change {
  const json = Buffer.from(JSON.stringify({ kind: 'Pod', metadata: { name }, revision, filler: FILLER }));
  const key = { ...PODS, namespace: 'default', name };
  return { ...{ key, uid: name, json, revision: toRevision(revision) }, verb: 'update' } as Change;
}

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** The main thread's cache, and what follows it. */
class Main {
  readonly cache = createCache();
  readonly followers = new Set<LogFollower>();
  readonly #compression = new Compression(() => [this.cache], this.followers, {
    ...{ afterTurns: 1, leastBytes: 0 },
  });

  /** Two walks: the first one sees, the second one compresses. */
  async compress(): Promise<void> {
    for (let turn = 0; turn < 2; turn += 1) {
      this.#compression.turn();
      await vi.waitFor(() => expect(this.#compression.isAtWork).toBe(false));
    }
  }

  apply(change: Change): void {
    this.cache.apply(change);
    for (const follower of this.followers) follower.applied([change]);
  }

  /** A thread that loads what this one has, and follows it. */
  async startThread(): Promise<ResourceCache> {
    const state = {
      contents: () => ({ revision: toRevision(1), parts: [this.cache.contents()] }),
      follow: (follower: LogFollower) => {
        this.followers.add(follower);
        return () => this.followers.delete(follower);
      },
    };
    const nothing = { committer: {}, reader: {}, feed: {} };
    const hosted = { log: nothing, history: {}, allocations: {}, state } as unknown as HostedLog;
    const { port1, port2 } = new MessageChannel();
    ports.push(port1);
    const onError = (error: unknown): never => {
      throw error;
    };
    const host = new LogHost(hosted, () => toThread);
    const options = { errors: errorForms, onError };
    const toThread = new PortCalls<LogService, LogHearing>({
      ...{ port: port1, answers: host.answers, ...options },
    });
    const client = new LogClient(() => toMain);
    const toMain = new PortCalls<LogHearing, LogService>({
      ...{ port: port2, answers: client.answers, ...options },
    });
    const thread = createCache();
    await client.reader.loadCurrent(
      () => {},
      (objects) => {
        for (const object of objects) thread.load(object);
      },
    );
    const sink = {
      apply: (changes: readonly Change[]) => {
        for (const change of changes) thread.apply(change);
      },
      pack: thread.pack.bind(thread),
      reset: () => Promise.reject(new Error('nothing is reset')),
    };
    void client.feed.run(toRevision(1), sink, new AbortController().signal);
    return thread;
  }
}

function entryOf(cache: ResourceCache, name: string): CachedEntry {
  const entry = cache.get(toPosition({ namespace: 'default', name }));
  if (entry instanceof CachedEntry) return entry;
  throw new Error(`there is no ${name}`);
}

const isPacked = (cache: ResourceCache, name: string): boolean => entryOf(cache, name).packed !== undefined;

/** What one of them writes there, the other reads. */
function expectSameMemory(one: CachedEntry, other: CachedEntry): void {
  const [first, second] = [one.packed?.bytes.compressed, other.packed?.bytes.compressed];
  if (first === undefined || second === undefined) throw new Error('it is not compressed');
  const before = second.readUInt8(4);
  first.writeUInt8(before ^ 1, 4);
  const after = second.readUInt8(4);
  first.writeUInt8(before, 4);
  expect(after).toBe(before ^ 1);
}

test('what the main thread compresses is in memory once, and a thread that starts later takes it too', async () => {
  const main = new Main();
  for (let at = 0; at < COUNT; at += 1) main.cache.load(toPod(`pod-${at}`, 1));
  const early = await main.startThread();
  expect(isPacked(early, 'pod-7')).toBe(false);
  await main.compress();
  expect(isPacked(main.cache, 'pod-7')).toBe(true);
  await vi.waitFor(() => expect(isPacked(early, 'pod-7')).toBe(true));
  const late = await main.startThread();
  for (const thread of [early, late])
    for (let at = 0; at < COUNT; at += 1) {
      const [ours, theirs] = [entryOf(main.cache, `pod-${at}`), entryOf(thread, `pod-${at}`)];
      expectSameMemory(ours, theirs);
      expect(theirs.json).toEqual(toPod(`pod-${at}`, 1).json);
      expect(theirs.sizeBytes).toBe(ours.sizeBytes);
    }
  expect(late.sizeBytes).toBe(main.cache.sizeBytes);
});

test('an object that changes meanwhile keeps its own bytes in each thread', async () => {
  const main = new Main();
  for (let at = 0; at < COUNT; at += 1) main.cache.load(toPod(`pod-${at}`, 1));
  const thread = await main.startThread();
  const compressed = main.compress();
  main.apply(toPod('pod-7', 2));
  await compressed;
  main.apply(toPod('pod-8', 3));
  await vi.waitFor(() => expect(entryOf(thread, 'pod-8').revision).toBe(3n));
  for (const cache of [main.cache, thread]) {
    expect(entryOf(cache, 'pod-7').json).toEqual(toPod('pod-7', 2).json);
    expect(entryOf(cache, 'pod-8').json).toEqual(toPod('pod-8', 3).json);
    expect(entryOf(cache, 'pod-9').json).toEqual(toPod('pod-9', 1).json);
    expect(['pod-7', 'pod-8', 'pod-9'].map((name) => isPacked(cache, name))).toEqual([false, false, true]);
  }
});

test('compressed bytes of an earlier state are not taken', () => {
  const cache = createCache();
  const [first, second] = [toPod('pod-1', 1), toPod('pod-2', 1)];
  cache.load(first);
  cache.load(second);
  cache.apply(toPod('pod-1', 2));
  const bytes = pack([first.json, second.json]);
  if (bytes === undefined) throw new Error('it was not compressed');
  const positions = [first, second].map(({ key }) => toPosition(key));
  cache.pack({ resource: PODS, bytes, positions, revisions: [first.revision, second.revision] });
  expect(entryOf(cache, 'pod-1').json).toEqual(toPod('pod-1', 2).json);
  expect(entryOf(cache, 'pod-2').json).toEqual(second.json);
  expect(['pod-1', 'pod-2'].map((name) => isPacked(cache, name))).toEqual([false, true]);
});
