import pg from 'pg';
import type { Figures, KeptBench } from '../bench.ts';
import type { OwnServer } from '../environment/own-server.ts';
import { runMeasured } from '../measure-requests.ts';
import { patchPlan } from './writes.ts';

const MEGABYTE = 1024 * 1024;
const COMMITS_PER_SECOND = 50;
const ROUND_MS = 3000;

interface Day {
  readonly partition: string;
  readonly rows: number;
  readonly bytes: number;
  /** When the next one begins. */
  readonly ends: Date;
}

/** The oldest day goes behind the window and is dropped, while others write. Every call is one that a server makes. */
export async function compaction(bench: KeptBench): Promise<Figures> {
  const { own } = bench.environment;
  const day = await oldestDay(own);
  const quiet = await slowest(bench, () => Promise.resolve());
  await own.query(
    `UPDATE compaction SET history_window = clock_timestamp() - $1::timestamptz - interval '1 second'`,
    [day.ends],
  );
  let steps: Steps = { compactMs: 0, leaveMs: 0, longestMs: 0, calls: 0, dropMs: 0 };
  const busy = await slowest(bench, async () => {
    steps = await compact(own.databaseUrl);
  });
  const [kept] = await own.query<{ count: number }>('SELECT count(*)::float8 AS count FROM superseded');
  const rows = await own.query('SELECT FROM log_partitions() WHERE partition = to_regclass($1)', [
    day.partition,
  ]);
  if (rows.length > 0) throw new Error(`${day.partition} is still there`);
  return {
    unit: 'revisions',
    count: day.rows,
    facts: {
      'million revisions': day.rows / 1e6,
      MB: day.bytes / MEGABYTE,
      '410 after ms': steps.compactMs,
      'states kept': kept?.count ?? Number.NaN,
      'keeping s': steps.leaveMs / 1000,
      'in calls': steps.calls,
      'longest call ms': steps.longestMs,
      'dropping ms': steps.dropMs,
      'a commit p99 ms': busy,
      'p99 ms before': quiet,
    },
  };
}

async function oldestDay(own: OwnServer): Promise<Day> {
  const days = await own.query<Day & pg.QueryResultRow>(`
    SELECT p.partition::text, c.reltuples::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes,
      (SELECT r.committed_at FROM revisions r WHERE r.revision >= p.high ORDER BY r.revision LIMIT 1) AS ends
    FROM log_partitions() p JOIN pg_class c ON c.oid = p.partition
    WHERE c.reltuples > 10000
    ORDER BY p.high`);
  const [day] = days;
  if (day === undefined || days.length < 4)
    throw new Error('no more than three days are left: make the data again');
  return day;
}

interface Steps {
  readonly compactMs: number;
  readonly leaveMs: number;
  readonly longestMs: number;
  readonly calls: number;
  readonly dropMs: number;
}

/** As the server does it (storage/postgres/upkeep/compactor.ts), without a pause before what was left is dropped. */
async function compact(url: string): Promise<Steps> {
  const client = new pg.Client({ connectionString: url });
  // The call that is under way reports a broken connection.
  client.on('error', () => {});
  await client.connect();
  const timed = async (call: string): Promise<{ answer: string; ms: number }> => {
    const startedAt = performance.now();
    const { rows } = await client.query<{ answer: string }>(`SELECT ${call}::text AS answer`);
    return { answer: rows[0]?.answer ?? '', ms: performance.now() - startedAt };
  };
  try {
    const { ms: compactMs } = await timed('compact_history()');
    const leaving: number[] = [];
    for (let answer = ''; answer !== 'nothing'; ) {
      const left = await timed('leave_partition()');
      leaving.push(left.ms);
      answer = left.answer;
    }
    let dropMs = 0;
    for (let answer = 'true'; answer === 'true'; ) {
      const dropped = await timed("drop_partition('0')");
      dropMs += dropped.ms;
      answer = dropped.answer;
    }
    const leaveMs = leaving.reduce((sum, ms) => sum + ms, 0);
    return { compactMs, leaveMs, longestMs: Math.max(...leaving), calls: leaving.length, dropMs };
  } finally {
    await client.end();
  }
}

/** How slow the slowest hundredth of a few commits is while something else goes on, and for at least a round. */
async function slowest(bench: KeptBench, work: () => Promise<void>): Promise<number> {
  const plan = { ...patchPlan(), pace: { perSecond: COMMITS_PER_SECOND } };
  const job = { protocol: 'h2', connections: 4, plans: [plan], durationMs: ROUND_MS } as const;
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  const latencies: number[] = [];
  do {
    const { result } = await runMeasured(bench, { ...job, target: bench.environment.target });
    latencies.push(...result.plans.map(({ latencyMs }) => latencyMs.p99));
  } while (!isOver);
  await working;
  return Math.max(...latencies);
}
