import { defineFlags } from '../flag.ts';

/** Flags under the heading TLS. */
export const tlsFlags = defineFlags('TLS', [
  {
    name: 'tls-cert-file',
    type: 'string',
    default: '',
    meaning:
      'default certificate (CA certificates appended); when certificate and key are missing a self-signed pair is generated into the certificate directory',
  },
  { name: 'tls-private-key-file', type: 'string', default: '', meaning: 'matching private key' },
  {
    name: 'tls-sni-cert-key',
    type: 'repeated',
    default: [],
    meaning:
      'certificate and key paths, optionally followed by a colon and domain patterns; repeatable; non-wildcard matches win over wildcards and explicit patterns win over extracted names',
  },
  {
    name: 'tls-min-version',
    type: 'string',
    default: '',
    meaning: 'VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13',
  },
  {
    name: 'tls-cipher-suites',
    type: 'strings',
    default: [],
    meaning: 'list of suites; default is the runtime default',
  },
]);
