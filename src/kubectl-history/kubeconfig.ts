import { existsSync, readFileSync } from 'node:fs';
import type { CommandLine } from './arguments.ts';
import type { Kubectl } from './kubectl.ts';
import { CommandError } from './usage-error.ts';

/** The selected cluster in the user's kubeconfig. */
export interface Cluster {
  readonly server: string;
  /** The default namespace. */
  readonly namespace: string;
}

interface View {
  readonly 'current-context'?: string;
  readonly contexts?: readonly { name: string; context: { cluster?: string; namespace?: string } }[] | null;
  readonly clusters?: readonly { name: string; cluster: { server?: string } }[] | null;
}

const IN_CLUSTER = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** @throws CommandError */
export async function readCluster(
  kubectl: Kubectl,
  line: CommandLine,
  env: NodeJS.ProcessEnv,
): Promise<Cluster> {
  const { code, stdout, stderr } = await kubectl.run(['config', 'view', '--output=json']);
  if (code !== 0) throw new CommandError(stderr.trim());
  const view: View = JSON.parse(stdout);
  const name = line.kubectl.get('context') ?? view['current-context'];
  const context = view.contexts?.find((known) => known.name === name)?.context;
  const clusterName = line.kubectl.get('cluster') ?? context?.cluster;
  const cluster = view.clusters?.find((known) => known.name === clusterName)?.cluster;
  return {
    server: line.kubectl.get('server') ?? cluster?.server ?? 'in-cluster',
    namespace:
      line.kubectl.get('namespace') ?? context?.namespace ?? namespaceOfPod(context, env) ?? 'default',
  };
}

/** Inside a pod kubectl uses the pod's own namespace. */
function namespaceOfPod(context: unknown, env: NodeJS.ProcessEnv): string | undefined {
  if (context !== undefined || env.KUBERNETES_SERVICE_HOST === undefined) return undefined;
  if (env.POD_NAMESPACE) return env.POD_NAMESPACE;
  return existsSync(IN_CLUSTER) ? readFileSync(IN_CLUSTER, 'utf8').trim() : undefined;
}
