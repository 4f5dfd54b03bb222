import type { JsonObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import type {
  Pod,
  PodAttachOptions,
  PodExecOptions,
  PodPortForwardOptions,
} from '../../api/types/core/v1.ts';
import type { ConnectCall, ConnectSubresource } from '../../registry/definition.ts';
import type { Backend } from '../../request/backend.ts';
import { agentOf, chooseContainer, PODS } from './agent.ts';

/** Streams into a pod and out of it, over a connection that the client and the node's agent speak their own protocol on. */

function stream<Options extends JsonObject>(
  name: string,
  kind: string,
  locate: ConnectSubresource<Options>['locate'],
): ConnectSubresource<Options> {
  return {
    access: 'connect',
    name,
    served: { group: '', version: 'v1', kind },
    type: `core/v1.${kind}`,
    verbs: ['create', 'get'],
    // Browsers can open a websocket with GET only.
    methods: ['GET', 'POST'],
    options: `core/v1.${kind}`,
    manner: 'stream',
    websocket: name === 'portforward' ? 'tunnel' : 'channels',
    locate,
  };
}

export const podExec = stream<PodExecOptions>('exec', 'PodExecOptions', (call) =>
  inContainer(call, 'exec', call.options.command ?? []),
);

export const podAttach = stream<PodAttachOptions>('attach', 'PodAttachOptions', (call) =>
  inContainer(call, 'attach', []),
);

export const podPortForward = stream<PodPortForwardOptions>(
  'portforward',
  'PodPortForwardOptions',
  async (call) => {
    const { namespace, name, options } = call;
    const { ports = [] } = options;
    const agent = await agentOf(call, nodeOf(await call.get(PODS, namespace, name), name));
    const query = new URLSearchParams(ports.length === 0 ? {} : { port: ports.join(',') });
    return {
      ...agent,
      path: `/portForward/${namespace}/${name}`,
      query: query.toString(),
      trust: 'agent',
    };
  },
);

async function inContainer(
  call: ConnectCall<PodAttachOptions>,
  action: string,
  command: readonly string[],
): Promise<Backend> {
  const { namespace, name, options } = call;
  const pod = await call.get(PODS, namespace, name);
  const container = chooseContainer(pod, options.container ?? '');
  return {
    ...(await agentOf(call, nodeOf(pod, name))),
    path: `/${action}/${namespace}/${name}/${container}`,
    query: streamQuery(options, command),
    trust: 'agent',
  };
}

/** @throws StatusError 400 */
function nodeOf({ spec }: Pod, podName: string): string {
  const { nodeName = '' } = spec ?? {};
  if (nodeName === '') throw badRequest(`pod ${podName} does not have a host assigned`);
  return nodeName;
}

/** What agents call the options that clients name stdin, stdout and stderr. */
const STREAMS = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

function streamQuery(options: PodAttachOptions, command: readonly string[]): string {
  const query = new URLSearchParams();
  for (const [name, agentsName] of STREAMS) if (options[name] === true) query.set(agentsName, '1');
  for (const word of command) query.append('command', word);
  query.sort();
  return query.toString();
}
