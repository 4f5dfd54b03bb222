import type { Figures, Group, Stage } from '../bench.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { Plan, RequestsJob } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { runMeasured, toFigures } from '../measure-requests.ts';

const CONFIG_MAPS = 300_000;
const QUICK_CONFIG_MAPS = 10_000;

/**
 * Consistent lists of a large collection, one a second, which match nothing: the scenario by which KEP-2340 shows what consistent
 * reads from the cache save.
 */
export const needle: Group = {
  server: 'own',
  scenarios: [{ name: 'needle/300000-configmaps', run }],
};

async function run(stage: Stage): Promise<Figures> {
  await using environment = await stage.open();
  const bench = { ...stage, environment };
  const count = stage.scale(CONFIG_MAPS, QUICK_CONFIG_MAPS);
  await loadObjects(bench, { kind: 'configmaps', name: 'c-$N', count });
  const plan: Plan = {
    name: 'list',
    method: 'GET',
    path: `${KINDS.configmaps.collection(environment.namespace)}?labelSelector=app%3Dnothing-has-this`,
    pace: { perSecond: 1 },
  };
  const { target } = environment;
  const job: RequestsJob = { target, protocol: 'h2', connections: 1, plans: [plan], durationMs: 0 };
  // The collector is done with what loading has left behind, and the label is known to be sought.
  const settled = await runMeasured(bench, { ...job, durationMs: stage.scale(15_000, 3000) });
  const measured = await runMeasured(bench, { ...job, durationMs: stage.scale(60_000, 3000) });
  const { serverCpu, databaseCpu, seconds } = measured.usage;
  const first = settled.result.plans[0]?.latencyMs.max ?? Number.NaN;
  const facts = {
    objects: count,
    'server cores': serverCpu / seconds,
    'database cores': databaseCpu / seconds,
    'first lists, slowest ms': first,
  };
  return { ...toFigures(measured), facts };
}
