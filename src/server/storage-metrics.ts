import { Numbers } from '../observability/instruments.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PostgresLog } from '../storage/postgres/postgres.ts';
import type { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import { pause } from '../util/pause.ts';

/** What metrics show of storage: Kubernetes' names where it has them, our own prefix where it has nothing alike. */
export interface StorageMetricsOptions {
  readonly metrics: Metrics;
  readonly postgres: PostgresLog;
  readonly store: WatchCache;
  /** 0: not polled. */
  readonly countPollMs: number;
  /** 0: not polled. */
  readonly sizePollMs: number;
  readonly logger: Logger;
}

export type Loop = (signal: AbortSignal) => Promise<void>;

/** Registers them; the loops poll what is too dear to ask at each scrape. */
export function createStorageMetrics(options: StorageMetricsOptions): readonly Loop[] {
  addLiveMetrics(options);
  const { metrics, store, postgres, countPollMs, sizePollMs } = options;
  const loops: Loop[] = [];
  if (countPollMs > 0) {
    const objects = metrics.add(
      new Numbers('gauge', {
        name: 'apiserver_storage_objects',
        help: 'Objects in storage, by resource, as of the last poll.',
        labels: ['resource'],
      }),
    );
    loops.push(
      polled(options, countPollMs, async () => {
        for (const { resource, objects: count } of store.state.resources)
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
    loops.push(
      polled(options, sizePollMs, async () => {
        size.at('postgres-0').value = await postgres.sizeBytes();
      }),
    );
  }
  return loops;
}

const nameOf = ({ group, resource }: { group: string; resource: string }): string =>
  group === '' ? resource : `${resource}.${group}`;

function polled({ logger }: StorageMetricsOptions, everyMs: number, poll: () => Promise<void>): Loop {
  return async (signal) => {
    while (!signal.aborted) {
      await poll().catch((error: unknown) =>
        logger.info(2, 'a metric could not be polled', { error: String(error) }),
      );
      await pause(everyMs, signal);
    }
  };
}

function addLiveMetrics({ metrics, postgres, store }: StorageMetricsOptions): void {
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
      const { total, idle, waiting } = postgres.pool();
      numbers.at('idle').value = idle;
      numbers.at('used').value = total - idle;
      numbers.at('waiting').value = waiting;
    },
  );
  gauge('pg_apiserver_commit_queue', 'Writes that wait for their batch.', [], (numbers) => {
    numbers.at().value = postgres.committer.queued;
  });
  gauge('pg_apiserver_commit_open_bytes', 'Of all writes that are not answered yet.', [], (numbers) => {
    numbers.at().value = postgres.committer.openBytes;
  });
  gauge(
    'pg_apiserver_tail_mode',
    'How changes reach this server; 1 for the mode it is in.',
    ['mode'],
    (numbers) => {
      for (const mode of ['starting', 'streaming', 'polling'] as const)
        numbers.at(mode).value = postgres.feed.state.mode === mode ? 1 : 0;
    },
  );
  gauge(
    'pg_apiserver_tail_delay_seconds',
    'From the commit of the newest change until it was applied here.',
    [],
    (numbers) => {
      numbers.at().value = postgres.feed.state.delayMs / 1000;
    },
  );
  gauge('pg_apiserver_applied_revision', 'The newest revision this server has applied.', [], (numbers) => {
    numbers.at().value = Number(store.state.applied);
  });
  gauge('pg_apiserver_watchers', 'Watches being served, by resource.', ['resource'], (numbers) => {
    numbers.clear();
    for (const { resource, watchers } of store.state.resources)
      if (watchers > 0) numbers.at(nameOf(resource)).value = watchers;
  });
}
