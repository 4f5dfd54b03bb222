import type { Settings } from '../arguments.ts';
import type { Target } from '../load/jobs.ts';
import { NODE_LABEL } from '../manifests.ts';
import type { Measured } from '../measure/usage.ts';
import { ask, demand } from './ask.ts';
import { readKubeconfig } from './kubeconfig.ts';
import { OwnServer } from './own-server.ts';

/** A server to be measured, and a namespace in it that holds nothing else. */
export interface Environment extends AsyncDisposable {
  readonly target: Target;
  readonly namespace: string;
  readonly measured: Measured;
  /** Undefined for a server that is only known by its kubeconfig. */
  readonly own: OwnServer | undefined;
}

export async function openEnvironment(settings: Settings): Promise<Environment> {
  const { kubeconfig } = settings;
  return kubeconfig === undefined ? openOwn(settings) : openOther(settings, readKubeconfig(kubeconfig));
}

async function openOwn(settings: Settings): Promise<Environment> {
  const own = new OwnServer(settings);
  try {
    const target = await own.start();
    const namespace = await createNamespace(target);
    return {
      target,
      namespace,
      measured: own.pids,
      own,
      [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
    };
  } catch (error) {
    await own[Symbol.asyncDispose]();
    throw error;
  }
}

async function openOther(settings: Settings, target: Target): Promise<Environment> {
  const namespace = await createNamespace(target);
  return {
    target,
    namespace,
    measured: { server: settings.serverPids, database: settings.databasePids },
    own: undefined,
    [Symbol.asyncDispose]: () => removeNamespace(target, namespace),
  };
}

export async function createNamespace(target: Target): Promise<string> {
  const name = `bench-${Date.now().toString(36)}`;
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await demand(target, { method: 'POST', path: '/api/v1/namespaces', body });
  return name;
}

const COLLECTIONS = ['api/v1', 'apis/coordination.k8s.io/v1'];
const RESOURCES = [['pods', 'configmaps', 'events'], ['leases']];

/** Its objects are deleted here: with a server alone, no controller may empty namespaces. */
async function removeNamespace(target: Target, namespace: string): Promise<void> {
  for (const [at, root] of COLLECTIONS.entries()) {
    for (const resource of RESOURCES[at] ?? []) {
      const path = `/${root}/namespaces/${namespace}/${resource}?gracePeriodSeconds=0`;
      await ask(target, { method: 'DELETE', path });
    }
  }
  const nodes = `/api/v1/nodes?labelSelector=${encodeURIComponent(NODE_LABEL)}`;
  await ask(target, { method: 'DELETE', path: nodes });
  await ask(target, { method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
}
