import { ENDPOINTS, PODS, SERVICES } from '../../api/known-resources.ts';
import { badRequest, serviceUnavailable } from '../../api/status.ts';
import type { EndpointAddress, Pod } from '../../api/types/core/v1.ts';
import type { ConnectCall, ConnectSubresource } from '../../registry/resource-definition.ts';
import type { Backend } from '../../request/backend.ts';
import { agentOf } from './agent.ts';
import { isGlobalUnicast } from './loopback.ts';

/** Servers of HTTP in the cluster, each under a path of this server. */

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
  const addresses = await proxyableAddresses(call, agent.host);
  if (port === '' || port === agent.port) return { ...agent, addresses, trust: 'agent' };
  return { scheme, host: agent.host, port, addresses, trust: 'none' };
});

/** A node with this server's own address would turn the proxy against this server. @throws StatusError 400 */
async function proxyableAddresses(call: ConnectCall, host: string): Promise<readonly string[]> {
  const addresses = await call.resolve(host).catch(() => {
    throw badRequest(`lookup ${host}: no such host`);
  });
  if (addresses.length === 0) throw badRequest('no addresses for hostname');
  if (!addresses.every(isGlobalUnicast)) throw badRequest('address not allowed');
  return addresses;
}

export const podProxy = proxy('PodProxyOptions', async (call) => {
  const { scheme, name, port } = parseTargetName(call.name, 'pod');
  const pod = await call.get(PODS, call.namespace, name);
  const host = pod.status?.podIPs?.[0]?.ip ?? '';
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
  return { scheme, host, port: port === '' ? firstPort(pod) : port, trust: 'none' };
});

/** The first port of the first container that has ports; '' for none. */
function firstPort({ spec = {} }: Pod): string {
  for (const { ports = [] } of spec.containers ?? [])
    if (ports[0] !== undefined) return String(ports[0].containerPort ?? '');
  return '';
}

export const serviceProxy = proxy('ServiceProxyOptions', async (call) => {
  const target = parseTargetName(call.name, 'service');
  const portName = await servicePortName(call, target);
  const { subsets = [] } = await call.get(ENDPOINTS, call.namespace, target.name);
  if (subsets.length === 0)
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(target.name)}`);
  for (const { addresses = [], ports = [] } of rotated(subsets)) {
    const found = ports.find(({ name = '' }) => name === portName);
    if (found === undefined) continue;
    for (const address of rotated(addresses)) {
      if (!(await belongsToPod(call, address))) continue;
      return { scheme: target.scheme, host: address.ip ?? '', port: String(found.port ?? ''), trust: 'none' };
    }
  }
  throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(call.name)}`);
});

/** Endpoints have named ports; a number is looked up in the service. @throws StatusError */
async function servicePortName(call: ConnectCall, { name, port }: TargetName): Promise<string> {
  if (!/^[+-]?\d+$/.test(port)) return port;
  const { spec = {} } = await call.get(SERVICES, call.namespace, name);
  const found = (spec.ports ?? []).find((one) => one.port === Number(port));
  if (found !== undefined) return found.name ?? '';
  throw serviceUnavailable(`no service port ${Number(port)} found for service ${JSON.stringify(name)}`);
}

/** A client that may write endpoints must not be able to send this server anywhere else. */
async function belongsToPod(call: ConnectCall, { ip, targetRef = {} }: EndpointAddress): Promise<boolean> {
  const { name = '', namespace } = targetRef;
  if (name === '' || namespace !== call.namespace) return false;
  const pod = await call.find(PODS, call.namespace, name);
  return (pod?.status?.podIPs ?? []).some((own) => own.ip === ip);
}

/** The items from a random one on, so that every endpoint gets requests. */
function rotated<T>(items: readonly T[]): T[] {
  const start = Math.floor(Math.random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}

interface TargetName {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number or a name; '' for none. */
  readonly port: string;
}

/** `name`, `name:port` or `scheme:name:port`. @throws StatusError 400. `kind` is for the message */
export function parseTargetName(text: string, kind: string): TargetName {
  const parts = text.split(':');
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  const known = scheme === '' || scheme === 'http' || scheme === 'https';
  if (parts.length > 3 || name === '' || !known) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(text)}`);
  }
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}
