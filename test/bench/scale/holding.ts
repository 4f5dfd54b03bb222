import type { Figures, KeptBench } from '../bench.ts';
import { rateOfStart, readRows } from '../environment/start-again.ts';
import { memoryOf } from '../measure/proc.ts';
import { startUsage } from '../measure/usage.ts';
import { costOf } from '../measure-requests.ts';

const MEGABYTE = 1024 * 1024;
/** Some ten seconds after its start V8 collects what the start has left behind. */
const SETTLE_MS = 20_000;
const INDEX_POLL_MS = 1000;

interface Sizes {
  readonly count: number;
  readonly days: number;
  readonly rows: number;
  readonly indexes: number;
  readonly objects: number;
  readonly objects_indexes: number;
}

const SIZES = `
  SELECT sum(c.reltuples)::float8 AS count, count(*)::float8 AS days,
    sum(pg_table_size(c.oid))::float8 AS rows, sum(pg_indexes_size(c.oid))::float8 AS indexes,
    pg_table_size('objects')::float8 AS objects, pg_indexes_size('objects')::float8 AS objects_indexes
  FROM log_partitions() p JOIN pg_class c ON c.oid = p.partition
  WHERE c.reltuples > 0`;

/** On disk. */
export async function size({ environment }: KeptBench): Promise<Figures> {
  const [sizes] = await environment.own.query<Sizes & Record<string, number>>(SIZES);
  if (sizes === undefined) throw new Error('there is no log');
  const { count, days, rows, indexes, objects, objects_indexes } = sizes;
  return {
    unit: 'revisions',
    count,
    rate: environment.shape.log.revisions / environment.madeInSeconds,
    facts: {
      million: count / 1e6,
      partitions: days,
      'log GB': rows / MEGABYTE / 1024,
      'its indexes GB': indexes / MEGABYTE / 1024,
      'kB a revision': (rows + indexes) / count / 1024,
      'objects GB': objects / MEGABYTE / 1024,
      'their indexes GB': objects_indexes / MEGABYTE / 1024,
    },
  };
}

/** The server is started twice: what PostgreSQL reads first is in memory the second time. */
export async function cold({ environment }: KeptBench): Promise<Figures> {
  const [{ count = 0, bytes = 0 } = {}] = await environment.own.query<Record<string, number>>(
    'SELECT count(*)::float8 AS count, sum(octet_length(object::text))::float8 AS bytes FROM current_objects',
  );
  const first = await environment.restart();
  const started = await environment.restart();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const { residentBytes } = memoryOf(environment.measured.server);
  const reading = await readRows(environment.own);
  return {
    unit: 'objects',
    count,
    peakBytes: started.peakBytes,
    ...rateOfStart({ ...started, count, reading }),
    facts: {
      'first ready s': first.readySeconds,
      'ready s': started.readySeconds,
      'server cpu s': started.serverCpu,
      'database cpu s': started.databaseCpu,
      'ready MB': started.readyBytes / MEGABYTE,
      'idle MB': residentBytes / MEGABYTE,
      'JSON MB': bytes / MEGABYTE,
      'kB an object': residentBytes / count / 1024,
      'reading the rows s': reading.seconds,
    },
  };
}

interface RequestIndexes {
  readonly count: number;
  readonly bytes: number;
}

const REQUEST_INDEXES = `
  SELECT count(*)::float8 AS count, sum(pg_relation_size(i.indexrelid))::float8 AS bytes
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relname LIKE '%\\_by\\_request'`;

/** Until the server has indexed what is written to no more. In a log that was just made that is all of it. */
export async function requestIndexes({ environment }: KeptBench): Promise<Figures> {
  const startedAt = performance.now();
  const [{ revisions = 0 } = {}] = await environment.own.query<Record<string, number>>(
    'SELECT sum(c.reltuples)::float8 AS revisions FROM log_partitions() p JOIN pg_class c ON c.oid = p.partition',
  );
  const stop = startUsage(environment.measured);
  for (let isDue = true; isDue; ) {
    await new Promise((resolve) => setTimeout(resolve, INDEX_POLL_MS));
    const [row] = await environment.own.query<{ due: boolean }>(
      'SELECT closed_without_requests() IS NOT NULL AS due',
    );
    isDue = row?.due ?? false;
  }
  const usage = stop();
  const [made] = await environment.own.query<RequestIndexes & Record<string, number>>(REQUEST_INDEXES);
  return {
    unit: 'revisions',
    count: revisions,
    ...costOf(usage, revisions),
    facts: {
      'made after s': (performance.now() - startedAt) / 1000,
      partitions: made?.count ?? Number.NaN,
      GB: (made?.bytes ?? Number.NaN) / MEGABYTE / 1024,
    },
  };
}
