import type { Bench, Figures, Group } from '../bench.ts';
import { loadObjects } from '../environment/load-objects.ts';
import { atVersion, KINDS } from '../manifests.ts';
import { measure, toFigures } from '../measure-requests.ts';

const PERIOD_SECONDS = 10;

/** What the nodes of a large cluster do all day: 5,000 leases, each renewed every ten seconds. */
export const leaseRenewal: Group = {
  server: 'shared',
  scenarios: [{ name: 'lease-renewal/5000', run }],
};

async function run(bench: Bench): Promise<Figures> {
  const { namespace } = bench.environment;
  const { collection, manifest } = KINDS.leases;
  const objects = bench.scale(5000, 1000);
  const required = objects / PERIOD_SECONDS;
  await loadObjects(bench, { kind: 'leases', name: 'node-$N', count: objects });
  const path = `${collection(namespace)}/node-$N`;
  const plan = {
    name: 'renew',
    method: 'PUT',
    path,
    body: JSON.stringify(atVersion(manifest(namespace, 'node-$N'))),
    headers: { 'content-type': 'application/json' },
    objects,
    versionsFrom: path,
    pace: { perSecond: required },
  };
  const job = {
    protocol: 'h2' as const,
    connections: 16,
    plans: [plan],
    durationMs: bench.scale(20_000, 3000),
  };
  const { result, usage } = await measure(bench, job);
  return {
    ...toFigures({ result, usage }),
    facts: {
      'required /s': required,
      'server cores': usage.serverCpu / usage.seconds,
      'database cores': usage.databaseCpu / usage.seconds,
    },
  };
}
