import type { Bench, Figures, Group, Scenario } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { GeneratorCalls, Plan, RequestsResult, WatchJob, WatchResult } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { startUsage, type Usage } from '../measure/usage.ts';
import { costOf, failureOf, loadOf, withLimit } from '../measure-requests.ts';
import { Worker } from '../process/worker.ts';

interface FanOut {
  readonly name: string;
  readonly watchers: number;
  readonly writes: number;
  readonly quickWrites: number;
  /** Each watcher sees one object, instead of all. */
  readonly ownObjects?: boolean;
  readonly protocol?: 'h2';
}

const FAN_OUTS: readonly FanOut[] = [
  { name: 'watch/100-watchers', watchers: 100, writes: 5000, quickWrites: 300 },
  { name: 'watch/1000-watchers', watchers: 1000, writes: 500, quickWrites: 50 },
  { name: 'watch/5000-watchers', watchers: 5000, writes: 100, quickWrites: 5 },
  {
    name: 'watch/1000-streams-of-10-connections',
    watchers: 1000,
    writes: 500,
    quickWrites: 50,
    protocol: 'h2',
  },
  { name: 'watch/1000-own-objects', watchers: 1000, writes: 5000, quickWrites: 500, ownObjects: true },
];

/** Writes a second, and how many watch. */
const STEADY = [
  { name: 'watch/delay/1-watcher-100-writes', watchers: 1, perSecond: 100 },
  { name: 'watch/delay/10-watchers-100-writes', watchers: 10, perSecond: 100 },
  { name: 'watch/delay/200-watchers-50-writes', watchers: 200, perSecond: 50 },
] as const;

const OBJECTS = 5000;
const DRAIN_MS = 60_000;

/** Events to many watchers, and how long after the write's reply they come. */
export const watch: Group = {
  server: 'shared',
  prepare: async (bench) => {
    await loadObjects(bench, { kind: 'pods', name: 'p-$N', running: true, count: OBJECTS });
  },
  scenarios: [
    ...STEADY.map((steady): Scenario<Bench> => ({ name: steady.name, run: (bench) => delay(bench, steady) })),
    ...FAN_OUTS.map((one): Scenario<Bench> => ({ name: one.name, run: (bench) => fanOut(bench, one) })),
  ],
};

const patchOf = (namespace: string): Pick<Plan, 'name' | 'method' | 'path' | 'body' | 'headers'> => ({
  name: 'patch',
  method: 'PATCH',
  path: `${KINDS.pods.collection(namespace)}/p-$N`,
  body: JSON.stringify({ metadata: { annotations: { 'bench.example.com/turn': '$S' } } }),
  headers: { 'content-type': 'application/merge-patch+json' },
});

/** From now on: what is there already is not sent. */
async function watchPath({ environment }: Bench, query = ''): Promise<string> {
  const { target, namespace } = environment;
  const collection = KINDS.pods.collection(namespace);
  const { body } = await demand(target, { path: `${collection}?limit=1` });
  const list: { metadata: { resourceVersion: string } } = JSON.parse(body.toString());
  const version = list.metadata.resourceVersion;
  return `${collection}?watch=true&timeoutSeconds=600&resourceVersion=${version}${query}`;
}

export async function fanOut(bench: Bench, wanted: FanOut): Promise<Figures> {
  const { environment, generator } = bench;
  const writes = bench.scale(wanted.writes, wanted.quickWrites);
  const job: WatchJob = {
    target: environment.target,
    protocol: wanted.protocol ?? 'h1',
    connections: 10,
    watchers: wanted.watchers,
    path: await watchPath(bench, wanted.ownObjects === true ? '&fieldSelector=metadata.name%3Dp-$N' : ''),
    delays: false,
  };
  await generator.call('openWatches', job);
  const stop = startUsage(environment.measured);
  const written = await writeOnce(bench, wanted, writes);
  const [plan] = written.plans;
  const failed = plan === undefined ? undefined : failureOf(plan);
  if (failed !== undefined) return failed;
  const events = wanted.ownObjects === true ? writes : writes * wanted.watchers;
  const result = await generator.call('awaitEvents', {
    events,
    timeoutMs: bench.scale(DRAIN_MS, DRAIN_MS / 4),
  });
  const figures = toFigures({ result, written, events, usage: stop() });
  await generator.call('closeWatches', undefined);
  // Here the writer is the limit, not the sockets.
  if (wanted.ownObjects === true) return figures;
  const frames = { bytes: result.bytes / Math.max(1, result.events), times: writes };
  return withLimit(figures, 'bytes to as many sockets', await bench.limits.frames(generator, job, frames));
}

