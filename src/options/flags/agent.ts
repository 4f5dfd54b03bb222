import { defineFlags } from '../flag.ts';

/** Flags under the heading Node agents. */
export const agentFlags = defineFlags('Node agents', [
  { name: 'agent-certificate-authority', type: 'string', default: '', meaning: 'CA file', effective: false },
  {
    name: 'agent-client-certificate',
    type: 'string',
    default: '',
    meaning: 'client certificate and key for TLS',
    effective: false,
  },
  {
    name: 'agent-client-key',
    type: 'string',
    default: '',
    meaning: 'client certificate and key for TLS',
    effective: false,
  },
  {
    name: 'agent-preferred-address-types',
    type: 'strings',
    default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    meaning: 'preferred node address types',
    effective: false,
  },
  {
    name: 'agent-timeout',
    type: 'duration',
    default: '5s',
    meaning: 'timeout for node agent operations',
    effective: false,
  },
]);
