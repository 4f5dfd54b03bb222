import { PODS } from '../../api/known-resources.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { badRequest, invalid } from '../../api/status.ts';
import type {
  Pod,
  PodAttachOptions,
  PodExecOptions,
  PodLogOptions,
  PodPortForwardOptions,
} from '../../api/types/core/v1.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';
import type { ConnectCall, ConnectSubresource } from '../../registry/resource-definition.ts';
import type { Backend } from '../../request/backend.ts';
import { mustBeOneOf } from '../rules/name-rules.ts';
import { mustBeNonNegative } from '../rules/numbers.ts';
import { chooseContainer, streamingAgentOf } from './agent.ts';

/** The output of a container, from the agent of its node. */
export const podLog: ConnectSubresource<PodLogOptions> = {
  access: 'connect',
  name: 'log',
  served: { group: '', version: 'v1', kind: 'Pod' },
  type: 'core/v1.Pod',
  verbs: ['get'],
  methods: ['GET'],
  options: 'core/v1.PodLogOptions',
  manner: 'log',
  locate: async (call) => {
    const { options, namespace, name } = call;
    const errors = problemsOf((at) => {
      validateLogOptions(at, options);
      validateLogStream(at, options, call.splitsLogs);
    });
    if (errors.length > 0) throw invalid({ kind: 'PodLogOptions', group: '' }, name, errors);
    const pod = await call.get(PODS, namespace, name);
    const container = chooseContainer(pod, options.container ?? '');
    const { nodeName = '' } = pod.spec ?? {};
    if (nodeName === '') return undefined;
    return {
      ...(await streamingAgentOf(call, nodeName)),
      path: `/containerLogs/${namespace}/${name}/${container}`,
      query: logQuery(call.splitsLogs ? { stream: ALL, ...options } : options),
      trust: options.insecureSkipTLSVerifyBackend === true ? 'agent-unverified' : 'agent',
    };
  },
};

export function validateLogOptions(at: FieldPath, options: PodLogOptions): void {
  const { limitBytes, sinceSeconds, sinceTime } = options;
  mustBeNonNegative(at.field('tailLines'), options.tailLines);
  mustBePositive(at.field('limitBytes'), limitBytes);
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    at.whole.forbidden('at most one of `sinceTime` or `sinceSeconds` may be specified');
  else mustBePositive(at.field('sinceSeconds'), sinceSeconds);
}

const ALL = 'All';
const LOG_STREAMS = [ALL, 'Stdout', 'Stderr'];

/** Which output of the container is wanted: both, unless the request chooses one. */
function validateLogStream(at: FieldPath, options: PodLogOptions, isSplit: boolean): void {
  const { stream, tailLines } = options;
  if (stream === undefined) return;
  if (!isSplit) {
    at.field('stream').forbidden('may not be specified');
    return;
  }
  mustBeOneOf(at.field('stream'), stream, LOG_STREAMS);
  if (stream !== ALL && tailLines !== undefined)
    at.whole.forbidden('`tailLines` and specific `stream` are mutually exclusive for now');
}

function mustBePositive(at: FieldPath, value: number | bigint | undefined): void {
  if (value !== undefined && value < 1) at.invalid(value, 'must be greater than 0');
}

const FLAGS = ['follow', 'previous', 'timestamps'] as const;
const VALUES = ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes', 'stream'] as const;

function logQuery(options: PodLogOptions): string {
  const query = new URLSearchParams();
  for (const name of FLAGS) if (options[name] === true) query.set(name, 'true');
  for (const name of VALUES) if (options[name] !== undefined) query.set(name, String(options[name]));
  query.sort();
  return query.toString();
}

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
    const agent = await streamingAgentOf(call, nodeOf(await call.get(PODS, namespace, name), name));
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
    ...(await streamingAgentOf(call, nodeOf(pod, name))),
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

/** The names that agents have for the options stdin, stdout and stderr. */
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
