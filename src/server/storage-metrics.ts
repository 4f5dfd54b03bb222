import type { Minor } from '../api/emulation.ts';
import { type GroupResource, toQualifiedResource } from '../api/names.ts';
import { type Cell, Numbers } from '../observability/instruments.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { PRIMARY } from '../storage/postgres/feed/tail-source.ts';
import type { PostgresLog } from '../storage/postgres/postgres.ts';
import type { UpkeepCost } from '../storage/postgres/upkeep/costs.ts';
import type { Retention } from '../storage/postgres/upkeep/retention.ts';
import type { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import { repeat } from '../util/pause.ts';
import type { Service } from './services.ts';

/** One database, with the cache of its current state. */
interface MeasuredBackend {
  readonly database: { readonly id: string; readonly log: PostgresLog };
  readonly cache: WatchCache;
}

/** What serving threads measure too. */
interface ServingBackend {
  readonly database: { readonly id: string };
  readonly cache: WatchCache;
}

type Measure<Backend> = (backend: Backend, at: (...values: string[]) => Cell) => void;

interface StorageMetrics {
  /** Poll values that are too expensive to read at each scrape. */
  readonly services: readonly Service[];
  /** As of the last poll; undefined: in memory, not polled yet, or without objects. */
  counted(resource: GroupResource): number | undefined;
}

/** Metrics of storage: Kubernetes' names where it has them, otherwise names with our own prefix. */
interface StorageMetricsOptions {
  readonly metrics: Metrics;
  readonly backends: readonly MeasuredBackend[];
  readonly emulated: Minor;
  /** 0: not polled. */
  readonly countPollMs: number;
  /** 0: not polled. */
  readonly sizePollMs: number;
  readonly logger: Logger;
}

export function createStorageMetrics(options: StorageMetricsOptions): StorageMetrics {
  addLiveMetrics(options);
  const { metrics, backends, countPollMs, sizePollMs } = options;
  const polls: Service[] = [];
  let counts: ReadonlyMap<string, number> = new Map();
  if (countPollMs > 0) {
    const objects = metrics.add(
      new Numbers('gauge', {
        name: 'apiserver_storage_objects',
        help: 'Objects in storage, by resource, as of the last poll.',
        labels: ['resource'],
        deprecated: options.emulated >= 34 ? '1.34.0' : undefined,
      }),
    );
    // The name that Kubernetes has since 1.34. It keeps the older one for dashboards.
    const grouped = new Numbers('gauge', {
      name: 'apiserver_resource_objects',
      help: 'Objects in storage, by group and resource, as of the last poll.',
      labels: ['group', 'resource'],
    });
    if (options.emulated >= 34) metrics.add(grouped);
    polls.push(
      polled(options, countPollMs, async () => {
        const found = await Promise.all(backends.map(countObjects));
        counts = new Map(found.flatMap((one) => [...one]));
        objects.clear();
        grouped.clear();
        for (const [name, count] of counts) {
          objects.at(name).value = count;
          const [resource = '', ...group] = name.split('.');
          grouped.at(group.join('.'), resource).value = count;
        }
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
        for (const { database } of backends) size.at(database.id).value = await database.log.sizeBytes();
      }),
    );
  }
  return { services: polls, counted: (resource) => counts.get(toQualifiedResource(resource)) };
}

/** Resources in memory are counted there. */
async function countObjects({ cache, database }: MeasuredBackend): Promise<ReadonlyMap<string, number>> {
  const kept = cache.state.resources.filter(({ objects }) => objects !== undefined);
  const found = new Map(kept.map(({ resource, objects = 0 }) => [toQualifiedResource(resource), objects]));
  if (cache.uncached === undefined) return found;
  for (const { resource, objects } of await database.log.countObjects())
    if (cache.isRead(resource)) found.set(toQualifiedResource(resource), objects);
  return found;
}

function polled({ logger }: StorageMetricsOptions, everyMs: number, poll: () => Promise<void>): Service {
  const onError = (error: unknown): void =>
    logger.info(2, 'a metric could not be polled', { error: String(error) });
  return { name: 'metrics', run: (signal) => repeat(poll, signal, { everyMs, onError }) };
}

/** Adds a metric that reads each database, and labels it with the database where there are several. */
type AddMetric<Backend = MeasuredBackend> = (
  type: 'counter' | 'gauge',
  description: { readonly name: string; readonly help: string; readonly labels?: readonly string[] },
  read: Measure<Backend>,
) => void;

const measureBy =
  <Backend extends ServingBackend>(metrics: Metrics, backends: readonly Backend[]): AddMetric<Backend> =>
  (type, { name, help, labels = [] }, read) => {
    const names = [...labels];
    metrics.add(
      new Numbers(type, { name, help, labels: names }, (numbers) => {
        numbers.clear();
        // A single database needs no label; another one may come when a resource is moved.
        const isOne = backends.length === 1;
        if (!isOne && names.length === labels.length) names.push('storage_cluster_id');
        for (const backend of backends)
          read(backend, (...values) => numbers.at(...values, ...(isOne ? [] : [backend.database.id])));
      }),
    );
  };

/** Metrics of which each thread that serves has a part. */
export function addServingMetrics(metrics: Metrics, backends: readonly ServingBackend[]): void {
  const add = measureBy(metrics, backends);
  const help = 'Watches being served, by resource.';
  add('gauge', { name: 'pg_apiserver_watchers', help, labels: ['resource'] }, ({ cache }, at) => {
    for (const { resource, watchers } of cache.state.resources)
      if (watchers > 0) at(toQualifiedResource(resource)).add(watchers);
  });
}

function addLiveMetrics({ metrics, backends }: StorageMetricsOptions): void {
  addServingMetrics(metrics, backends);
  const add = measureBy(metrics, backends);
  addCommitMetrics(add);
  addTailMetrics(add);
  addUpkeepMetrics(add);
  const database = backends[0]?.database.log;
  if (database !== undefined && database.readServers().servers.length > 0)
    addReadServerMetrics({ metrics, database });
}

function addCommitMetrics(add: AddMetric): void {
  add(
    'gauge',
    {
      name: 'pg_apiserver_pool_connections',
      help: 'Connections for reads and upkeep, and what waits for one.',
      labels: ['state'],
    },
    ({ database }, at) => {
      const { total, idle, waiting } = database.log.pool();
      at('idle').value = idle;
      at('used').value = total - idle;
      at('waiting').value = waiting;
    },
  );
  add(
    'gauge',
    { name: 'pg_apiserver_commit_queue', help: 'Writes that wait for their batch.' },
    (backend, at) => {
      at().value = backend.database.log.committer.queued;
    },
  );
  add(
    'gauge',
    { name: 'pg_apiserver_commit_open_bytes', help: 'Of all writes that are not answered yet.' },
    (backend, at) => {
      at().value = backend.database.log.committer.openBytes;
    },
  );
}

function addTailMetrics(add: AddMetric): void {
  add(
    'gauge',
    {
      name: 'pg_apiserver_tail_mode',
      help: 'How changes reach this server; 1 for the mode it is in.',
      labels: ['mode'],
    },
    ({ database: { log } }, at) => {
      for (const mode of ['starting', 'streaming', 'polling'] as const)
        at(mode).value = log.feed.state.mode === mode ? 1 : 0;
    },
  );
  add(
    'gauge',
    {
      name: 'pg_apiserver_tail_source',
      help: 'Who streams changes to this server: 1 for the primary, or the read server that does.',
      labels: ['server'],
    },
    ({ database: { log } }, at) => {
      const { source } = log.feed.state;
      const names = log.readServers().servers.map(({ name }) => name);
      for (const name of [PRIMARY, ...names]) at(name).value = name === source ? 1 : 0;
    },
  );
  add(
    'gauge',
    {
      name: 'pg_apiserver_tail_delay_seconds',
      help: 'From the commit of the newest change until it was applied here.',
    },
    (backend, at) => {
      at().value = backend.database.log.feed.state.delayMs / 1000;
    },
  );
  add(
    'gauge',
    { name: 'pg_apiserver_applied_revision', help: 'The newest revision this server has applied.' },
    ({ cache }, at) => {
      at().value = Number(cache.state.applied);
    },
  );
}

function addUpkeepMetrics(add: AddMetric): void {
  add(
    'counter',
    {
      name: 'pg_apiserver_epochs_begun_total',
      help: 'Epochs that have begun while this server ran: the database had lost commits, or a restore was reported.',
    },
    ({ database: { log } }, at) => {
      at().value = log.epochsBegun();
    },
  );
  for (const [name, help, read] of RETENTION_GAUGES)
    add('gauge', { name, help }, ({ database: { log } }, at) => {
      const { retention } = log.compactor;
      if (retention !== undefined) at().value = read(retention);
    });
  add(
    'gauge',
    {
      name: 'pg_apiserver_oldest_transaction_seconds',
      help: 'Age of the oldest transaction of the database that the user may see, by the session that holds it.',
      labels: ['process', 'application', 'user'],
    },
    ({ database: { log } }, at) => {
      const { retention } = log.compactor;
      if (retention === undefined) return;
      const { ageMs = 0, process = '', application = '', user = '' } = retention.oldestTransaction ?? {};
      at(process, application, user).value = ageMs / 1000;
    },
  );
  for (const [name, help, read] of UPKEEP_COUNTERS)
    add('counter', { name, help, labels: ['kind'] }, ({ database: { log } }, at) => {
      for (const [kind, cost] of log.compactor.costs) at(kind).value = read(cost);
    });
  add(
    'counter',
    {
      name: 'pg_apiserver_upkeep_pages_total',
      help: 'Pages of 8 kB that upkeep by this server has found in the buffers of PostgreSQL (hit), had read, and dirtied, by kind.',
      labels: ['kind', 'access'],
    },
    ({ database: { log } }, at) => {
      for (const [kind, { pagesHit, pagesRead, pagesDirtied }] of log.compactor.costs) {
        at(kind, 'hit').value = pagesHit;
        at(kind, 'read').value = pagesRead;
        at(kind, 'dirtied').value = pagesDirtied;
      }
    },
  );
}

const UPKEEP_COUNTERS: readonly (readonly [string, string, (of: UpkeepCost) => number])[] = [
  [
    'pg_apiserver_upkeep_seconds_total',
    'Time that this server has waited for upkeep of the log, by kind.',
    ({ ms }) => ms / 1000,
  ],
  [
    'pg_apiserver_upkeep_rows_total',
    'Rows of objects and history that upkeep by this server has written, or removed one by one, by kind.',
    ({ rows }) => rows,
  ],
  [
    'pg_apiserver_upkeep_wal_bytes_total',
    'WAL that upkeep by this server has written, by kind.',
    ({ walBytes }) => walBytes,
  ],
];

/** Obstacles to shrinking the log, as of the last compaction. */
const RETENTION_GAUGES: readonly (readonly [string, string, (of: Retention) => number])[] = [
  [
    'pg_apiserver_history_behind_seconds',
    'How long ago the oldest row of history should have gone; up to the length of a partition is usual.',
    ({ behindMs }) => behindMs / 1000,
  ],
  [
    'pg_apiserver_history_partitions_behind',
    'Partitions of the log that lie behind the window as a whole.',
    ({ partitionsBehind }) => partitionsBehind,
  ],
  [
    'pg_apiserver_slot_wal_bytes',
    'WAL that PostgreSQL keeps for the slowest replication slot.',
    ({ walOfSlotsBytes }) => walOfSlotsBytes,
  ],
  [
    'pg_apiserver_filling_rows',
    'Rows of the log at which filling has looked, by all servers: it follows what is written.',
    ({ rowsLookedAt }) => rowsLookedAt,
  ],
  [
    'pg_apiserver_filled_objects',
    'Objects that filling has given their bytes, by all servers.',
    ({ objectsFilled }) => objectsFilled,
  ],
];

/** Shows which host serves reads from standbys. */
function addReadServerMetrics({
  metrics,
  database,
}: {
  readonly metrics: Metrics;
  readonly database: PostgresLog;
}): void {
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
  const up =
    'Whether reads of history go to a read server; 0: it lags or cannot be read, and other servers answer.';
  metrics.add(
    new Numbers('gauge', { name: 'pg_apiserver_read_server_up', help: up, labels: ['server'] }, (numbers) => {
      for (const { name, isInService } of database.readServers().servers)
        numbers.at(name).value = isInService ? 1 : 0;
    }),
  );
}
