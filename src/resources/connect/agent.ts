import { isIP } from 'node:net';
import { NODES } from '../../api/known-resources.ts';
import { badRequest, unknownError } from '../../api/status.ts';
import type { NodeStatus, Pod } from '../../api/types/core/v1.ts';
import type { ConnectCall } from '../../registry/resource-definition.ts';
import type { Backend } from '../../request/backend.ts';
import { containersOf } from '../pod/containers-of.ts';
import { isGlobalUnicast, isLoopback } from './loopback.ts';

/** Finds the backend of requests for a pod: the agent of its node, and one of its containers. */

/** The default port of node agents. */
const DEFAULT_PORT = 10250;

interface AgentAddress extends Pick<Backend, 'speaksWebSocket'> {
  readonly scheme: 'https';
  readonly host: string;
  readonly port: string;
}

/** @throws StatusError NotFound, or 500 for a node without an address of a preferred type */
export async function agentOf(call: ConnectCall, nodeName: string): Promise<AgentAddress> {
  const { status = {} } = await call.get(NODES, '', nodeName);
  const { Port: port = 0 } = status.daemonEndpoints?.kubeletEndpoint ?? {};
  return {
    scheme: 'https',
    host: preferredAddress(status, call.agentAddressTypes),
    port: String(port > 0 ? port : DEFAULT_PORT),
    speaksWebSocket: (status.declaredFeatures ?? []).includes('ExtendWebSocketsToKubelet'),
  };
}

/**
 * The agent of a pod's node, at its permitted addresses. Loopback is permitted: agents and servers of small clusters share a
 * machine, and clients do not choose the path of these requests. @throws StatusError 400 and as agentOf
 */
export async function streamingAgentOf(
  call: ConnectCall,
  nodeName: string,
): Promise<AgentAddress & Pick<Backend, 'addresses'>> {
  const agent = await agentOf(call, nodeName);
  if (call.resolvesAfar && isIP(agent.host) === 0) return agent;
  // The transport reports an unknown host, in the words of each client.
  const addresses = await call.resolve(agent.host).catch((): readonly string[] => []);
  if (!addresses.every((address) => isGlobalUnicast(address) || isLoopback(address)))
    throw badRequest('address not allowed');
  return { ...agent, addresses };
}

function preferredAddress({ addresses = [] }: NodeStatus, types: readonly string[]): string {
  for (const type of types) {
    const found = addresses.find((address) => address.type === type);
    if (found !== undefined) return found.address ?? '';
  }
  const known = addresses.map(({ type = '', address = '' }) => `{${type} ${address}}`);
  throw unknownError(`no preferred addresses found; known addresses: [${known.join(' ')}]`);
}

/** The requested container; a pod with one container needs no name. @throws StatusError 400 */
export function chooseContainer({ metadata, spec = {} }: Pod, asked: string): string {
  const { name: podName = '' } = metadata;
  const all = containersOf(spec).map(({ container }) => container.name ?? '');
  if (asked !== '') {
    if (all.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${podName}`);
  }
  const [only, ...others] = spec.containers ?? [];
  if (only !== undefined && others.length === 0) return only.name ?? '';
  const choices = only === undefined ? '' : `, choose one of: [${all.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${podName}${choices}`);
}
