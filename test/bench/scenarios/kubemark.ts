import { Agent } from 'node:https';
import { availableParallelism } from 'node:os';
import type { Figures, Group, Scenario, Stage } from '../bench.ts';
import { ask } from '../environment/ask.ts';
import type { Environment } from '../environment/environment.ts';
import { fill, openCluster } from '../kubemark/cluster.ts';
import { DELAY_MS, firstToGiveIn, type Spent, startSpending } from '../kubemark/held.ts';
import {
  type ManagerJob,
  type NodesJob,
  type Part,
  type PartCalls,
  podsPerSecondOf,
} from '../kubemark/jobs.ts';
import { judge, type Verdict } from '../kubemark/objectives.ts';
import { summarize } from '../measure/percentile.ts';
import { Worker } from '../process/worker.ts';

/** More in one process would wait for each other. */
const NODES_A_PROCESS = 1000;
const WARM_UP_MS = 15_000;
const ASK_MS = 20;

/**
 * A control plane under the load of Kubernetes' scale tests: nodes with 30 pods each, leases every ten seconds, deployments that
 * roll, and everything that acts does so on what its watches bring. It is judged by Kubernetes' objectives.
 */
export const kubemark = (sizes: readonly number[], seconds: number): Group => ({
  server: 'own',
  scenarios: sizes.map(
    (nodes): Scenario<Stage> => ({
      name: `kubemark/${nodes}-nodes`,
      run: (stage) => run(stage, { nodes, seconds }),
    }),
  ),
});

type AnyCalls = PartCalls<ManagerJob | NodesJob>;

interface Size {
  readonly nodes: number;
  readonly seconds: number;
}

async function run(stage: Stage, { nodes, seconds }: Size): Promise<Figures[]> {
  await using environment = await openCluster(stage.settings);
  await fill(stage, environment, nodes);
  await using stack = new AsyncDisposableStack();
  const { target, namespace } = environment;
  const manager = stack.use(new Worker<AnyCalls>('kubemark/manager.ts'));
  const groups = Array.from({ length: Math.ceil(nodes / NODES_A_PROCESS) }, (_, at) => ({
    worker: stack.use(new Worker<AnyCalls>('kubemark/nodes.ts')),
    first: at * NODES_A_PROCESS,
    count: Math.min(NODES_A_PROCESS, nodes - at * NODES_A_PROCESS),
  }));
  await manager.call('open', { target, namespace, nodes, podsPerSecond: podsPerSecondOf(nodes) });
  for (const { worker, first, count } of groups)
    await worker.call('open', { target, namespace, first, count });
  const workers = [manager, ...groups.map(({ worker }) => worker)];
  const each = <Result>(call: (worker: Worker<AnyCalls>) => Promise<Result>): Promise<Result[]> =>
    Promise.all(workers.map(call));
  await each((worker) => worker.call('begin', undefined));
  await pause(stage.scale(WARM_UP_MS, WARM_UP_MS / 5));
  await each((worker) => worker.call('take', undefined));
  const stop = startSpending(environment.measured);
  const waitedMs = await askFor(environment, stage.scale(seconds, seconds / 10) * 1000);
  const spent = stop();
  const parts = await each((worker) => worker.call('take', undefined));
  return toRows(nodes, { spent, parts, waitedMs, cores: availableParallelism() });
}

/** One question after the other about what is in memory. Answers how long each has waited. */
async function askFor({ target }: Environment, durationMs: number): Promise<number[]> {
  const waitedMs: number[] = [];
  const agent = new Agent({ keepAlive: true });
  const until = performance.now() + durationMs;
  while (performance.now() < until) {
    const since = performance.now();
    await ask(target, { path: '/api/v1/namespaces/default?resourceVersion=0' }, agent);
    waitedMs.push(performance.now() - since);
    await pause(ASK_MS);
  }
  agent.destroy();
  return waitedMs.slice(1);
}

interface Seen {
  readonly spent: Spent;
  readonly parts: readonly Part[];
  readonly waitedMs: readonly number[];
  readonly cores: number;
}

function toRows(nodes: number, { spent, parts, waitedMs, cores }: Seen): Figures[] {
  const verdicts = judge(parts.flatMap(({ timed }) => timed));
  const count = verdicts.reduce((sum, verdict) => sum + verdict.count, 0);
  const beyond = verdicts.filter(({ isHeld }) => !isHeld);
  const load = Math.max(...parts.map((part) => part.cores));
  const delay = summarize(waitedMs);
  const started = summarize(parts.flatMap(({ startedMs }) => startedMs));
  const shares = {
    server: spent.serverCores,
    database: spent.databaseCores / cores,
    load,
    machine: spent.machine,
    delay: delay.p99 / DELAY_MS,
  };
  const held = beyond.length === 0 ? 'held' : `not held: ${beyond.map(nameOf).join(', ')}`;
  const whole: Figures = {
    count,
    rate: count / spent.seconds,
    peakBytes: spent.peakBytes,
    loadCores: load,
    saturated: load > 0.9,
    facts: {
      'server cores': spent.serverCores,
      'database cores': spent.databaseCores,
      'load cores': parts.reduce((sum, part) => sum + part.cores, 0),
      'machine busy': spent.machine,
      'loop delay p99 ms': delay.p99,
      'load late p99 ms': Math.max(...parts.map(({ lateMs }) => lateMs)),
      'pod runs after p99 s': started.p99 / 1000,
      'watches MB/s': parts.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6 / spent.seconds,
      'dropped watches': parts.reduce((sum, { dropped }) => sum + dropped, 0),
    },
    note: `${firstToGiveIn(shares)}; ${held}`,
  };
  return [whole, ...verdicts.map((verdict) => toPart(nodes, verdict, spent.seconds))];
}

const nameOf = ({ asked: { verb, resource, scope } }: Verdict): string => `${verb} ${resource} ${scope}`;

function toPart(nodes: number, verdict: Verdict, seconds: number): Figures {
  const { asked, count, failed, p50Ms, p99Ms, allowedMs, isHeld } = verdict;
  return {
    scenario: `kubemark/${nodes}-nodes/${asked.verb} ${asked.resource} ${asked.scope}`,
    count,
    rate: count / seconds,
    p50Ms,
    p99Ms,
    note: `${isHeld ? 'within' : 'BEYOND'} ${allowedMs / 1000} s${failed === 0 ? '' : `, ${failed} refused`}`,
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
