import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { GroupResource } from '../../../src/api/names.ts';
import type { FieldReader } from '../../../src/storage/cached-entry.ts';
import { errorForms } from '../../../src/storage/error-forms.ts';
import { toPosition } from '../../../src/storage/key.ts';
import type { ResourceSet } from '../../../src/storage/resource-set.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { Write, WriteVerb } from '../../../src/storage/revision-log.ts';
import type { Entry, Store } from '../../../src/storage/store.ts';
import { LogClient } from '../../../src/storage/threads/log-client.ts';
import type { LogHearing, LogService } from '../../../src/storage/threads/log-contract.ts';
import { LogHost } from '../../../src/storage/threads/log-host.ts';
import { SharingLog } from '../../../src/storage/threads/sharing-log.ts';
import { SharedCurrentRevision } from '../../../src/storage/watch-cache/current-revision.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { PortCalls } from '../../../src/util/port-calls.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog } from '../postgres/kit.ts';
import { ReferenceStore } from './reference-store.ts';

/** A store, and what happens to stores: their memory goes, and their history. */
export interface Subject extends AsyncDisposable {
  readonly store: Store;
  /** Waits until all commits are known, also to reads that need not be fresh. */
  caughtUp(): Promise<void>;
  /** The memory is gone and everything is read afresh; every watch ends. */
  forget(): Promise<void>;
  /** Besides, the history up to now is gone. */
  compact(): Promise<void>;
}

/** Objects are selected by their data. */
const readData: FieldReader = (object) => {
  const data = object.data as { data?: string } | undefined;
  return { data: data?.data ?? '' };
};

async function openWatchCache(kept?: ResourceSet): Promise<Subject> {
  const database = await createTestDatabase();
  const log = openLog(database.url);
  const cache = new WatchCache({
    ...log,
    fieldsOf: () => readData,
    ...(kept === undefined ? {} : { kept }),
  });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  await cache.ready();
  const caughtUp = async (): Promise<void> => {
    const newest = await log.reader.currentRevision();
    await vi.waitFor(() => expect(cache.state.applied).toBeGreaterThanOrEqual(newest), PATIENCE);
  };
  const forget = async (): Promise<void> => {
    // A feed that begins afresh by itself has nothing on the way; one that is interrupted in the middle of it would break.
    await caughtUp();
    await cache.reset();
  };
  return {
    store: cache,
    caughtUp,
    forget,
    compact: async () => {
      await database.query('UPDATE compaction SET revision = (SELECT max(revision) FROM revisions)');
      await forget();
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await log.close();
      await database.drop();
    },
  };
}

/** The watch cache of a serving thread: another one follows the log, and both are connected by a port. */
async function openBehindPort(kept?: ResourceSet): Promise<Subject> {
  const database = await createTestDatabase();
  const log = openLog(database.url);
  const shared = new SharingLog(log);
  const some = { fieldsOf: () => readData, ...(kept === undefined ? {} : { kept }) };
  const main = new WatchCache({ ...shared, ...some, compression: { afterTurns: 1, leastBytes: 0 } });
  const { history, allocations } = log;
  const asked = new SharedCurrentRevision(() => log.reader.currentRevision());
  const currentRevision = () => asked.get();
  const host = new LogHost(
    { ...{ log: shared, history, allocations, state: main, currentRevision }, isOutdated: () => false },
    () => calls,
  );
  const { port1, port2 } = new MessageChannel();
  const onError = (error: unknown): never => {
    throw error;
  };
  const calls = new PortCalls<LogService, LogHearing>({
    ...{ port: port1, answers: host.answers, errors: errorForms, onError },
  });
  const client = new LogClient(() => fromThread);
  const fromThread = new PortCalls<LogHearing, LogService>({
    ...{ port: port2, answers: client.answers, errors: errorForms, onError },
  });
  const cache = new WatchCache({ ...client, ...some, compression: { isElsewhere: true } });
  const stop = new AbortController();
  const running = Promise.all([main.run(stop.signal), cache.run(stop.signal)]);
  await cache.ready();
  const caughtUp = async (): Promise<void> => {
    const newest = await log.reader.currentRevision();
    await vi.waitFor(() => expect(cache.state.applied).toBeGreaterThanOrEqual(newest), PATIENCE);
  };
  const forget = async (): Promise<void> => {
    await caughtUp();
    const loaded = Promise.withResolvers<void>();
    const stopFollowing = cache.follow({
      applied: () => {},
      ended: () => {},
      loaded: () => loaded.resolve(),
    });
    await main.reset();
    await loaded.promise;
    stopFollowing();
  };
  return {
    store: cache,
    caughtUp,
    forget,
    compact: async () => {
      await database.query('UPDATE compaction SET revision = (SELECT max(revision) FROM revisions)');
      await forget();
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      port1.close();
      await log.close();
      await database.drop();
    },
  };
}

async function openReference(): Promise<Subject> {
  const store = new ReferenceStore(readData);
  return {
    store,
    caughtUp: async () => {},
    forget: async () => store.forget(),
    compact: async () => store.compact(),
    [Symbol.asyncDispose]: async () => {},
  };
}

export const SUBJECTS: readonly (readonly [string, () => Promise<Subject>])[] = [
  ['the reference', openReference],
  ['the watch cache over PostgreSQL', () => openWatchCache()],
  ['PostgreSQL without a cache', () => openWatchCache({ kind: 'only', resources: [] })],
  ['the watch cache of a serving thread', () => openBehindPort()],
  ['a serving thread without a cache', () => openBehindPort({ kind: 'only', resources: [] })],
];

export interface Target {
  readonly resource: string;
  readonly namespace?: string;
  readonly name: string;
}

export const inGroup = (resource: string): GroupResource => ({ group: 'test', resource });

export function toWrite(
  verb: WriteVerb,
  { resource, namespace = 'default', name }: Target,
  more: { readonly data?: string; readonly expected?: Revision; readonly holds?: Write['holds'] } = {},
): Write {
  const { data = 'x', expected, holds } = more;
  const object = { kind: 'Thing', apiVersion: 'test/v1', metadata: { name, namespace }, data: { data } };
  return {
    verb,
    key: { group: 'test', resource, namespace, name },
    uid: randomUUID(),
    expected,
    json: Buffer.from(JSON.stringify(object)),
    attribution: {
      username: 'tester',
      userAgent: 'vitest',
      sourceAddress: '127.0.0.1',
      requestId: randomUUID(),
      fieldManager: 'vitest',
    },
    ...(holds === undefined ? {} : { holds }),
  };
}

export const hasData =
  (data: string) =>
  ({ fields }: Entry): boolean =>
    fields.data === data;

/** `default/web=x`: an object and its data. */
export const show = (entry: Entry): string =>
  `${toPosition(entry).replace('\0', '/')}=${readData(JSON.parse(entry.json.toString())).data}`;

export const LATEST = { kind: 'latest' } as const;

/** A StorageError. */
export const failure = (kind: string, more: object = {}): object => ({ failure: { kind, ...more } });

let resources = 0;

/** Each test has resources of its own, so that all share one store. */
export function newResource(): string {
  resources += 1;
  return `things${resources}`;
}

export const create = (store: Store, target: Target, data = 'x'): Promise<Revision> =>
  store.commit(toWrite('create', target, { data }));

export async function createMany(
  store: Store,
  resource: string,
  names: readonly string[],
): Promise<Revision[]> {
  const revisions = [];
  for (const name of names) revisions.push(await create(store, { resource, name }));
  return revisions;
}
