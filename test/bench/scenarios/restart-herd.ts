import type { Figures, Group, Scenario, Stage } from '../bench.ts';
import { ask, demand } from '../environment/ask.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { OwnServer } from '../environment/own-server.ts';
import type { Plan, Target, WatchJob } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { startUsage } from '../measure/usage.ts';
import { costOf, failureOf, loadOf, withLimit } from '../measure-requests.ts';

interface Herd {
  readonly name: string;
  readonly protocol: 'h1' | 'h2';
  /** Each watch sees one object, which was changed once, instead of all. */
  readonly ownObjects?: boolean;
}

const HERDS: readonly Herd[] = [
  { name: 'restart-herd/2000-watches', protocol: 'h1' },
  { name: 'restart-herd/2000-streams-of-20-connections', protocol: 'h2' },
  { name: 'restart-herd/2000-own-objects', protocol: 'h1', ownObjects: true },
];

const WATCHES = 2000;
const QUICK_WATCHES = 200;
/** What each of them has missed. */
const CHANGES = 100;
const CONNECTIONS = 20;
const PATIENCE_MS = 300_000;
const POLL_MS = 5;

/** All who watched come back at once, to a server that was just started, and go on from where they were. */
export const restartHerd: Group = {
  server: 'own',
  scenarios: HERDS.map((herd): Scenario<Stage> => ({ name: herd.name, run: (stage) => run(stage, herd) })),
};

async function run(stage: Stage, herd: Herd): Promise<Figures> {
  if (stage.settings.kubeconfig !== undefined)
    return { status: 'not supported', note: 'only a server of our own can be started again' };
  await using environment = await stage.open();
  const { own, namespace } = environment;
  if (own === undefined) throw new Error('the server is not our own');
  const watchers = stage.scale(WATCHES, QUICK_WATCHES);
  const bench = { ...stage, environment };
  await loadObjects(bench, { kind: 'pods', name: 'p-$N', running: true, count: watchers });
  const collection = KINDS.pods.collection(namespace);
  const version = await versionOf(environment.target, collection);
  const changes = herd.ownObjects === true ? watchers : CHANGES;
  const changed = await stage.generator.call('requests', {
    ...{ target: environment.target, protocol: 'h2', connections: 8, durationMs: 0 },
    plans: [patchOf(collection, changes)],
  });
  const failed = changed.plans[0] === undefined ? undefined : failureOf(changed.plans[0]);
  if (failed !== undefined) return failed;
  await own.stop();
  const target = await startReady(own);
  const query = herd.ownObjects === true ? '&fieldSelector=metadata.name%3Dp-$N' : '';
  const path = `${collection}?watch=true&timeoutSeconds=600&resourceVersion=${version}${query}`;
  const job = { target, protocol: herd.protocol, connections: CONNECTIONS, watchers, path, delays: false };
  const events = herd.ownObjects === true ? watchers : watchers * CHANGES;
  return await catchUp(stage, own, { job, events });
}

async function versionOf(target: Target, collection: string): Promise<string> {
  const { body } = await demand(target, { path: `${collection}?limit=1` });
  const list: { metadata: { resourceVersion: string } } = JSON.parse(body.toString());
  return list.metadata.resourceVersion;
}

const patchOf = (collection: string, objects: number): Plan => ({
  name: 'patch',
  method: 'PATCH',
  path: `${collection}/p-$N`,
  body: JSON.stringify({ metadata: { annotations: { 'bench.example.com/turn': '$S' } } }),
  headers: { 'content-type': 'application/merge-patch+json' },
  pace: { clients: 16 },
  objects,
  once: true,
});

async function startReady(own: OwnServer): Promise<Target> {
  const target = await own.start();
  while ((await ask(target, { path: '/readyz' })).status !== 200)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  return target;
}

/** From the first of them that connects until each of them has all that it missed. */
async function catchUp(
  { generator, limits, scale }: Stage,
  own: OwnServer,
  { job, events }: { readonly job: WatchJob; readonly events: number },
): Promise<Figures> {
  const stop = startUsage(own.pids);
  await generator.call('openWatches', { ...job, countsFromStart: true });
  const timeoutMs = scale(PATIENCE_MS, PATIENCE_MS / 4);
  const result = await generator.call('awaitEvents', { events, timeoutMs });
  const usage = stop();
  await generator.call('closeWatches', undefined);
  const missing = events - result.events;
  const figures: Figures = {
    unit: 'watches',
    count: job.watchers,
    rate: job.watchers / result.seconds,
    ...costOf(usage, job.watchers),
    ...loadOf(result.cores),
    facts: {
      'caught up after s': result.seconds,
      events: result.events,
      'server cpu s': usage.serverCpu,
      'database cpu s': usage.databaseCpu,
      'dropped watches': result.dropped,
      'missing events': missing,
    },
    ...(missing === 0 && result.dropped === 0 ? {} : { status: 'failed', note: 'events were lost' }),
  };
  const times = events / job.watchers;
  // Of one event each, connecting is the cost, which the limit leaves out.
  if (times === 1) return figures;
  const frames = { bytes: result.bytes / Math.max(1, result.events), times };
  const limit = await limits.frames(generator, job, frames);
  // Frames are counted there; here, those who get them.
  const perWatch = { rate: limit.rate / times, cpuPer1000: limit.cpuPer1000 * times };
  return withLimit(figures, 'bytes to as many sockets', { ...limit, ...perWatch });
}
