import type { Bench, Figures, Group } from '../bench.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { GeneratorCalls, Plan, PlanResult } from '../load/jobs.ts';
import { atVersion, KINDS, nodeStatus, podStatus } from '../manifests.ts';
import { startUsage } from '../measure/usage.ts';
import { costOf, failureOf, loadOf } from '../measure-requests.ts';
import { Worker } from '../process/worker.ts';

const NODES = 1000;
const PODS = 10_000;
const CONFIG_MAPS = 1000;
/** More than are deleted in two minutes. */
const DELETED = 1500;

/**
 * A cluster of 1,000 nodes and 10,000 pods on an ordinary day: each node renews its lease every 10 s, reports itself every
 * 5 minutes and watches its own pods; some pods come, change and go, with an event each; controllers and people read.
 */
export const mixed: Group = {
  server: 'shared',
  prepare: async (bench) => {
    const { scale } = bench;
    await loadObjects(bench, { kind: 'pods', name: 'p-$N', running: true, count: scale(PODS, PODS / 10) });
    await loadObjects(bench, { kind: 'pods', name: 'old-$N', count: DELETED });
    await loadObjects(bench, { kind: 'nodes', name: 'bench-node-$N', count: NODES });
    await loadObjects(bench, { kind: 'leases', name: 'node-$N', count: NODES });
    await loadObjects(bench, { kind: 'configmaps', name: 'c-$N', count: CONFIG_MAPS });
  },
  scenarios: [{ name: 'mixed/1000-nodes', run }],
};

function toPlans(namespace: string, pods: number): Plan[] {
  const collection = (kind: keyof typeof KINDS): string => KINDS[kind].collection(namespace);
  const manifest = (kind: keyof typeof KINDS, name: string): object => KINDS[kind].manifest(namespace, name);
  const json = (body: object, type = 'application/json') => ({
    body: JSON.stringify(body),
    headers: { 'content-type': type },
  });
  const at = (perSecond: number) => ({ pace: { perSecond } });
  const lease = `${collection('leases')}/node-$N`;
  const pod = `${collection('pods')}/p-$N`;
  return [
    {
      name: 'renew lease',
      method: 'PUT',
      path: lease,
      objects: NODES,
      versionsFrom: lease,
      ...json(atVersion(manifest('leases', 'node-$N'))),
      ...at(NODES / 10),
    },
    {
      name: 'node status',
      method: 'PATCH',
      path: '/api/v1/nodes/bench-node-$N/status',
      objects: NODES,
      ...json({ status: nodeStatus() }, 'application/strategic-merge-patch+json'),
      ...at(NODES / 300),
    },
    {
      name: 'pod status',
      method: 'PATCH',
      path: `${pod}/status`,
      objects: pods,
      ...json({ status: podStatus() }, 'application/strategic-merge-patch+json'),
      ...at(20),
    },
    {
      name: 'create pod',
      method: 'POST',
      path: collection('pods'),
      ...json(manifest('pods', 'new-$S')),
      ...at(10),
    },
    {
      name: 'delete pod',
      method: 'DELETE',
      path: `${collection('pods')}/old-$N?gracePeriodSeconds=0`,
      objects: DELETED,
      ...at(10),
    },
    {
      name: 'create event',
      method: 'POST',
      path: collection('events'),
      ...json(manifest('events', 'e-$S')),
      ...at(20),
    },
    { name: 'get pod', method: 'GET', path: pod, objects: pods, ...at(50) },
    {
      name: 'get configmap',
      method: 'GET',
      path: `${collection('configmaps')}/c-$N`,
      objects: CONFIG_MAPS,
      ...at(50),
    },
    {
      name: 'list pods of a node',
      method: 'GET',
      path: `${collection('pods')}?fieldSelector=spec.nodeName%3Dnode-$N&resourceVersion=0`,
      objects: NODES,
      ...at(2),
    },
    {
      name: 'list pods in chunks',
      method: 'GET',
      path: `${collection('pods')}?limit=500`,
      pages: true,
      ...at(0.5),
    },
  ];
}

async function run(bench: Bench): Promise<Figures[]> {
  const { environment, generator } = bench;
  const { target, namespace, measured } = environment;
  const path = `${KINDS.pods.collection(namespace)}?watch=true&timeoutSeconds=600&fieldSelector=spec.nodeName%3Dnode-$N`;
  await using watching = new Worker<GeneratorCalls>('load/generator.ts');
  const watchers = bench.scale(NODES, NODES / 10);
  await watching.call('openWatches', {
    target,
    protocol: 'h1',
    connections: 1,
    watchers,
    path,
    delays: false,
  });
  const plans = toPlans(namespace, bench.scale(PODS, PODS / 10));
  const steady = { target, protocol: 'h2', connections: 16 } as const;
  // Connects, and learns the leases' versions.
  await generator.call('requests', { ...steady, plans: plans.slice(0, 1), durationMs: 500 });
  const stop = startUsage(measured);
  const job = { ...steady, plans, durationMs: bench.scale(120_000, 5000) };
  const result = await generator.call('requests', job);
  const usage = stop();
  const events = await watching.call('awaitEvents', { events: 0, timeoutMs: 0 });
  const count = result.plans.reduce((sum, plan) => sum + plan.count, 0);
  const whole: Figures = {
    count,
    rate: count / result.seconds,
    ...costOf(usage, count),
    ...loadOf(result.cores),
    facts: {
      'server cores': usage.serverCpu / usage.seconds,
      'database cores': usage.databaseCpu / usage.seconds,
      'events /s': events.events / result.seconds,
      'dropped watches': events.dropped,
    },
  };
  return [whole, ...result.plans.map((plan) => toPart(plan, result.seconds))];
}

function toPart(plan: PlanResult, seconds: number): Figures {
  return {
    scenario: `mixed/1000-nodes/${plan.name.replaceAll(' ', '-')}`,
    count: plan.count,
    rate: plan.count / seconds,
    p50Ms: plan.latencyMs.p50,
    p99Ms: plan.latencyMs.p99,
    ...failureOf(plan),
  };
}
