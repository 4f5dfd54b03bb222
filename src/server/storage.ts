import type { GroupResource } from '../api/names.ts';
import type { HealthCheck } from '../diagnostics/health-pages.ts';
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
import { RoutedStore } from '../storage/routed-store.ts';
import type { ServerLeases } from '../storage/server-leases.ts';
import type { SigningKeyStore } from '../storage/signing-keys.ts';
import type { Store } from '../storage/store.ts';
import type { HostedLog } from '../storage/threads/log-host.ts';
import { SharingLog } from '../storage/threads/sharing-log.ts';
import { SharedCurrentRevision } from '../storage/watch-cache/current-revision.ts';
import type { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import type { WorkLeases } from '../storage/work-leases.ts';
import { inTime } from '../util/in-time.ts';
import { BackendRoutes } from './backend-routes.ts';
import { createCache, routeByResource, traceCommits, uncachedWhere } from './caches.ts';
import { type Databases, type NumberedDatabase, toStored } from './databases.ts';
import { createEncodings } from './encodings.ts';
import { createEncryptionChecks, createEncryptionService } from './encryption.ts';
import type { Foundation } from './foundation.ts';
import { createCacheChecks, type NamedChecks } from './health-checks.ts';
import { planCaching } from './kept-in-memory.ts';
import { ServerMoves, type ServerMovesParts } from './moves.ts';
import { createPhase, type Phase } from './phase.ts';
import { ReceivedEvents } from './received-events.ts';
import type { Service, Services } from './services.ts';
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
  /** Undefined for a resource that never had an object, and in a serving thread for one that is read from the log. */
  countObjects(resource: GroupResource): number | undefined;
}

/** The first phase: the log in the database, and the cache of its current state. Only this file knows both implementations. */
export interface StoragePhase extends ServedStorage {
  readonly allocations: Allocations;
  readonly leases: ServerLeases;
  readonly workLeases: WorkLeases;
  /** The databases as serving threads get them. */
  hosted(): readonly HostedDatabase[];
  /** @throws StorageError unavailable while the database of a moved resource is not open */
  hostedOf(resource: GroupResource): Promise<HostedDatabase>;
  /** Undefined: there are no views (--custom-resource-views). */
  readonly views: ObjectViews | undefined;
  /** Started by the controllers, after the first objects of the cluster exist. */
  readonly upkeep: readonly Service[];
  /** Whether the cache follows the database. */
  checks(): NamedChecks;
}

interface PhaseOptions extends StorageOptions {
  readonly encryption: EncryptionFile | undefined;
  readonly threads: number;
}

