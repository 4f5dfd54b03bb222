import type { Bench, Figures, KeptBench } from '../bench.ts';
import { KeptServer } from '../environment/kept-server.ts';
import type { Plan } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { measure, toFigures, withLimit } from '../measure-requests.ts';
import { NAMESPACES } from './shape.ts';

type Verb = 'create' | 'patch';

/** Next to nothing, of the same shape. */
const SMALL = { revisions: 24_000, objects: 20_000, dataDir: undefined };
/** Of both logs. */
const PATCHED = 10_000;
const ROUNDS = 3;
const CLIENTS = 64;

/** Beside a server with next to no history, in turns: what both share of the machine is the same. */
export async function writes(bench: KeptBench, verb: Verb): Promise<Figures[]> {
  await using small = await KeptServer.open({
    ...bench.settings,
    size: { ...SMALL, isSmall: bench.shape.log.isSmall },
    onProgress: () => {},
  });
  const benches = [{ ...bench, environment: small }, bench] as const;
  const rounds: Figures[][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const figures: Figures[] = [];
    for (const on of benches) figures.push(await measureOnce(on, verb));
    rounds.push(figures);
  }
  const [without, within] = [0, 1].map((at) => cheapest(rounds.flatMap((figures) => figures[at] ?? [])));
  if (without === undefined || within === undefined) throw new Error('nothing was measured');
  const limit = {
    what: 'the same without history',
    rate: without.rate ?? Number.NaN,
    cpuPer1000: costOf(without),
  };
  return [{ ...without, scenario: `scale/${verb}/without` }, withLimit(within, limit.what, limit)];
}

const costOf = ({ serverCpuPer1000 = Number.NaN, databaseCpuPer1000 = Number.NaN }: Figures): number =>
  serverCpuPer1000 + databaseCpuPer1000;

/** What disturbs a round makes it dearer. A round that failed says so. */
const cheapest = (figures: readonly Figures[]): Figures | undefined =>
  figures.find(({ status }) => status !== undefined) ??
  figures.toSorted((one, other) => costOf(one) - costOf(other))[0];

async function measureOnce(bench: Bench, verb: Verb): Promise<Figures> {
  const plan = { ...PLANS[verb](bench.environment.namespace), pace: { clients: CLIENTS } };
  const durationMs = bench.scale(3000, 800);
  return toFigures(await measure(bench, { protocol: 'h2', connections: 8, plans: [plan], durationMs }));
}

const PLANS: Readonly<Record<Verb, (namespace: string) => Omit<Plan, 'pace'>>> = {
  create: (namespace) => ({
    name: 'create',
    method: 'POST',
    path: KINDS.configmaps.collection(namespace),
    body: JSON.stringify(KINDS.configmaps.manifest(namespace, 'new-$S')),
    headers: { 'content-type': 'application/json' },
  }),
  patch: () => patchPlan(),
};

/** Config maps of the log, each in a namespace of its own: `$M` counts to the number of namespaces. */
export const patchPlan = (): Omit<Plan, 'pace'> => ({
  name: 'patch',
  method: 'PATCH',
  path: `${KINDS.configmaps.collection('ns-$M')}/settings-$N`,
  body: JSON.stringify({ metadata: { annotations: { 'bench.example.com/turn': '$S' } } }),
  headers: { 'content-type': 'application/merge-patch+json' },
  objects: Math.min(PATCHED, 10 * NAMESPACES),
});
