import type { Figures, KeptBench } from '../bench.ts';
import { rateOfStart, readRows } from '../environment/start-again.ts';
import { memoryOf } from '../measure/proc.ts';

const MEGABYTE = 1024 * 1024;
/** Some ten seconds after its start V8 collects what the start has left behind. */
const SETTLE_MS = 20_000;

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
