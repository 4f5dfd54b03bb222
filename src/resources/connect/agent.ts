import type { ApiObject } from '../../api/object-meta.ts';
import { unknownError } from '../../api/status.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import type { ConnectCall } from '../../registry/definition.ts';

/** Where a node's agent listens unless the node says otherwise. */
const DEFAULT_PORT = 10250;

export interface AgentAddress {
  readonly scheme: 'https';
  readonly host: string;
  readonly port: string;
}

/** @throws StatusError NotFound, or 500 for a node without an address of a preferred type */
export async function agentOf(call: ConnectCall, nodeName: string): Promise<AgentAddress> {
  const node = await call.get({ group: '', resource: 'nodes' }, '', nodeName);
  const port = count(part(node, 'status', 'daemonEndpoints', 'kubeletEndpoint').Port);
  return {
    scheme: 'https',
    host: preferredAddress(node, call.agentAddressTypes),
    port: String(port > 0 ? port : DEFAULT_PORT),
  };
}

function preferredAddress(node: ApiObject, types: readonly string[]): string {
  const addresses = parts(part(node, 'status'), 'addresses');
  for (const type of types) {
    const found = addresses.find((address) => address.type === type);
    if (found !== undefined) return text(found.address);
  }
  const known = addresses.map(({ type, address }) => `{${text(type)} ${text(address)}}`);
  throw unknownError(`no preferred addresses found; known addresses: [${known.join(' ')}]`);
}