export function createStorage(
  foundation: Foundation,
  databases: Databases,
  options: PhaseOptions,
): StoragePhase {
  const { main, others, openMoved } = databases;
  const services = foundation.services.branch();
  const caching = planCaching(options, (resource) => toStored(resource, storageFlags.uncached.shown));
  const { kept } = caching;
  const opened = openBackends(foundation, databases, { ...options, kept });
  const { flaggedBackends, first, openOther, overridden } = opened;
  const backends = [...flaggedBackends];
  const { encryption } = options;
  const moves = new ServerMoves<Backend>({
    main: { moves: main.log.moves, cache: first.cache },
    ...{ others, logger: foundation.logger, open: openMoved },
    ...movedBackends({ services, backends, open: openOther, options }),
  });
  const routes = new BackendRoutes(moves.routes, routeByResource(flaggedBackends));
  const { leases, workLeases, peers, signingKeys, views } = main.log;
  const metrics = createStorageMetrics({ ...foundation, ...options, backends });
  const store = new RoutedStore(routes.storeBy((cache) => cache));
  const phase = createPhase({
    services,
    begin: async () => {
      for (const backend of backends.slice()) serveFrom(backend, services);
      services.start('moves', 'upkeep', (signal) => moves.run(signal));
      if (encryption !== undefined) {
        const { name, run } = watchEncryption(foundation, encryption, backends);
        services.start(name, 'upkeep', run);
      }
      const ready = Promise.all(backends.map(({ cache }) => cache.ready())).then(() => moves.routes.ready());
      await services.until(initializedInTime(ready, options.initializationTimeoutMs));
      await moves.assertFlags();
      foundation.startup.finished('watch-cache');
    },
    close: async () => {
      await moves.close();
      for (const { database } of backends) await database.log.close();
    },
  });
  return {
    ...phase,
    ...{ leases, workLeases, peers, signingKeys },
    store,
    clientStore: kept === undefined ? store : uncachedWhere(caching.uncached, routes),
    historyOf: (resource) => routes.presentOf(resource).history,
    get elsewhere() {
      return [...overridden, ...moves.routes.resources];
    },
    progressOf: (resource) => routes.presentOf(resource).cache,
    allocations: routes.presentOf(SERVICES).database.log.allocations,
    hosted: () => [...flaggedBackends, ...moves.routes.open].map(({ hosted }) => hosted),
    hostedOf: async (resource) => (await routes.routeOf(resource)).hosted,
    views: options.customResourceViews ? views : undefined,
    upkeep: [...[main, ...others].flatMap(({ log }) => keepDatabase(log, options)), ...metrics.services],
    countObjects: (resource) =>
      routes.presentOf(resource).cache.countObjects(resource) ?? metrics.counted(resource),
    checks: () => {
      const followed = (): PostgresLog[] => backends.slice(1).map(({ database }) => database.log);
      const { kubernetes, own } = createCacheChecks(main.log, foundation.services.checks(), followed);
      const moved: HealthCheck = { name: 'moves', endpoints: ['readyz'], check: () => moves.assertOpen() };
      return { kubernetes: [...kubernetes, ...createEncryptionChecks(encryption)], own: [...own, moved] };
    },
  };
}

interface OpenedBackends {
  /** Those that flags name, the first one included. */
  readonly flaggedBackends: readonly Backend[];
  /** Has all resources that are in no other. */
  readonly first: Backend;
  readonly openOther: (database: NumberedDatabase) => Backend;
  /** Resources that flags give a database of their own. */
  readonly overridden: readonly GroupResource[];
}

function openBackends(
  foundation: Foundation,
  { main, others }: Pick<Databases, 'main' | 'others'>,
  options: PhaseOptions & Pick<BackendWish, 'kept'>,
): OpenedBackends {
  const overridden = others.flatMap(({ resources = [] }) => resources);
  const wish = {
    encodings: createEncodings({ ...foundation, ...options }),
    shared: options.threads > 1,
    received: new ReceivedEvents(foundation),
  };
  const first = openBackend(foundation, main, { ...wish, kept: without(options.kept, overridden) });
  const openOther = (other: NumberedDatabase): Backend =>
    openBackend(foundation, other, { ...wish, kept: within(options.kept, other.resources ?? []) });
  return { flaggedBackends: [first, ...others.map(openOther)], first, openOther, overridden };
}

/** Follows the primary and the changes of a database. */
function serveFrom({ database, name, cache }: Backend, services: Services): void {
  services.start(`primary of ${database.id}`, 'upkeep', (signal) => database.log.guard.run(signal));
  services.start(name, 'essential', (signal, works) => cache.run(signal, works));
}

function watchEncryption(
  foundation: Foundation,
  file: EncryptionFile,
  backends: readonly Backend[],
): Service {
  const hasUnreadable = (): boolean =>
    backends.some(({ cache }) => cache.state.resources.some(({ unreadable }) => unreadable > 0));
  return createEncryptionService({
    ...foundation,
    file,
    logs: backends.map(({ log }) => log),
    hasUnreadable,
  });
}

/** One database, with the cache of its current state. */
interface Backend {
  /** The name of its service. */
  readonly name: string;
  readonly database: NumberedDatabase;
  readonly resources: readonly GroupResource[] | undefined;
  /** The log of that database, in which all objects are JSON. */
  readonly log: EncodedLog;
  readonly history: History;
  readonly hosted: HostedDatabase;
  readonly cache: WatchCache;
}

interface BackendWish {
  /** In the order of writes. */
  readonly encodings: readonly ObjectEncoding[];
  /** Whose objects are in memory; undefined: all. */
  readonly kept: ResourceSet | undefined;
  /** Whether other threads see the bytes of the objects. */
  readonly shared: boolean;
  readonly received: ReceivedEvents;
}

