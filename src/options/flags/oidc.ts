import { defineFlags } from '../flag.ts';

/** Flags under the heading OpenID Connect. */
export const oidcFlags = defineFlags('OpenID Connect', [
  {
    name: 'oidc-issuer-url',
    type: 'string',
    default: '',
    meaning: 'issuer URL; HTTPS only; used to verify ID tokens (JWT)',
  },
  {
    name: 'oidc-client-id',
    type: 'string',
    default: '',
    meaning: 'client id; required when the issuer is set',
  },
  {
    name: 'oidc-ca-file',
    type: 'string',
    default: '',
    meaning: "authorities for the issuer's certificate; otherwise the host's root set",
  },
  {
    name: 'oidc-username-claim',
    type: 'string',
    default: 'sub',
    meaning: 'claim used as user name; other claims are not guaranteed unique',
  },
  {
    name: 'oidc-username-prefix',
    type: 'string',
    default: '',
    meaning:
      'prefix for user names; claims other than email get the issuer URL by default; value - means no prefix',
  },
  {
    name: 'oidc-groups-claim',
    type: 'string',
    default: '',
    meaning: 'claim holding groups (string or array of strings)',
  },
  { name: 'oidc-groups-prefix', type: 'string', default: '', meaning: 'prefix for groups' },
  {
    name: 'oidc-required-claim',
    type: 'strings',
    default: [],
    meaning: 'key=value pair that must be in the ID token; repeatable',
  },
  {
    name: 'oidc-signing-algs',
    type: 'strings',
    default: ['RS256'],
    meaning:
      'allowed algorithms; supported RS256 / RS384 / RS512 / ES256 / ES384 / ES512 / PS256 / PS384 / PS512',
  },
]);
