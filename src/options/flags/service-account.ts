import { defineFlags } from '../flag.ts';

/** Flags under the heading Service account tokens. */
export const serviceAccountFlags = defineFlags('Service account tokens', [
  {
    name: 'service-account-issuer',
    type: 'strings',
    default: [],
    meaning:
      'issuer id in the iss claim; should be an HTTPS URL serving discovery; the first is used to issue, all are accepted; https://kubernetes.default.svc.cluster.local when none is given',
  },
  {
    name: 'service-account-jwks-uri',
    type: 'string',
    default: '',
    meaning: 'overrides the key set URI in the discovery document',
  },
  {
    name: 'service-account-key-file',
    type: 'strings',
    default: ['TLS private key file'],
    meaning: 'PEM keys (RSA or ECDSA) used to verify tokens; required when a signing key is given',
  },
  {
    name: 'service-account-signing-key-file',
    type: 'string',
    default: '',
    meaning:
      'private key that signs issued tokens; when none is given, one is made and kept in the database, and rotate-signing-key makes the next',
  },
  {
    name: 'service-account-lookup',
    type: 'bool',
    default: true,
    meaning: 'check that tokens exist in storage',
  },
  {
    name: 'service-account-max-token-expiration',
    type: 'duration',
    default: undefined,
    meaning: 'longest validity; longer requests are shortened to it',
  },
  {
    name: 'service-account-extend-token-expiration',
    type: 'bool',
    default: true,
    meaning: 'injected tokens valid up to 1 year, ignoring the maximum',
  },
]);