/** A database for serving threads. */
export interface HostedDatabase extends HostedLog {
  readonly id: string;
  readonly resources: readonly GroupResource[] | undefined;
}

/** The name of the service that follows a database. */
export const cacheServiceOf = ({ id, resources }: Pick<NumberedDatabase, 'id' | 'resources'>): string =>
  resources === undefined ? 'watch-cache' : `watch-cache-${id}`;

function openBackend(
  { registry, tracing }: Foundation,
  database: NumberedDatabase,
  { encodings, kept, shared, received }: BackendWish,
): Backend {
  const { committer, feed, reader } = database.log;
  const log = new EncodedLog({ feed, reader, committer: traceCommits(committer, tracing) }, encodings);
  const sharing = shared ? new SharingLog(log) : log;
  const isOutdated: HostedDatabase['isOutdated'] = (resource, storedAs) => log.isOutdated(resource, storedAs);
  const cache = createCache({ ...{ log: sharing, registry, kept }, isOutdated });
  cache.follow(received);
  const history = log.decodeHistory(database.log.history);
  const { resources } = database;
  const name = cacheServiceOf(database);
  const asked = new SharedCurrentRevision(() => log.reader.currentRevision());
  return {
    ...{ name, database, log, cache, resources, history },
    hosted: {
      ...{ id: database.id, resources, log: sharing, history, state: cache, isOutdated },
      allocations: database.log.allocations,
      currentRevision: (reads) => asked.get(reads),
    },
  };
}

interface MovedParts {
  readonly services: Services;
  /** All that are measured and closed. */
  readonly backends: Backend[];
  open(database: NumberedDatabase): Backend;
  readonly options: StorageOptions;
}

/** The databases to which resources move while the server runs. Those that cannot be reached make it unready once they are needed. */
function movedBackends({
  services,
  backends,
  open,
  options,
}: MovedParts): Pick<ServerMovesParts<Backend>, 'follow' | 'end' | 'isLoaded' | 'serve'> {
  const branches = new Map<Backend, Services>();
  const branchOf = (backend: Backend): Services => branches.get(backend) ?? services;
  return {
    follow: (database) => {
      const backend = open(database);
      const branch = services.branch();
      branches.set(backend, branch);
      backends.push(backend);
      branch.start(`primary of ${database.id}`, 'upkeep', (signal) => database.log.guard.run(signal));
      branch.start(backend.name, 'upkeep', (signal, works) => backend.cache.run(signal, works));
      return backend;
    },
    end: async (backend) => {
      backends.splice(backends.indexOf(backend), 1);
      await branchOf(backend).stop();
      await backend.database.log.close();
    },
    isLoaded: ({ cache }) => cache.state.loaded,
    serve: async (backend, resource, revision) => {
      const { cache, database } = backend;
      await cache.ready();
      await cache.list({ resource, scope: {}, freshness: { kind: 'not-older', revision }, limit: 1 });
      for (const { name, run } of keepDatabase(database.log, options))
        branchOf(backend).start(name, 'upkeep', run);
    },
  };
}

/** Addresses and ports of services change hands with the writes of services. */
export const SERVICES: GroupResource = { group: '', resource: 'services' };

/** @throws Error when it takes longer than the flag allows; 0: without limit */
async function initializedInTime(ready: Promise<void>, timeoutMs: number): Promise<void> {
  if (timeoutMs === 0) return ready;
  await inTime(ready, timeoutMs, () => {
    const flag = storageFlags.initializationTimeoutMs.shown;
    throw new Error(`the objects of the cluster were not read within ${timeoutMs / 1000} s (${flag})`);
  });
}

function keepDatabase({ compactor, expirer }: PostgresLog, options: StorageOptions): Service[] {
  const compaction = { name: 'compaction', run: (signal: AbortSignal) => compactor.run(signal) };
  const expiry = { name: 'expiry', run: (signal: AbortSignal) => expirer.run(signal) };
  return options.compactionIntervalMs > 0 ? [compaction, expiry] : [expiry];
}
