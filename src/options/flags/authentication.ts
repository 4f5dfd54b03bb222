import { defineFlags } from '../flag.ts';

/** Flags under the heading Authentication. */
export const authenticationFlags = defineFlags('Authentication', [
  {
    name: 'anonymous-auth',
    type: 'bool',
    default: true,
    meaning:
      'requests not rejected by another authenticator are anonymous, with user name system:anonymous and group system:unauthenticated',
  },
  {
    name: 'token-auth-file',
    type: 'string',
    default: '',
    meaning: 'static token file securing the secure port',
  },
  {
    name: 'client-ca-file',
    type: 'string',
    default: '',
    meaning:
      'a client certificate signed by these authorities authenticates with the certificate CommonName as identity',
  },
  {
    name: 'enable-bootstrap-token-auth',
    type: 'bool',
    default: false,
    meaning: 'allow bootstrap-type secrets in the kube-system namespace for TLS bootstrapping',
  },
  {
    name: 'authentication-config',
    type: 'string',
    default: '',
    meaning:
      'file configuring the token (JWT) authenticator or the anonymous authenticator; needs StructuredAuthenticationConfiguration; exclusive with the oidc-* flags; anonymous configuration needs AnonymousAuthConfigurableEndpoints and excludes --anonymous-auth',
  },
  {
    name: 'authentication-token-webhook-config-file',
    type: 'string',
    default: '',
    meaning: 'client configuration format file; the server asks the remote service about bearer tokens',
  },
  {
    name: 'authentication-token-webhook-version',
    type: 'string',
    default: 'v1beta1',
    meaning: 'TokenReview API version sent and expected',
  },
  {
    name: 'authentication-token-webhook-cache-ttl',
    type: 'duration',
    default: '2m0s',
    meaning: 'cache time of webhook answers',
  },
  {
    name: 'api-audiences',
    type: 'strings',
    default: [],
    meaning: 'identifiers of the API; service account tokens must be bound to one',
  },
]);
