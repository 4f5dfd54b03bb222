import { Numbers } from '../observability/instruments.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PostgresLog } from '../storage/postgres/postgres.ts';
import { PRIMARY } from '../storage/postgres/tail-source.ts';
import type { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import { pause } from '../util/pause.ts';
import type { Service } from './services.ts';

/** Metrics of storage: Kubernetes' names where it has them, otherwise names with our own prefix. */
export interface StorageMetricsOptions {
  readonly metrics: Metrics;
  readonly database: PostgresLog;
  readonly cache: WatchCache;
  /** 0: not polled. */
  readonly countPollMs: number;
  /** 0: not polled. */
  readonly sizePollMs: number;
  readonly logger: Logger;
}

/** Registers the metrics. The services poll values that are too expensive to read at each scrape. */
export function createStorageMetrics(options: StorageMetricsOptions): readonly Service[] {
  addLiveMetrics(options);
  const { metrics, cache, database, countPollMs, sizePollMs } = options;
  const polls: Service[] = [];
  if (countPollMs > 0) {
    const objects = metrics.add(
      new Numbers('gauge', {
        name: 'apiserver_storage_objects',
        help: 'Objects in storage, by resource, as of the last poll.',
        labels: ['resource'],
      }),
    );
    polls.push(
      polled(options, countPollMs, async () => {
        for (const { resource, objects: count } of cache.state.resources)
          objects.at(nameOf(resource)).value = count;
      }),
    );
  }
  if (sizePollMs > 0) {
    const size = metrics.add(
      new Numbers('gauge', {
        name: 'apiserver_storage_size_bytes',
        help: 'Size of the database on disk, as of the last poll.',
        labels: ['storage_cluster_id'],
      }),
    );
    polls.push(
      polled(options, sizePollMs, async () => {
        size.at('postgres-0').value = await database.sizeBytes();
      }),
    );
  }
  return polls;
}

const nameOf = ({ group, resource }: { group: string; resource: string }): string =>
  group === '' ? resource : `${resource}.${group}`;

function polled({ logger }: StorageMetricsOptions, everyMs: number, poll: () => Promise<void>): Service {
  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await poll().catch((error: unknown) =>
        logger.info(2, 'a metric could not be polled', { error: String(error) }),
      );
      await pause(everyMs, signal);
    }
  };
  return { name: 'metrics', run };
}

function addLiveMetrics({ metrics, database, cache }: StorageMetricsOptions): void {
  const gauge = (
    name: string,
    help: string,
    labels: readonly string[],
    read: (numbers: Numbers) => void,
  ): void => {
    metrics.add(new Numbers('gauge', { name, help, labels }, read));
  };
  gauge(
    'pg_apiserver_pool_connections',
    'Connections for reads and upkeep, and what waits for one.',
    ['state'],
    (numbers) => {
      const { total, idle, waiting } = database.pool();
      numbers.at('idle').value = idle;
      numbers.at('used').value = total - idle;
      numbers.at('waiting').value = waiting;
    },
  );
  if (database.readServers().servers.length > 0) addReadServerMetrics({ metrics, database });
  gauge('pg_apiserver_commit_queue', 'Writes that wait for their batch.', [], (numbers) => {
    numbers.at().value = database.committer.queued;
  });
  gauge('pg_apiserver_commit_open_bytes', 'Of all writes that are not answered yet.', [], (numbers) => {
    numbers.at().value = database.committer.openBytes;
  });
  gauge(
    'pg_apiserver_tail_mode',
    'How changes reach this server; 1 for the mode it is in.',
    ['mode'],
    (numbers) => {
      for (const mode of ['starting', 'streaming', 'polling'] as const)
        numbers.at(mode).value = database.feed.state.mode === mode ? 1 : 0;
    },
  );
  gauge(
    'pg_apiserver_tail_source',
    'Who streams changes to this server: 1 for the primary, or the read server that does.',
    ['server'],
    (numbers) => {
      const { source } = database.feed.state;
      const names = database.readServers().servers.map(({ name }) => name);
      for (const name of [PRIMARY, ...names]) numbers.at(name).value = name === source ? 1 : 0;
    },
  );
  gauge(
    'pg_apiserver_tail_delay_seconds',
    'From the commit of the newest change until it was applied here.',
    [],
    (numbers) => {
      numbers.at().value = database.feed.state.delayMs / 1000;
    },
  );
  gauge('pg_apiserver_applied_revision', 'The newest revision this server has applied.', [], (numbers) => {
    numbers.at().value = Number(cache.state.applied);
  });
  gauge('pg_apiserver_watchers', 'Watches being served, by resource.', ['resource'], (numbers) => {
    numbers.clear();
    for (const { resource, watchers } of cache.state.resources)
      if (watchers > 0) numbers.at(nameOf(resource)).value = watchers;
  });
}

/** Which host answers what may be read from a standby. */
function addReadServerMetrics({
  metrics,
  database,
}: Pick<StorageMetricsOptions, 'metrics' | 'database'>): void {
  const help =
    'Reads of history and cold loads, by the read server that answered, or the primary in place of all.';
  metrics.add(
    new Numbers(
      'counter',
      { name: 'pg_apiserver_history_reads_total', help, labels: ['server'] },
      (numbers) => {
        const { servers, answeredByPrimary } = database.readServers();
        for (const { name, answered } of servers) numbers.at(name).value = answered;
        numbers.at('primary').value = answeredByPrimary;
      },
    ),
  );
  const up = 'Whether a read server is in service; 0: it lags, or cannot be read, and nobody waits for it.';
  metrics.add(
    new Numbers('gauge', { name: 'pg_apiserver_read_server_up', help: up, labels: ['server'] }, (numbers) => {
      for (const { name, isInService } of database.readServers().servers)
        numbers.at(name).value = isInService ? 1 : 0;
    }),
  );
}
