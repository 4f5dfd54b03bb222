import type { ApiObject } from '../../api/object-meta.ts';
import { badRequest, StatusError, serviceUnavailable } from '../../api/status.ts';
import { part, parts, text } from '../../object/parts.ts';
import type { ConnectCall, ConnectSubresource } from '../../registry/definition.ts';
import type { Backend } from '../../request/backend.ts';
import { agentOf } from './agent.ts';
import { isGlobalUnicast } from './global-address.ts';
import { parseTargetName, type TargetName } from './target-name.ts';

/** Whatever speaks HTTP in the cluster, under a path of this server. */

function proxy(kind: string, locate: (call: ConnectCall) => Promise<Omit<Backend, 'path' | 'query'>>) {
  const subresource: ConnectSubresource = {
    access: 'connect',
    name: 'proxy',
    served: { group: '', version: 'v1', kind },
    type: `core/v1.${kind}`,
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
    options: `core/v1.${kind}`,
    manner: 'proxy',
    locate: async (call) => ({ ...(await locate(call)), path: call.subpath, query: '' }),
  };
  return subresource;
}

export const nodeProxy = proxy('NodeProxyOptions', async (call) => {
  const { scheme, name, port } = parseTargetName(call.name, 'node');
  const agent = await agentOf(call, name);
  await assertProxyable(call, agent.host);
  if (port === '' || port === agent.port) return { ...agent, trust: 'agent' };
  return { scheme, host: agent.host, port, trust: 'none' };
});

/** A node that says it is at this server's own address would make the proxy a way into it. @throws StatusError 400 */
async function assertProxyable(call: ConnectCall, host: string): Promise<void> {
  const addresses = await call.resolve(host).catch(() => {
    throw badRequest(`lookup ${host}: no such host`);
  });
  if (addresses.length === 0) throw badRequest('no addresses for hostname');
  if (!addresses.every(isGlobalUnicast)) throw badRequest('address not allowed');
}

export const podProxy = proxy('PodProxyOptions', async (call) => {
  const { scheme, name, port } = parseTargetName(call.name, 'pod');
  const pod = await call.get({ group: '', resource: 'pods' }, call.namespace, name);
  const [first] = parts(part(pod, 'status'), 'podIPs');
  const host = text(first?.ip);
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
  return { scheme, host, port: port === '' ? firstPort(pod) : port, trust: 'none' };
});

function firstPort(pod: ApiObject): string {
  const ports = parts(part(pod, 'spec'), 'containers').map((container) => parts(container, 'ports')[0]);
  return text(ports.find((port) => port !== undefined)?.containerPort);
}

export const serviceProxy = proxy('ServiceProxyOptions', async (call) => {
  const target = parseTargetName(call.name, 'service');
  const port = await servicePortName(call, target);
  const endpoints = await call.get({ group: '', resource: 'endpoints' }, call.namespace, target.name);
  const subsets = parts(endpoints, 'subsets');
  if (subsets.length === 0) {
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(target.name)}`);
  }
  for (const subset of shuffled(subsets)) {
    const found = parts(subset, 'ports').find(({ name }) => text(name) === port);
    if (found === undefined) continue;
    for (const address of shuffled(parts(subset, 'addresses'))) {
      if (!(await belongsToPod(call, address))) continue;
      return { scheme: target.scheme, host: text(address.ip), port: text(found.port), trust: 'none' };
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(call.name)}`);
});

/** Endpoints know ports by their names; a number is looked up in the service. @throws StatusError */
async function servicePortName(call: ConnectCall, { name, port }: TargetName): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const service = await call.get({ group: '', resource: 'services' }, call.namespace, name);
  const found = parts(part(service, 'spec'), 'ports').find((one) => one.port === Number(port));
  if (found !== undefined) return text(found.name);
  throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
}

/** Whoever may write endpoints must not be able to send this server anywhere else. */
async function belongsToPod(
  call: ConnectCall,
  address: Parameters<typeof part>[0] & object,
): Promise<boolean> {
  const { name, namespace } = part(address, 'targetRef');
  if (text(name) === '' || namespace !== call.namespace) return false;
  try {
    const pod = await call.get({ group: '', resource: 'pods' }, call.namespace, text(name));
    return parts(part(pod, 'status'), 'podIPs').some(({ ip }) => ip === address.ip);
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 404) return false;
    throw error;
  }
}

/** Begins anywhere, so that no endpoint gets it all. */
function shuffled<T>(items: readonly T[]): T[] {
  const start = Math.floor(Math.random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
