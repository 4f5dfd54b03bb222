import { defineFlags } from '../flag.ts';

/** Flags under the heading Node agents. */
export const agentFlags = defineFlags('Node agents', [
  {
    name: 'agent-certificate-authority',
    type: 'string',
    default: '',
    meaning: 'CA file that certificates of node agents are checked by; without one they are not checked',
  },
  {
    name: 'agent-client-certificate',
    type: 'string',
    default: '',
    meaning: 'certificate that node agents are shown',
  },
  {
    name: 'agent-client-key',
    type: 'string',
    default: '',
    meaning: 'key of --agent-client-certificate',
  },
  {
    name: 'agent-preferred-address-types',
    type: 'strings',
    default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    meaning: 'types of node addresses, the first that a node has is used',
  },
  {
    name: 'agent-timeout',
    type: 'duration',
    default: '5s',
    meaning: 'how long connecting to a node agent may take, and its first answer unless it may wait for news',
  },
]);
