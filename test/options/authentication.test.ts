import { expect, test } from 'vitest';
import { parseOptions } from '../../src/options/options.ts';

const read = (...args: string[]) => parseOptions(args).authentication;
const refuse = (why: string, ...args: string[]): void => {
  expect(() => parseOptions(args)).toThrow(why);
};

test('without flags a cluster issues tokens for itself, in its own name', () => {
  const { serviceAccounts, apiAudiences, oidc, frontProxy, webhook } = read();
  const issuer = 'https://kubernetes.default.svc.cluster.local';
  expect(serviceAccounts).toEqual({
    issuers: [issuer],
    jwksUri: '',
    keyFiles: [],
    signingKeyFile: '',
    lookup: true,
    maxExpirationSeconds: 0,
    extendsExpiration: true,
    signingEndpoint: '',
  });
  expect(apiAudiences).toEqual([issuer]);
  expect([oidc, frontProxy]).toEqual([undefined, undefined]);
  expect(webhook).toEqual({ configFile: '', version: 'v1beta1', cacheTtlMs: 120_000 });
});

test('the API is the audience of every issuer unless it is named', () => {
  const issuers = ['--service-account-issuer=https://a', '--service-account-issuer=https://b'];
  expect(read(...issuers).apiAudiences).toEqual(['https://a', 'https://b']);
  expect(read(...issuers, '--api-audiences=x,y').apiAudiences).toEqual(['x', 'y']);
});

test('issuers and keys that cannot be are refused', () => {
  refuse('given more than once', '--service-account-issuer=a,a');
  refuse('not a valid URL', '--service-account-issuer=https://[');
  refuse('needs --service-account-key-file', '--service-account-signing-key-file=k');
  refuse('must be an https URL', '--service-account-jwks-uri=http://x/jwks');
  refuse('between 1 hour and 2^32 seconds', '--service-account-max-token-expiration=30m');
  expect(read('--service-account-max-token-expiration=2h').serviceAccounts.maxExpirationSeconds).toBe(7200);
});

test('tokens are verified by the key of the serving certificate unless others are named', () => {
  const tls = ['--tls-cert-file=c', '--tls-private-key-file=k'];
  expect(read(...tls).serviceAccounts.keyFiles).toEqual(['k']);
  expect(read(...tls, '--service-account-key-file=a,b').serviceAccounts.keyFiles).toEqual(['a', 'b']);
});

test('a provider needs its address and our name there', () => {
  refuse('must be given together', '--oidc-issuer-url=https://idp');
  refuse('must be given together', '--oidc-client-id=x');
  refuse('must be given together', '--oidc-groups-claim=x');
  const both = ['--oidc-issuer-url=https://idp', '--oidc-client-id=x'];
  expect(read(...both).oidc).toMatchObject({ usernameClaim: 'sub', algorithms: ['RS256'], caFile: '' });
  refuse('must be an https URL', '--oidc-issuer-url=http://idp', '--oidc-client-id=x');
  refuse('"HS256" is not supported', ...both, '--oidc-signing-algs=HS256');
  refuse('not of the form key=value', ...both, '--oidc-required-claim=x');
  const claims = read(...both, '--oidc-required-claim=a=1,2', '--oidc-required-claim=b=x=y').oidc;
  expect([...(claims?.requiredClaims ?? [])]).toEqual([
    ['a', '1,2'],
    ['b', 'x=y'],
  ]);
});

test('the file and the flags of a provider exclude each other', () => {
  refuse('are mutually exclusive', '--authentication-config=f', '--oidc-client-id=x');
  refuse(
    'needs --feature-gates',
    '--authentication-config=f',
    '--feature-gates=StructuredAuthenticationConfiguration=false',
  );
  expect(read('--authentication-config=f', '--anonymous-auth=false').anonymousIsSet).toBe(true);
});

test('a webhook speaks one of two versions, and headers have names', () => {
  refuse('must be v1 or v1beta1', '--authentication-token-webhook-version=v2');
  refuse('a header has no empty name', '--requestheader-username-headers=a,,b');
  expect(
    read('--requestheader-client-ca-file=ca', '--requestheader-username-headers=X-A').frontProxy,
  ).toEqual({
    caFile: 'ca',
    allowedNames: [],
    usernameHeaders: ['X-A'],
    uidHeaders: [],
    groupHeaders: [],
    extraHeaderPrefixes: [],
  });
});
