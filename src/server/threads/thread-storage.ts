import { MessageChannel } from 'node:worker_threads';
import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import { type StorageOptions, storageFlags } from '../../options/storage.ts';
import { errorForms } from '../../storage/error-forms.ts';
import { MOVES } from '../../storage/moves.ts';
import { type ResourceSet, within, without } from '../../storage/resource-set.ts';
import { RoutedStore } from '../../storage/routed-store.ts';
import { LogClient } from '../../storage/threads/log-client.ts';
import type { LogHearing, LogService } from '../../storage/threads/log-contract.ts';
import { errorText } from '../../util/error-text.ts';
import { persist } from '../../util/pause.ts';
import { PortCalls } from '../../util/port-calls.ts';
import { BackendRoutes } from '../backend-routes.ts';
import { createCache, routeByResource, traceCommits, uncachedWhere } from '../caches.ts';
import { toStored } from '../databases.ts';
import type { Foundation } from '../foundation.ts';
import { planCaching } from '../kept-in-memory.ts';
import { MovedRoutes } from '../moved-routes.ts';
import { createPhase } from '../phase.ts';
import { cacheServiceOf, SERVICES, type ServedStorage } from '../storage.ts';
import { addServingMetrics } from '../storage-metrics.ts';
import type { ServerService, ThreadDatabase, ThreadHearing } from './thread-contract.ts';

interface ThreadStorageParts {
  readonly databases: readonly ThreadDatabase[];
  readonly server: PortCalls<ThreadHearing, ServerService>;
  readonly options: StorageOptions;
}

type WatchCache = ReturnType<typeof createCache>;

/** One log of the main thread, with this thread's cache of it. */
interface ThreadBackend {
  readonly database: ThreadDatabase;
  readonly resources: readonly GroupResource[] | undefined;
  readonly log: LogClient;
  readonly cache: WatchCache;
}

/** The storage of a serving thread. */
interface ThreadStorage extends ServedStorage {
  /** Whether a resource is read from the log, and not in memory. */
  isRead(resource: GroupResource): boolean;
}

/** The first phase of a serving thread: the logs of the main thread, and a cache of each. */
export function createThreadStorage(foundation: Foundation, parts: ThreadStorageParts): ThreadStorage {
  const { databases, server, options } = parts;
  const services = foundation.services.branch();
  const caching = planCaching(options, (resource) => toStored(resource, storageFlags.uncached.shown));
  const apart = databases.flatMap(({ resources = [] }) => resources);
  const open = (database: ThreadDatabase): ThreadBackend => {
    const { resources } = database;
    const kept = resources === undefined ? without(caching.kept, apart) : within(caching.kept, resources);
    return openBackend(foundation, database, kept);
  };
  const backends = databases.map(open);
  const flagged = routeByResource(backends);
  const measured = [...backends];
  addServingMetrics(foundation.metrics, measured);
  const run = async ({ database, cache }: ThreadBackend): Promise<void> => {
    services.start(cacheServiceOf(database), 'essential', (signal, works) => cache.run(signal, works));
    await services.until(cache.ready());
  };
  const stop = new AbortController();
  const moved = new MovedRoutes<ThreadBackend>({
    cache: flagged(MOVES).cache,
    isApart: (resource) => flagged(resource).resources !== undefined,
    open: async ({ resource }, cut) => {
      const backend = await persist(() => openMoved(server, resource, open), {
        ...{ signal: stop.signal, isPassing: () => true },
        onFailure: (error) =>
          foundation.logger.warn('the database to which a resource was moved cannot be opened', {
            ...{ resource: toQualifiedResource(resource), reason: errorText(error) },
          }),
      });
      await run(backend);
      measured.push(backend);
      const freshness = { kind: 'not-older', revision: cut } as const;
      await backend.cache.list({ resource, scope: {}, freshness, limit: 1 });
      return backend;
    },
  });
  const routes = new BackendRoutes(moved, flagged);
  const store = new RoutedStore(routes.storeBy((cache) => cache));
  const phase = createPhase({
    services,
    begin: async () => {
      await Promise.all(backends.map(run));
      await services.until(moved.ready());
      foundation.startup.finished('watch-cache');
    },
    close: async () => stop.abort(new Error('the thread ends')),
  });
  return {
    ...{ ...phase, store },
    get elsewhere() {
      return [...apart, ...moved.resources];
    },
    clientStore: caching.kept === undefined ? store : uncachedWhere(caching.uncached, routes),
    historyOf: (resource) => routes.presentOf(resource).log.history,
    progressOf: (resource) => routes.presentOf(resource).cache,
    countObjects: (resource) => routes.presentOf(resource).cache.countObjects(resource),
    isRead: (resource) => routes.presentOf(resource).cache.isRead(resource),
    allocations: flagged(SERVICES).log.allocations,
    // The main thread renews and releases this server.
    peers: { renew: async () => [...(await server.call('peers', undefined))], release: async () => {} },
    signingKeys: { list: () => server.call('signingKeys', undefined) },
  };
}

/** @throws Error while the main thread has not opened the database */
async function openMoved(
  server: ThreadStorageParts['server'],
  resource: GroupResource,
  open: (database: ThreadDatabase) => ThreadBackend,
): Promise<ThreadBackend> {
  const { port1, port2 } = new MessageChannel();
  try {
    const id = await server.call('openMoved', { resource, log: port2 }, undefined, port2);
    return open({ id, resources: [resource], log: port1 });
  } catch (error) {
    port1.close();
    throw error;
  }
}

function openBackend(
  { logger, registry, tracing }: Foundation,
  database: ThreadDatabase,
  kept: ResourceSet | undefined,
): ThreadBackend {
  const log = new LogClient(() => calls);
  const calls = new PortCalls<LogHearing, LogService>({
    ...{ port: database.log, answers: log.answers, errors: errorForms },
    onError: (error) => logger.error('changes of the log', error),
  });
  const traced = {
    ...{ feed: log.feed, reader: log.reader },
    committer: traceCommits(log.committer, tracing),
  };
  const isOutdated = (resource: GroupResource, storedAs: string | undefined): Promise<boolean> =>
    log.isOutdated(resource, storedAs);
  const { resources } = database;
  const cache = createCache({ ...{ log: traced, registry, kept, isOutdated }, isFollower: true });
  return { database, resources, log, cache };
}
