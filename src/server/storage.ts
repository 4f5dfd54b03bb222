import type { GroupResource } from '../api/names.ts';
import { type StorageOptions, storageFlags } from '../options/storage.ts';
import type { Allocations } from '../storage/allocations.ts';
import { EncodedLog } from '../storage/encoded-log.ts';
import type { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import type { History } from '../storage/history.ts';
import type { LogProgress } from '../storage/log-progress.ts';
import type { ObjectEncoding } from '../storage/object-encoding.ts';
import type { ObjectViews } from '../storage/object-views.ts';
import type { Peers } from '../storage/peers.ts';
import type { PostgresLog } from '../storage/postgres/postgres.ts';
import { type ResourceSet, within, without } from '../storage/resource-set.ts';
import type { RevisionLog } from '../storage/revision-log.ts';
import { RoutedStore } from '../storage/routed-store.ts';
import type { ServerLeases } from '../storage/server-leases.ts';
import type { SigningKeyStore } from '../storage/signing-keys.ts';
import type { Store } from '../storage/store.ts';
import type { HostedLog } from '../storage/threads/log-host.ts';
import { SharingLog } from '../storage/threads/sharing-log.ts';
import { SharedCurrentRevision } from '../storage/watch-cache/current-revision.ts';
import type { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import type { WorkLeases } from '../storage/work-leases.ts';
import { createCache, routeByResource, traceCommits, uncachedWhere } from './caches.ts';
import { type Databases, type NumberedDatabase, toStored } from './databases.ts';
import { createEncodings } from './encodings.ts';
import { createEncryptionChecks, createEncryptionService } from './encryption.ts';
import type { Foundation } from './foundation.ts';
import { createCacheChecks, type NamedChecks } from './health-checks.ts';
import { planCaching } from './kept-in-memory.ts';
import { createPhase, type Phase } from './phase.ts';
import type { Service } from './services.ts';
import { createStorageMetrics } from './storage-metrics.ts';

/** What serving needs of storage, in every thread. */
export interface ServedStorage extends Phase {
  /** For the server itself. */
  readonly store: Store;
  /** For clients: the same objects, but uncached resources are read from the log. */
  readonly clientStore: Store;
  historyOf(resource: GroupResource): History;
  /** Resources whose history is not in the first database. */
  readonly elsewhere: readonly GroupResource[];
  progressOf(resource: GroupResource): LogProgress;
  readonly allocations: Pick<Allocations, 'held' | 'holder'>;
  readonly peers: Peers;
  readonly signingKeys: SigningKeyStore;
}

/** The first phase: the log in the database, and the cache of its current state. Only this file knows both implementations. */
export interface StoragePhase extends ServedStorage {
  readonly allocations: Allocations;
  readonly leases: ServerLeases;
  readonly workLeases: WorkLeases;
  /** The databases as serving threads get them. */
  readonly hosted: readonly HostedDatabase[];
  /** Undefined: there are no views (--custom-resource-views). */
  readonly views: ObjectViews | undefined;
  /** Started by the controllers, after the first objects of the cluster exist. */
  readonly upkeep: readonly Service[];
  /** Undefined for a resource that never had an object. */
  countObjects(resource: GroupResource): number | undefined;
  /** Whether the cache follows the database. */
  checks(): NamedChecks;
}

export function createStorage(
  foundation: Foundation,
  { main, others }: Databases,
  options: StorageOptions & { readonly encryption: EncryptionFile | undefined; readonly threads: number },
): StoragePhase {
  const services = foundation.services.branch();
  const caching = planCaching(options, (resource) => toStored(resource, storageFlags.uncached.shown));
  const elsewhere = others.flatMap(({ resources = [] }) => resources);
  const { encryption } = options;
  const encodings = createEncodings({ ...foundation, ...options });
  const shared = options.threads > 1;
  const first = openBackend(foundation, main, { encodings, shared, kept: without(caching.kept, elsewhere) });
  const backends = [
    first,
    ...others.map((other) =>
      openBackend(foundation, other, {
        ...{ encodings, shared },
        kept: within(caching.kept, other.resources ?? []),
      }),
    ),
  ];
  const backendOf = routeByResource(backends);
  const { leases, workLeases, peers, signingKeys, views } = main.log;
  const logs = backends.map(({ database }) => database.log);
  const metrics = createStorageMetrics({ ...foundation, ...options, backends });
  const store = others.length === 0 ? first.cache : new RoutedStore((resource) => backendOf(resource).cache);
  const phase = createPhase({
    services,
    begin: async () => {
      for (const { database } of backends)
        services.start(`primary of ${database.id}`, 'upkeep', (signal) => database.log.guard.run(signal));
      for (const { name, cache } of backends)
        services.start(name, 'essential', (signal, works) => cache.run(signal, works));
      if (encryption !== undefined) {
        const hasUnreadable = (): boolean =>
          backends.some(({ cache }) => cache.state.resources.some(({ unreadable }) => unreadable > 0));
        const logsRead = backends.map(({ log }) => log);
        const parts = { ...foundation, file: encryption, logs: logsRead, hasUnreadable };
        const { name, run } = createEncryptionService(parts);
        services.start(name, 'upkeep', run);
      }
      const ready = Promise.all(backends.map(({ cache }) => cache.ready()));
      await services.until(inTime(ready, options.initializationTimeoutMs));
      foundation.startup.finished('watch-cache');
    },
    close: async () => {
      for (const log of logs) await log.close();
    },
  });
  return {
    ...phase,
    ...{ leases, workLeases, peers, signingKeys },
    store,
    clientStore:
      caching.kept === undefined
        ? store
        : uncachedWhere(caching.uncached, (resource) => backendOf(resource).cache),
    historyOf: (resource) => backendOf(resource).history,
    elsewhere,
    progressOf: (resource) => backendOf(resource).cache,
    allocations: backendOf(SERVICES).database.log.allocations,
    hosted: backends.map(toHosted),
    views: options.customResourceViews ? views : undefined,
    upkeep: [...logs.flatMap((log) => keepDatabase(log, options)), ...metrics.services],
    countObjects: (resource) => backendOf(resource).cache.countObjects(resource) ?? metrics.counted(resource),
    checks: () => {
      const [, ...followed] = logs;
      const { kubernetes, own } = createCacheChecks(main.log, foundation.services.checks(), followed);
      return { kubernetes: [...kubernetes, ...createEncryptionChecks(encryption)], own };
    },
  };
}

/** One database, with the cache of its current state. */
interface Backend {
  /** The name of its service. */
  readonly name: string;
  readonly database: NumberedDatabase;
  readonly resources: readonly GroupResource[] | undefined;
  /** The log of that database, in which all objects are JSON. */
  readonly log: EncodedLog;
  /** The same, as the cache reads it. */
  readonly sharing: RevisionLog;
  readonly history: History;
  readonly cache: WatchCache;
}

interface BackendWish {
  /** In the order of writes. */
  readonly encodings: readonly ObjectEncoding[];
  /** Whose objects are in memory; undefined: all. */
  readonly kept: ResourceSet | undefined;
  /** Whether other threads see the bytes of the objects. */
  readonly shared: boolean;
}

/** A database for serving threads. */
export interface HostedDatabase extends HostedLog {
  /** The name of its service. */
  readonly name: string;
  readonly resources: readonly GroupResource[] | undefined;
  /** Whether an object stored as this media type (undefined: JSON) would now be stored as another. */
  isOutdated(resource: GroupResource, storedAs: string | undefined): boolean;
}

function toHosted({ name, database, log, sharing, history, cache }: Backend): HostedDatabase {
  const asked = new SharedCurrentRevision(() => log.reader.currentRevision());
  return {
    ...{ name, resources: database.resources, log: sharing, history, state: cache },
    allocations: database.log.allocations,
    currentRevision: () => asked.get(),
    isOutdated: (resource, storedAs) => log.isOutdated(resource, storedAs),
  };
}

function openBackend(
  { registry, tracing }: Foundation,
  database: NumberedDatabase,
  { encodings, kept, shared }: BackendWish,
): Backend {
  const { committer, feed, reader } = database.log;
  const log = new EncodedLog({ feed, reader, committer: traceCommits(committer, tracing) }, encodings);
  const sharing = shared ? new SharingLog(log) : log;
  const cache = createCache({
    ...{ log: sharing, registry, kept },
    isOutdated: (resource, storedAs) => log.isOutdated(resource, storedAs),
  });
  return {
    ...{ database, log, sharing, cache, resources: database.resources },
    history: log.decodeHistory(database.log.history),
    name: database.resources === undefined ? 'watch-cache' : `watch-cache-${database.id}`,
  };
}

/** Addresses and ports of services change hands with the writes of services. */
export const SERVICES: GroupResource = { group: '', resource: 'services' };

/** @throws Error when it takes longer than the flag allows; 0: it may take as long as it likes */
async function inTime(ready: Promise<unknown>, timeoutMs: number): Promise<void> {
  if (timeoutMs === 0) return void (await ready);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const flag = storageFlags.initializationTimeoutMs.shown;
    const reason = `the objects of the cluster were not read within ${timeoutMs / 1000} s (${flag})`;
    timer = setTimeout(() => reject(new Error(reason)), timeoutMs);
  });
  await Promise.race([ready, late]).finally(() => clearTimeout(timer));
}

function keepDatabase({ compactor, expirer }: PostgresLog, options: StorageOptions): Service[] {
  const compaction = { name: 'compaction', run: (signal: AbortSignal) => compactor.run(signal) };
  const expiry = { name: 'expiry', run: (signal: AbortSignal) => expirer.run(signal) };
  return options.compactionIntervalMs > 0 ? [compaction, expiry] : [expiry];
}
