import type { ResourceOf } from '../../api/names.ts';
import { badRequest, unknownError } from '../../api/status.ts';
import type { Node, NodeStatus, Pod } from '../../api/types/core/v1.ts';
import type { ConnectCall } from '../../registry/definition.ts';
import { containersOf } from '../pod/containers-of.ts';

/** Where requests for a pod go: to the agent of its node, for one of its containers. */

export const PODS: ResourceOf<Pod> = { group: '', resource: 'pods' };
const NODES: ResourceOf<Node> = { group: '', resource: 'nodes' };

/** Where a node's agent listens unless the node says otherwise. */
const DEFAULT_PORT = 10250;

export interface AgentAddress {
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
  };
}

function preferredAddress({ addresses = [] }: NodeStatus, types: readonly string[]): string {
  for (const type of types) {
    const found = addresses.find((address) => address.type === type);
    if (found !== undefined) return found.address ?? '';
  }
  const known = addresses.map(({ type = '', address = '' }) => `{${type} ${address}}`);
  throw unknownError(`no preferred addresses found; known addresses: [${known.join(' ')}]`);
}

/** The container by the name asked for; a pod with one container needs no name. @throws StatusError 400 */
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