/** In a process of its own, so that the writer does not wait for those who read. */
async function writeOnce(bench: Bench, { ownObjects }: FanOut, writes: number): Promise<RequestsResult> {
  const { target, namespace } = bench.environment;
  await using writer = new Worker<GeneratorCalls>('load/generator.ts');
  const pace = { clients: 1 };
  // One's own objects are fewer than the writes: they are gone through again.
  const turns = ownObjects === true ? { path: pathInThousand(namespace) } : {};
  const plan = { ...patchOf(namespace), ...turns, objects: writes, once: true, pace };
  return await writer.call('requests', {
    target,
    protocol: 'h2',
    connections: 1,
    plans: [plan],
    durationMs: 0,
  });
}

const pathInThousand = (namespace: string): string => `${KINDS.pods.collection(namespace)}/p-$M`;

interface Seen {
  readonly result: WatchResult;
  readonly written: RequestsResult;
  readonly events: number;
  readonly usage: Usage;
}

function toFigures({ result, written, events, usage }: Seen): Figures {
  const lost = events - result.events;
  const writer = written.plans[0]?.latencyMs;
  return {
    unit: 'events',
    count: result.events,
    rate: result.events / result.spanSeconds,
    ...costOf(usage, result.events),
    ...loadOf(result.cores),
    facts: {
      'dropped watches': result.dropped,
      'missing events': lost,
      'writes /s': (written.plans[0]?.count ?? 0) / written.seconds,
      'write p99 ms': writer?.p99 ?? Number.NaN,
    },
    ...(lost === 0 && result.dropped === 0 ? {} : { status: 'failed', note: 'events were lost' }),
  };
}

async function delay(bench: Bench, { watchers, perSecond }: (typeof STEADY)[number]): Promise<Figures> {
  const { environment, generator } = bench;
  const { target, namespace } = environment;
  const path = await watchPath(bench);
  await generator.call('openWatches', {
    target,
    protocol: 'h1',
    connections: 1,
    watchers,
    path,
    delays: true,
  });
  const plan: Plan = { ...patchOf(namespace), objects: OBJECTS, stamped: true, pace: { perSecond } };
  const job = {
    target,
    protocol: 'h2',
    connections: 4,
    plans: [plan],
    durationMs: bench.scale(8000, 1500),
  } as const;
  await generator.call('requests', { ...job, durationMs: 500 });
  await generator.call('awaitEvents', { events: Number.POSITIVE_INFINITY, timeoutMs: 300 });
  const stop = startUsage(environment.measured);
  const written = await generator.call('requests', job);
  const [first] = written.plans;
  const failed = first === undefined ? undefined : failureOf(first);
  if (failed !== undefined) return failed;
  const events = (first?.count ?? 0) * watchers;
  const result = await generator.call('awaitEvents', {
    events,
    timeoutMs: bench.scale(DRAIN_MS, DRAIN_MS / 4),
  });
  const figures = toFigures({ result, written, events, usage: stop() });
  await generator.call('closeWatches', undefined);
  const facts = { ...figures.facts, 'max ms': result.delayMs.max };
  return {
    ...figures,
    p50Ms: result.delayMs.p50,
    p99Ms: result.delayMs.p99,
    facts,
    note: 'ms from reply to event',
  };
}
