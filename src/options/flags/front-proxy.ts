import { defineFlags } from '../flag.ts';

/** Flags under the heading Front proxy. */
export const frontProxyFlags = defineFlags('Front proxy', [
  {
    name: 'requestheader-client-ca-file',
    type: 'string',
    default: '',
    meaning: 'bundle that verifies client certificates before trusting header identities',
  },
  {
    name: 'requestheader-allowed-names',
    type: 'strings',
    default: [],
    meaning: 'allowed certificate common names; empty means any verified certificate',
  },
  {
    name: 'requestheader-username-headers',
    type: 'strings',
    default: [],
    meaning: 'headers for user name, for example X-Remote-User',
  },
  {
    name: 'requestheader-group-headers',
    type: 'strings',
    default: [],
    meaning: 'headers for groups, for example X-Remote-Group',
  },
  {
    name: 'requestheader-extra-headers-prefix',
    type: 'strings',
    default: [],
    meaning: 'prefixes for extra attributes, for example X-Remote-Extra-',
  },
  {
    name: 'proxy-client-cert-file',
    type: 'string',
    default: '',
    meaning: 'identity of the server when it calls out to admission webhooks',
  },
  {
    name: 'proxy-client-key-file',
    type: 'string',
    default: '',
    meaning: 'identity of the server when it calls out to admission webhooks',
  },
]);
