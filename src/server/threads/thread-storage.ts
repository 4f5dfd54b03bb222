import type { GroupResource } from '../../api/names.ts';
import { type StorageOptions, storageFlags } from '../../options/storage.ts';
import { errorForms } from '../../storage/error-forms.ts';
import { within, without } from '../../storage/resource-set.ts';
import { RoutedStore } from '../../storage/routed-store.ts';
import { LogClient } from '../../storage/threads/log-client.ts';
import type { LogHearing, LogService } from '../../storage/threads/log-contract.ts';
import { PortCalls } from '../../util/port-calls.ts';
import { createCache, routeByResource, traceCommits, uncachedWhere } from '../caches.ts';
import { toStored } from '../databases.ts';
import type { Foundation } from '../foundation.ts';
import { planCaching } from '../kept-in-memory.ts';
import { createPhase } from '../phase.ts';
import { SERVICES, type ServedStorage } from '../storage.ts';
import type { ServerService, ThreadDatabase, ThreadHearing } from './thread-contract.ts';

interface ThreadStorageParts {
  readonly databases: readonly ThreadDatabase[];
  readonly server: PortCalls<ThreadHearing, ServerService>;
  readonly options: StorageOptions;
}

/** The first phase of a serving thread: the logs of the main thread, and a cache of each. */
export function createThreadStorage(foundation: Foundation, parts: ThreadStorageParts): ServedStorage {
  const { databases, server, options } = parts;
  const { logger, registry, tracing } = foundation;
  const services = foundation.services.branch();
  const caching = planCaching(options, (resource) => toStored(resource, storageFlags.uncached.shown));
  const elsewhere = databases.flatMap(({ resources = [] }) => resources);
  const backends = databases.map(({ name, resources, log: port }, database) => {
    const log = new LogClient(() => calls);
    const calls = new PortCalls<LogHearing, LogService>({
      ...{ port, answers: log.answers, errors: errorForms },
      onError: (error) => logger.error('changes of the log', error),
    });
    const kept = resources === undefined ? without(caching.kept, elsewhere) : within(caching.kept, resources);
    const forms = new KnownForms((resource, storedAs) =>
      server.call('isOutdated', { database, resource, storedAs }),
    );
    const isOutdated = (resource: GroupResource, storedAs: string | undefined): boolean =>
      forms.isOutdated(resource, storedAs);
    const traced = {
      ...{ feed: log.feed, reader: log.reader },
      committer: traceCommits(log.committer, tracing),
    };
    return { name, resources, log, cache: createCache({ log: traced, registry, kept, isOutdated }) };
  });
  const of = routeByResource(backends);
  const store = new RoutedStore((resource) => of(resource).cache);
  const phase = createPhase({
    services,
    begin: async () => {
      for (const { name, cache } of backends)
        services.start(name, 'essential', (signal, works) => cache.run(signal, works));
      await services.until(Promise.all(backends.map(({ cache }) => cache.ready())));
      foundation.startup.finished('watch-cache');
    },
  });
  return {
    ...{ ...phase, store, elsewhere },
    clientStore:
      caching.kept === undefined
        ? store
        : uncachedWhere(caching.uncached, (choose) => (resource) => choose(of(resource).cache, resource)),
    historyOf: (resource) => of(resource).log.history,
    progressOf: (resource) => of(resource).cache,
    allocations: of(SERVICES).log.allocations,
    // The main thread renews and releases this server.
    peers: { renew: async () => [...(await server.call('peers', undefined))], release: async () => {} },
    signingKeys: { list: () => server.call('signingKeys', undefined) },
  };
}

type Ask = (resource: GroupResource, storedAs: string | undefined) => Promise<boolean>;

/** How long an answer holds. */
const KNOWN_MS = 1000;

/**
 * KnownForms knows which forms of storage are outdated, by what the main thread answered, which has the keys. An unknown form counts as
 * outdated until then: at worst, an update without changes is written.
 */
class KnownForms {
  readonly #ask: Ask;
  readonly #known = new Map<string, { isOutdated: boolean; untilMs: number }>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  isOutdated(resource: GroupResource, storedAs: string | undefined): boolean {
    const key = `${resource.group}/${resource.resource} ${storedAs ?? ''}`;
    const known = this.#known.get(key) ?? { isOutdated: true, untilMs: 0 };
    if (known.untilMs > performance.now()) return known.isOutdated;
    this.#known.set(key, { ...known, untilMs: performance.now() + KNOWN_MS });
    this.#ask(resource, storedAs).then(
      (isOutdated) => this.#known.set(key, { isOutdated, untilMs: performance.now() + KNOWN_MS }),
      () => this.#known.delete(key),
    );
    return known.isOutdated;
  }
}
