import pg from 'pg';
import type { Figures, KeptBench, Scenario } from '../bench.ts';
import { summarize } from '../measure/percentile.ts';
import type { Shape } from './shape.ts';

interface Question {
  readonly name: string;
  readonly unit: string;
  /** `at` is a moment, as SQL text. */
  ask(at: string): string;
  /** Where in the log: 0 its beginning, 1 its end. */
  readonly share: number;
}

const TIMES = 3;
const PATIENCE_MS = 600_000;

const POD = `'', 'pods', 'ns-7', 'web-7'`;

const QUESTIONS_ASKED: readonly Question[] = [
  {
    name: 'history-of-an-object',
    unit: 'revisions',
    share: 1,
    ask: () => `SELECT revision, committed_at, verb, username FROM revisions
      WHERE (api_group, resource, namespace, name) = (${POD}) ORDER BY revision`,
  },
  {
    name: 'history-of-an-hour',
    unit: 'revisions',
    share: 0.5,
    ask: (at) => `SELECT at, who, verb, what, namespace, name FROM history
      WHERE at > ${at} - interval '1 hour' AND at <= ${at}`,
  },
  { name: 'object-at', unit: 'objects', share: 0.5, ask: (at) => `SELECT object_at(${POD}, ${at})` },
  ...[0.2, 0.9].map((share) => ({
    name: `namespace-at/${share * 100}%`,
    unit: 'objects',
    share,
    ask: (at: string) => `SELECT * FROM cluster_at(${at}, 'ns-7')`,
  })),
  ...[0.2, 0.9].map((share) => ({
    name: `pods-of-namespace-at/${share * 100}%`,
    unit: 'objects',
    share,
    ask: (at: string) => `SELECT * FROM cluster_at(${at}, 'ns-7', 'pods')`,
  })),
  {
    name: 'history-of-a-request',
    unit: 'revisions',
    share: 0.5,
    ask: (at) => `SELECT at, who, verb, what, namespace, name FROM history
      WHERE request_id = (SELECT r.request_id FROM history r WHERE r.revision = revision_at(${at}))`,
  },
];

/** What people ask, as src/history/README.md has it. */
export const QUESTIONS: readonly Scenario<KeptBench>[] = QUESTIONS_ASKED.map((question) => ({
  name: `scale/${question.name}`,
  run: (bench) => run(bench, question),
}));

async function run({ environment, shape }: KeptBench, { unit, share, ask }: Question): Promise<Figures> {
  return timed(environment.own.databaseUrl, ask(momentOf(shape, share)), unit);
}

/** As SQL text. */
export const momentOf = ({ log: { from, days } }: Shape, share: number): string =>
  `timestamptz '${new Date(from.getTime() + share * days * 86_400_000).toISOString()}'`;

/** What a query takes on a connection of its own, which has not seen the tables before. */
export async function timed(databaseUrl: string, text: string, unit: string): Promise<Figures> {
  const client = new pg.Client({ connectionString: databaseUrl, statement_timeout: PATIENCE_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    const times: number[] = [];
    let count = 0;
    for (let time = 0; time < TIMES; time += 1) {
      const startedAt = performance.now();
      count = (await client.query(text)).rows.length;
      times.push(performance.now() - startedAt);
    }
    const { p50 } = summarize(times);
    const [first = Number.NaN] = times;
    return {
      unit,
      count,
      p50Ms: p50,
      facts: { [unit]: count, 'first ms': first, pages: await pagesOf(client, text) },
    };
  } finally {
    await client.end();
  }
}

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** How many pages of 8 kB it looks at: says more of what grows with the log than time does. */
async function pagesOf(client: pg.Client, text: string): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
  );
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  return (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN);
}
