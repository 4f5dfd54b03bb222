import { bothOrNeither } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { duration, list, text } from './flag.ts';

export const agentFlags = {
  caFile: text('agent-certificate-authority', {
    default: '',
    meaning: 'CA file that certificates of node agents are checked by; without one they are not checked',
  }),
  certFile: text('agent-client-certificate', {
    default: '',
    meaning: 'certificate that node agents are shown',
  }),
  keyFile: text('agent-client-key', { default: '', meaning: 'key of --agent-client-certificate' }),
  addressTypes: list('agent-preferred-address-types', {
    default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    meaning: 'types of node addresses, the first that a node has is used',
  }),
  timeoutMs: duration('agent-timeout', {
    default: '5s',
    meaning: 'how long connecting to a node agent may take, and its first answer unless it may wait for news',
  }),
};

/** How node agents are reached. */
export type AgentOptions = ReturnType<typeof readAgents>;

/** @throws UsageError */
export function readAgents(line: CommandLine) {
  const agents = line.valuesOf(agentFlags);
  bothOrNeither(
    { flag: agentFlags.certFile, file: agents.certFile },
    { flag: agentFlags.keyFile, file: agents.keyFile },
  );
  return Object.freeze(agents);
}
