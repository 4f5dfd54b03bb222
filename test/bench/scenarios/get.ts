import type { Bench, Figures, Group, Scenario } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { Protocol } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { connectionsFor, measure, toFigures, withLimit } from '../measure-requests.ts';

interface Get {
  readonly clients: number;
  readonly cached: boolean;
  readonly protocol: Protocol;
}

const GETS: readonly Get[] = [
  { clients: 1, cached: false, protocol: 'h2' },
  { clients: 1, cached: true, protocol: 'h2' },
  { clients: 64, cached: false, protocol: 'h2' },
  { clients: 64, cached: true, protocol: 'h2' },
  { clients: 64, cached: false, protocol: 'h1' },
  { clients: 64, cached: true, protocol: 'h1' },
];

/** A pod of 2 kB, as it is now (a consistent read) or as the server knows it (resourceVersion=0). */
export const get: Group = {
  server: 'shared',
  prepare: async (bench) => {
    await loadObjects(bench, { kind: 'pods', name: 'p-$N', count: 100 });
  },
  scenarios: GETS.map(toScenario),
};

function toScenario(wanted: Get): Scenario<Bench> {
  const { clients, cached, protocol } = wanted;
  const name = `get/${clients}-clients/${cached ? 'cached' : 'consistent'}/${protocol}`;
  return { name, run: (bench) => run(bench, wanted) };
}

async function run(bench: Bench, { clients, cached, protocol }: Get): Promise<Figures> {
  const { target, namespace } = bench.environment;
  const path = `${KINDS.pods.collection(namespace)}/p-7${cached ? '?resourceVersion=0' : ''}`;
  const job = {
    target,
    protocol,
    connections: protocol === 'h1' ? clients : connectionsFor(clients),
    plans: [{ name: 'get', method: 'GET', path, pace: { clients } }],
    durationMs: bench.scale(5000, 1000),
  };
  const figures = toFigures(await measure(bench, job));
  const { body } = await demand(target, { path });
  const sent = { body, headers: { 'content-type': 'application/json' } };
  return withLimit(
    figures,
    'bare node sending the same bytes',
    await bench.limits.bytes(bench.generator, job, sent),
  );
}
