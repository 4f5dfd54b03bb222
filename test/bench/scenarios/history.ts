import pg from 'pg';
import type { Bench, Figures, Group, KeptBench, Scenario, Stage } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import { askMeanwhile } from '../environment/ask-meanwhile.ts';
import { KeptServer } from '../environment/kept-server.ts';
import { BUSY, type Story, tell } from '../history/rollouts.ts';
import { summarize } from '../measure/percentile.ts';
import { measure, runMeasured, toFigures } from '../measure-requests.ts';

const HISTORY = '/apis/history.cluster.io/v1alpha1';
/** A namespace of the mass of revisions, of which all are alike. */
const OF_MANY = 'ns-7';
const DIFFERENT = 1000;
const TIMES = 10;
const MEANWHILE_MS = 1000;

interface StoryBench extends KeptBench {
  readonly story: Story;
  /** One of its pods. */
  readonly pod: string;
}

interface Question {
  readonly name: string;
  readonly unit: string;
  path(bench: StoryBench): string;
  /** How many of them the answer must have at least. */
  least(bench: StoryBench): number;
  /** Undefined: those of a list. */
  readonly field?: string;
}

const log = (limit: number): Question => ({
  name: `log-of-an-object/${limit}`,
  unit: 'revisions',
  path: ({ story: { namespace } }) =>
    `${HISTORY}/revisions?limit=${limit}&fieldSelector=object.resource=deployments.apps,object.namespace=${namespace},object.name=${BUSY}`,
  least: ({ story }) => Math.min(limit, story.revisionsOfOne),
});

const timeline = (limit: number): Question => ({
  name: `timeline-of-a-namespace/${limit}`,
  unit: 'entries',
  field: 'entries',
  path: ({ story: { namespace } }) => `${HISTORY}/timelines/namespace:${namespace}?limit=${limit}`,
  least: ({ story: { rollouts, podsOfRollout } }) => Math.min(limit, rollouts * podsOfRollout * 9),
});

const QUESTIONS: readonly Question[] = [
  log(50),
  log(500),
  {
    name: 'timeline-of-a-pod',
    unit: 'entries',
    field: 'entries',
    path: ({ story: { namespace }, pod }) => `${HISTORY}/timelines/pods:${namespace}:${pod}`,
    least: () => 9,
  },
  timeline(50),
  timeline(500),
  {
    name: 'revisions-of-everything/500',
    unit: 'revisions',
    path: () => `${HISTORY}/revisions?limit=500`,
    least: () => 500,
  },
  {
    name: 'blame',
    unit: 'fields',
    field: 'fields',
    path: ({ story: { namespace } }) => `${HISTORY}/blames/deployments.apps:${namespace}:${BUSY}`,
    least: () => 20,
  },
  {
    name: 'namespace-at',
    unit: 'pods',
    path: ({ shape }) =>
      `/api/v1/namespaces/${OF_MANY}/pods?asOf=${shape.log.first + Math.floor(shape.span * 0.9)}`,
    least: () => 1,
  },
];

/**
 * What users ask of history, one client after the other, at a million revisions and 100,000 objects. The questions are about a
 * story that is written through the API, in a namespace of its own; the rows of the mass are all alike.
 */
export const history: Group = {
  server: 'kept',
  open,
  scenarios: [
    ...QUESTIONS.map(toScenario),
    { name: 'history/why-of-a-pod', run: (bench) => whyOfAPod(bench as StoryBench) },
    { name: 'history/cluster-diff', run: (bench) => clusterDiff(bench as StoryBench) },
  ],
};

async function open(stage: Stage): Promise<StoryBench> {
  const { settings, scale } = stage;
  if (settings.kubeconfig !== undefined) throw new Error('history is measured on a server of our own');
  const size = {
    ...{ revisions: scale(1_000_000, 30_000), objects: scale(100_000, 5000) },
    ...{ isSmall: false, isWhole: true, dataDir: undefined },
  };
  const environment = await KeptServer.open({ ...settings, size, onProgress: () => {} });
  try {
    const story = {
      namespace: environment.namespace,
      ...{ rollouts: scale(6, 1), podsOfRollout: scale(12, 3), revisionsOfOne: scale(1000, 50) },
    };
    const pod = await tell(environment.target, story);
    const { shape } = environment;
    return {
      ...stage,
      environment,
      shape,
      story,
      pod,
      [Symbol.asyncDispose]: () => environment[Symbol.asyncDispose](),
    };
  } catch (error) {
    await environment[Symbol.asyncDispose]();
    throw error;
  }
}

function toScenario(question: Question): Scenario<KeptBench> {
  return { name: `history/${question.name}`, run: (bench) => run(bench as StoryBench, question) };
}

async function run(bench: StoryBench, question: Question): Promise<Figures> {
  const { unit, field = 'items', least } = question;
  const path = question.path(bench);
  const { body } = await demand(bench.environment.target, { path });
  const { [field]: found = [] } = JSON.parse(body.toString()) as Record<string, readonly unknown[]>;
  if (found.length < least(bench))
    throw new Error(`${path}: ${found.length} ${unit}, ${least(bench)} expected`);
  const facts = { [unit]: found.length, kB: body.length / 1024 };
  return measured(bench, path, facts);
}

async function measured(bench: Bench, path: string, facts: Figures['facts']): Promise<Figures> {
  const plan = { name: 'read', method: 'GET', path, pace: { clients: 1 } };
  const durationMs = bench.scale(3000, 300);
  const job = { protocol: 'h2', connections: 1, plans: [plan], durationMs } as const;
  const figures = toFigures(await measure(bench, job));
  const { target } = bench.environment;
  const others = askMeanwhile(target);
  await runMeasured(bench, { ...job, target, durationMs: bench.scale(MEANWHILE_MS, 200) });
  return { ...figures, facts: { ...facts, 'others waited at most ms': await others() } };
}

/** Of the last event of the pod, back to the client that applied the Deployment. */
async function whyOfAPod(bench: StoryBench): Promise<Figures> {
  const { environment, story, pod } = bench;
  const selector = `object.resource=pods,object.namespace=${story.namespace},object.name=${pod}`;
  const list = await demand(environment.target, {
    path: `${HISTORY}/revisions?limit=1&fieldSelector=${selector}`,
  });
  const { items } = JSON.parse(list.body.toString()) as { items: { metadata: { name: string } }[] };
  const path = `${HISTORY}/revisions/${items[0]?.metadata.name}/why`;
  const { body } = await demand(environment.target, { path });
  const { links } = JSON.parse(body.toString()) as { links: readonly unknown[] };
  if (links.length < 4) throw new Error(`${path}: ${links.length} links`);
  return measured(bench, path, { links: links.length });
}

/** What is different between two moments is asked in SQL. */
async function clusterDiff({ environment }: StoryBench): Promise<Figures> {
  const client = new pg.Client({ connectionString: environment.own.databaseUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ last: string }>('SELECT max(revision) AS last FROM revisions');
    const last = Number(rows[0]?.last);
    const times: number[] = [];
    let count = 0;
    for (let time = 0; time < TIMES; time += 1) {
      const startedAt = performance.now();
      const found = await client.query('SELECT * FROM cluster_diff($1::bigint, $2::bigint)', [
        last - DIFFERENT,
        last,
      ]);
      times.push(performance.now() - startedAt);
      count = found.rows.length;
    }
    const { p50, p99 } = summarize(times);
    return {
      unit: 'diffs',
      count: TIMES,
      p50Ms: p50,
      p99Ms: p99,
      facts: { revisions: DIFFERENT, changes: count },
    };
  } finally {
    await client.end();
  }
}
