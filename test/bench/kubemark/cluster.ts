import type { Settings } from '../arguments.ts';
import type { Stage } from '../bench.ts';
import { demand } from '../environment/ask.ts';
import { type Environment, openEnvironment } from '../environment/environment.ts';
import { loadObjects } from '../environment/load-objects.ts';
import type { Plan } from '../load/jobs.ts';
import { KINDS } from '../manifests.ts';
import { PODS_A_NODE } from './jobs.ts';
import { MADE } from './manifests.ts';

/** As clusters run: nodes have the rights of nodes. */
const FLAGS = ['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'];
const LEASES = 'kube-node-lease';

export const openCluster = (settings: Settings): Promise<Environment> =>
  openEnvironment({ ...settings, serverFlags: [...FLAGS, ...settings.serverFlags] });

/** Nodes with their leases and pods, and a deployment for each. */
export async function fill(stage: Stage, environment: Environment, nodes: number): Promise<void> {
  const { namespace } = environment;
  const here = { ...stage, environment };
  const leases = { ...stage, environment: { ...environment, namespace: LEASES } };
  await loadObjects(here, { kind: 'nodes', name: 'node-$N', count: nodes });
  await loadObjects(leases, { kind: 'leases', name: 'node-$N', count: nodes });
  const pods = { kind: 'pods', name: 'p-$N', running: true } as const;
  await loadObjects(here, { ...pods, count: nodes * PODS_A_NODE, nodes });
  const config = KINDS.configmaps.manifest(namespace, 'web-config');
  const path = KINDS.configmaps.collection(namespace);
  await demand(environment.target, { method: 'POST', path, body: JSON.stringify(config) });
  for (const made of MADE) {
    const plan: Plan = {
      name: made.resource,
      method: 'POST',
      path: made.collection(namespace),
      body: JSON.stringify(made.manifest(namespace)),
      headers: { 'content-type': 'application/json' },
      pace: { clients: 32 },
      objects: nodes,
      once: true,
    };
    const job = { target: environment.target, protocol: 'h2', connections: 4, plans: [plan], durationMs: 0 };
    const { plans } = await stage.generator.call('requests', { ...job, protocol: 'h2' });
    const failure = plans[0]?.firstFailure ?? '';
    if (failure !== '') throw new Error(`creating ${made.resource}: ${failure}`);
  }
}
