import type { Bench, Figures, Group, Scenario } from '../bench.ts';
import { loadObjects, sampleRow } from '../environment/load-objects.ts';
import type { Plan } from '../load/jobs.ts';
import { atVersion, KINDS, type KindName, podStatus } from '../manifests.ts';
import { connectionsFor, measure, toFigures } from '../measure-requests.ts';
import { withRowsLimit } from './rows-limit.ts';

type Verb = 'create' | 'update' | 'status' | 'patch' | 'apply';

interface Writes {
  readonly verb: Verb;
  readonly kind: KindName;
  readonly clients: number;
}

const VERBS: readonly Verb[] = ['create', 'update', 'status', 'patch', 'apply'];
const WRITTEN = ['pods', 'configmaps', 'leases'] as const;
const CLIENTS = [1, 10, 64, 200];
/** What updates go through: enough that no two clients meet. */
const OBJECTS = 1000;

const combinations = VERBS.flatMap((verb) =>
  WRITTEN.flatMap((kind) => CLIENTS.map((clients) => ({ verb, kind, clients }))),
).filter(({ verb, kind }) => verb !== 'status' || kind === 'pods');

/** Writes of whole objects and of parts, the limit being the same rows in equal batches without a server. */
export const write: Group = {
  server: 'shared',
  prepare: async (bench, chosen) => {
    for (const kind of WRITTEN) {
      if (!chosen.some((name) => name.includes(`/${kind}/`))) continue;
      await loadObjects(bench, { kind, name: `${kind}-$N`, count: OBJECTS });
    }
  },
  scenarios: combinations.map(toScenario),
};

function toScenario(writes: Writes): Scenario<Bench> {
  const { verb, kind, clients } = writes;
  return { name: `${verb}/${kind}/${clients}-clients`, run: (bench) => run(bench, writes) };
}

async function run(bench: Bench, { verb, kind, clients }: Writes): Promise<Figures> {
  const plan = toPlan(verb, kind, bench.environment.namespace);
  const job = {
    protocol: 'h2' as const,
    connections: connectionsFor(clients),
    plans: [{ ...plan, pace: { clients } }],
    durationMs: bench.scale(3000, 800),
  };
  const before = Date.now();
  const figures = toFigures(await measure(bench, job));
  if (figures.status !== undefined) return figures;
  const template = await sampleRow(bench.environment, kind, 'limit-$N');
  const rows = { template, verb: verb === 'create' ? 'create' : 'update' } as const;
  return withRowsLimit(bench, figures, { ...rows, clients, since: new Date(before) });
}

function toPlan(verb: Verb, kind: KindName, namespace: string): Omit<Plan, 'pace'> {
  const { collection, manifest } = KINDS[kind];
  const all = collection(namespace);
  const path = `${all}/${kind}-$N`;
  const object = { ...manifest(namespace, `${kind}-$N`) };
  const existing = { name: verb, path, objects: OBJECTS };
  switch (verb) {
    case 'create':
      return { name: verb, method: 'POST', path: all, ...json(manifest(namespace, 'new-$S')) };
    case 'update':
      // Leases insist on a version; the others are replaced at any version.
      return kind === 'leases'
        ? { ...existing, method: 'PUT', versionsFrom: path, ...json(atVersion(object)) }
        : { ...existing, method: 'PUT', ...json(object) };
    case 'status':
      return {
        ...existing,
        method: 'PUT',
        path: `${path}/status`,
        ...json({ ...object, status: podStatus() }),
      };
    case 'patch':
      return { ...existing, method: 'PATCH', ...json(turn(), 'application/merge-patch+json') };
    case 'apply':
      return {
        ...existing,
        method: 'PATCH',
        path: `${path}?fieldManager=bench&force=true`,
        ...json(applied(object, `${kind}-$N`), 'application/apply-patch+yaml'),
      };
    default:
      return verb satisfies never;
  }
}

const json = (body: object, type = 'application/json') => ({
  body: JSON.stringify(body),
  headers: { 'content-type': type },
});

const turn = () => ({ metadata: { annotations: { 'bench.example.com/turn': '$S' } } });

/** What a controller that owns an annotation applies. */
function applied(object: object, name: string): object {
  const { apiVersion, kind } = { apiVersion: '', kind: '', ...object };
  return { apiVersion, kind, metadata: { name, ...turn().metadata } };
}
