import type { JsonObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import { part, text } from '../../object/parts.ts';
import type { ConnectCall, ConnectSubresource } from '../../registry/definition.ts';
import type { Backend } from '../../request/backend.ts';
import { agentOf } from './agent.ts';
import { chooseContainer } from './container.ts';

/** Streams into a pod and out of it, over a connection that the client and the node's agent speak their own protocol on. */

function stream(name: string, kind: string, locate: ConnectSubresource['locate']): ConnectSubresource {
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

export const podExec = stream('exec', 'PodExecOptions', (call) => inContainer(call, 'exec'));

export const podAttach = stream('attach', 'PodAttachOptions', (call) => inContainer(call, 'attach'));

export const podPortForward = stream('portforward', 'PodPortForwardOptions', async (call) => {
  const { namespace, name, options } = call;
  const pod = await call.get({ group: '', resource: 'pods' }, namespace, name);
  const agent = await agentOf(call, nodeOf(part(pod, 'spec'), name));
  const ports = Array.isArray(options.ports) ? options.ports : [];
  const query = new URLSearchParams(ports.length === 0 ? {} : { port: ports.join(',') });
  const path = `/portForward/${namespace}/${name}`;
  return { ...agent, path, query: query.toString(), trust: 'agent' };
});

async function inContainer(call: ConnectCall, action: string): Promise<Backend> {
  const { namespace, name, options } = call;
  const pod = await call.get({ group: '', resource: 'pods' }, namespace, name);
  const container = chooseContainer(pod, text(options.container));
  const agent = await agentOf(call, nodeOf(part(pod, 'spec'), name));
  return {
    ...agent,
    path: `/${action}/${namespace}/${name}/${container}`,
    query: streamQuery(options),
    trust: 'agent',
  };
}

/** @throws StatusError 400 */
function nodeOf(spec: JsonObject, name: string): string {
  const node = text(spec.nodeName);
  if (node === '') throw badRequest(`pod ${name} does not have a host assigned`);
  return node;
}

/** What agents call the options that clients name stdin, stdout and stderr. */
const STREAMS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const;

function streamQuery(options: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, agentsName] of Object.entries(STREAMS)) {
    if (options[name] === true) query.set(agentsName, '1');
  }
  for (const word of Array.isArray(options.command) ? options.command : []) {
    query.append('command', String(word));
  }
  query.sort();
  return query.toString();
}
