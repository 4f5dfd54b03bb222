import type { Bench, Figures, Group, Scenario } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import { loadObjects, sampleRow } from '../environment/load-objects.ts';
import { KINDS, type KindName } from '../manifests.ts';
import { startUsage } from '../measure/usage.ts';
import { connectionsFor, costOf, measure, toFigures } from '../measure-requests.ts';
import { withRowsLimit } from './rows-limit.ts';

const DELETED = ['pods', 'configmaps', 'leases'] as const;
const CLIENTS = [1, 64];
const NOW = 'gracePeriodSeconds=0';

/** Objects one by one, and 10,000 at a stroke. */
export const remove: Group = {
  server: 'shared',
  scenarios: [
    ...DELETED.flatMap((kind) => CLIENTS.map((clients) => toScenario(kind, clients))),
    ...DELETED.map(toCollectionScenario),
  ],
};

function toScenario(kind: KindName, clients: number): Scenario<Bench> {
  return { name: `delete/${kind}/${clients}-clients`, run: (bench) => deleteEach(bench, kind, clients) };
}

function toCollectionScenario(kind: KindName): Scenario<Bench> {
  return { name: `deletecollection/${kind}/10000`, run: (bench) => deleteAll(bench, kind) };
}

async function deleteEach(bench: Bench, kind: KindName, clients: number): Promise<Figures> {
  const { namespace } = bench.environment;
  const count = clients === 1 ? bench.scale(1000, 200) : bench.scale(10_000, 1000);
  await loadObjects(bench, { kind, name: `each-${clients}-$N`, count });
  const template = await sampleRow(bench.environment, kind, 'limit-$N');
  const since = new Date();
  const path = `${KINDS[kind].collection(namespace)}/each-${clients}-$N?${NOW}`;
  const plan = { name: 'delete', method: 'DELETE', path, objects: count, once: true, pace: { clients } };
  const job = { protocol: 'h2' as const, connections: connectionsFor(clients), plans: [plan], durationMs: 0 };
  const figures = toFigures(await measure(bench, job));
  return withRowsLimit(bench, figures, { template, verb: 'delete', clients, since });
}

async function deleteAll(bench: Bench, kind: KindName): Promise<Figures> {
  const { target, namespace, measured } = bench.environment;
  const count = bench.scale(10_000, 1000);
  await loadObjects(bench, { kind, name: 'all-$N', count });
  const template = await sampleRow(bench.environment, kind, 'limit-$N');
  const since = new Date();
  const stop = startUsage(measured);
  const path = `${KINDS[kind].collection(namespace)}?${NOW}`;
  await demand(target, { method: 'DELETE', path });
  const usage = stop();
  const figures = {
    unit: 'objects',
    count,
    rate: count / usage.seconds,
    p50Ms: usage.seconds * 1000,
    ...costOf(usage, count),
  };
  return withRowsLimit(bench, figures, { template, verb: 'delete', clients: 1, since });
}
