import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { CompactSign } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { type Authenticator, type Credentials, createUnion } from '../../src/authn/authenticator.ts';
import { BootstrapTokens } from '../../src/authn/bootstrap-token.ts';
import {
  CertificateAuthorities,
  createCertificateAuthenticator,
} from '../../src/authn/client-certificate.ts';
import { createFrontProxyAuthenticator } from '../../src/authn/front-proxy.ts';
import { parseAuthenticationConfig } from '../../src/authn/jwt/authentication-config.ts';
import { JwtAuthenticators } from '../../src/authn/jwt/jwt-authenticator.ts';
import type { LiveObjects } from '../../src/authn/live-objects.ts';
import { BoundTokens } from '../../src/authn/service-account/bound-tokens.ts';
import { signWith, TokenIssuer } from '../../src/authn/service-account/issuer.ts';
import { readSigningKey, readVerificationKeys } from '../../src/authn/service-account/key-ring.ts';
import { LEGACY_ISSUER, LegacyTokens } from '../../src/authn/service-account/legacy-tokens.ts';
import { SignedTokens } from '../../src/authn/service-account/signed-tokens.ts';
import {
  createBearerAuthenticator,
  createTokenUnion,
  forAudiences,
  readTokenFile,
  type TokenAuthenticator,
  TokenCache,
} from '../../src/authn/token.ts';
import { TokenWebhook } from '../../src/authn/token-webhook.ts';
import { cases } from '../kit/cases.ts';
import { Authority } from '../kit/pki.ts';

/** The promises of every authenticator. */

const folder = mkdtempSync(join(tmpdir(), 'authenticators-'));
afterAll(() => rmSync(folder, { recursive: true }));

function save(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ISSUER = 'https://cluster.example.com';
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keyFile = save('key.pem', keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
const signed = (issuers: readonly string[]): SignedTokens =>
  new SignedTokens({ issuers, keys: () => readVerificationKeys(keyFile), apiAudiences: ['api'] });
const issuer = new TokenIssuer({
  issuer: ISSUER,
  signClaims: (claims) => signWith(claims, readSigningKey(keyFile)),
  maxExtendedSeconds: 0,
  apiAudiences: ['api'],
  maxExpirationSeconds: 0,
  extendsExpiration: false,
  numbersTokens: false,
  bindsNodes: true,
  checksUids: false,
  tellsNodes: true,
});
const boundToken = await issuer.sign({
  namespace: 'ns',
  account: { name: 'sa', uid: 'sa-1' },
  audiences: ['api'],
  expirationSeconds: 600,
  issuedAt: new Date(),
});
const CLAIM = 'kubernetes.io/serviceaccount/';
const legacyToken = await new CompactSign(
  Buffer.from(
    JSON.stringify({
      iss: LEGACY_ISSUER,
      sub: 'system:serviceaccount:ns:sa',
      [`${CLAIM}namespace`]: 'ns',
      [`${CLAIM}secret.name`]: 'secret',
      [`${CLAIM}service-account.name`]: 'sa',
      [`${CLAIM}service-account.uid`]: 'sa-1',
    }),
  ),
)
  .setProtectedHeader({ alg: 'ES256' })
  .sign(keys.privateKey);

const secretOf = (name: string, fields: JsonObject): ApiObject => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name, uid: `${name}-1` },
  ...fields,
});
const OBJECTS: Readonly<Record<string, ApiObject>> = {
  'serviceaccounts/sa': { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'sa', uid: 'sa-1' } },
  'secrets/secret': secretOf('secret', { data: { token: base64(legacyToken) } }),
  'secrets/bootstrap-token-abcdef': secretOf('bootstrap-token-abcdef', {
    type: 'bootstrap.kubernetes.io/token',
    data: {
      'token-id': base64('abcdef'),
      'token-secret': base64('0123456789abcdef'),
      'usage-bootstrap-authentication': base64('true'),
    },
  }),
};
const objects: LiveObjects = { find: async (resource, { name }) => OBJECTS[`${resource}/${name}`] };
const broken: LiveObjects = { find: () => Promise.reject(new Error('out of order')) };

const webhookBy = (answer: (token: string) => JsonObject | Error): TokenWebhook =>
  new TokenWebhook({
    version: 'v1',
    apiAudiences: ['api'],
    post: async ({ spec }) => {
      const status = answer(String((spec as { token?: string }).token));
      if (status instanceof Error) throw status;
      return { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', status };
    },
    isTransient: () => false,
    pauseFor: async () => {},
  });

const tokenFile = readTokenFile(save('tokens.csv', 'secret-token,ann,u1,"devs"\n'));
const cached = (tokens: TokenAuthenticator) =>
  new TokenCache({ tokens, successTtlMs: 1000, failureTtlMs: 1000 });
const webhook = webhookBy((token) =>
  token === 'secret-token' ? { authenticated: true, user: { username: 'ann' } } : { authenticated: false },
);
/** Of a provider that has never been reached. */
const unreachable = new JwtAuthenticators({
  configs: parseAuthenticationConfig(
    stringify({
      apiVersion: 'apiserver.config.k8s.io/v1beta1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: { url: 'https://idp.example.com', audiences: ['api'] },
          claimMappings: { username: { claim: 'sub', prefix: '' } },
        },
      ],
    }),
    { disallowedIssuers: [], anonymousAllowed: true, egressAllowed: true },
  ).jwt,
  apiAudiences: ['api'],
  createGet: () => () => Promise.reject(new Error('out of order')),
  onError: () => {},
});

interface TokenCase {
  readonly name: string;
  readonly tokens: TokenAuthenticator;
  readonly token: string | undefined;
  readonly username?: string;
}

const CASES: readonly TokenCase[] = [
  { name: 'a token file', tokens: tokenFile, token: 'secret-token', username: 'ann' },
  { name: 'a token webhook', tokens: webhook, token: 'secret-token', username: 'ann' },
  { name: 'a cache', tokens: cached(tokenFile), token: 'secret-token', username: 'ann' },
  {
    name: 'tokens for audiences',
    tokens: forAudiences(['api'], tokenFile),
    token: 'secret-token',
    username: 'ann',
  },
  {
    name: 'bootstrap tokens',
    tokens: new BootstrapTokens(objects),
    token: 'abcdef.0123456789abcdef',
    username: 'system:bootstrap:abcdef',
  },
  {
    name: 'bound tokens',
    tokens: new BoundTokens({ tokens: signed([ISSUER]), objects, acceptsNodes: true }),
    token: boundToken,
    username: 'system:serviceaccount:ns:sa',
  },
  {
    name: 'legacy tokens',
    tokens: new LegacyTokens({ tokens: signed([LEGACY_ISSUER]), objects }),
    token: legacyToken,
    username: 'system:serviceaccount:ns:sa',
  },
  { name: 'an issuer that is not reached', tokens: unreachable, token: undefined },
  {
    name: 'all of them',
    tokens: createTokenUnion([unreachable, new BootstrapTokens(objects), cached(tokenFile)]),
    token: 'secret-token',
    username: 'ann',
  },
];

/** What an authenticator answers, as text: a user, no user, or an error. */
async function ask(tokens: TokenAuthenticator, token: string, audiences = ['api']): Promise<string> {
  try {
    const found = await tokens.authenticate(token, audiences);
    return found === undefined ? 'no user' : `user ${found.user.username}`;
  } catch (error) {
    return error instanceof Error ? 'error' : 'thrown';
  }
}

describe.each(CASES)('$name', ({ tokens, token, username }) => {
  test('its token names its user, for the audiences that were asked', async () => {
    if (token === undefined) return;
    const found = await tokens.authenticate(token, ['api', 'other']);
    expect(found?.user.username).toBe(username);
    expect(found?.user.groups).toBeInstanceOf(Array);
    for (const audience of found?.audiences ?? []) expect(['api', 'other']).toContain(audience);
  });

  test('any other text names no user, and a text of another kind is no error', { tags: 'long' }, async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'abcdef0123456789.') }),
      fc.constantFrom('', '.', '..', 'e30.e30.', 'a.b.c', '\0', 'x'.repeat(100_000), '__proto__'),
    );
    const strings = text.filter((one) => one !== token);
    await fc.assert(
      fc.asyncProperty(strings, async (one) => {
        expect(await ask(tokens, one)).toBe('no user');
      }),
      { seed: 13, numRuns: cases(100) },
    );
  });

  test('its token with one character changed names no user', async () => {
    if (token === undefined) return;
    // The last character of a signature has bits that mean nothing.
    for (let at = 0; at < token.length - 1; at += Math.ceil(token.length / 40)) {
      const changed = `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`;
      expect(['no user', 'error']).toContain(await ask(tokens, changed));
    }
  });
});

test('a token that cannot be looked up is an error, also through a cache and a union', async () => {
  const down = webhookBy(() => new Error('out of order'));
  const cases: readonly (readonly [TokenAuthenticator, string])[] = [
    [down, 'any'],
    [new BootstrapTokens(broken), 'abcdef.0123456789abcdef'],
    [new BoundTokens({ tokens: signed([ISSUER]), objects: broken, acceptsNodes: true }), boundToken],
    [new LegacyTokens({ tokens: signed([LEGACY_ISSUER]), objects: broken }), legacyToken],
  ];
  for (const [tokens, token] of cases)
    for (const wrapped of [tokens, cached(tokens), createTokenUnion([tokenFile, tokens])])
      expect(await ask(wrapped, token)).toBe('error');
});

test('the uid in a certificate is the uid of its user where the feature is on', async () => {
  const authority = await Authority.create('uids');
  const authorities = new CertificateAuthorities(
    'client-ca-file',
    [save('uids.crt', authority.pem)],
    () => {},
  );
  const find = async (readsUids: boolean, subject: string) => {
    const chain = [new X509Certificate((await authority.issue({ subject })).cert).raw];
    const authenticator = createCertificateAuthenticator(authorities, readsUids);
    return authenticator.authenticate({ headers: {}, raw: { headers: [] }, peerCertificate: { chain } });
  };
  const one = 'CN=ann, 1.3.6.1.4.1.57683.2=uid-1';
  expect(await find(true, one)).toMatchObject({ user: { username: 'ann', uid: 'uid-1' } });
  expect(await find(false, one)).toMatchObject({ user: { username: 'ann', uid: '' } });
  expect(await find(true, 'CN=ann')).toMatchObject({ user: { uid: '' } });
  await expect(find(true, `${one}, 1.3.6.1.4.1.57683.2=uid-2`)).rejects.toThrow(
    'expected 1 UID, but found multiple: uid-1, uid-2',
  );
});

test('each request with a certificate tells how long the certificate lasts, trusted or not', async () => {
  const authority = await Authority.create('lasting');
  const files = [save('lasting.crt', authority.pem)];
  const authorities = new CertificateAuthorities('client-ca-file', files, () => {});
  const seen: number[] = [];
  const expiry = { observe: (seconds: number) => seen.push(seconds) };
  const authenticator = createCertificateAuthenticator(authorities, false, expiry);
  for (const by of [authority, await Authority.create('unknown')]) {
    const leaf = new X509Certificate((await by.issue({ subject: 'CN=ann' })).cert);
    const peerCertificate = { chain: [leaf.raw] };
    const ask = async () =>
      authenticator.authenticate({ headers: {}, raw: { headers: [] }, peerCertificate });
    await Promise.allSettled([ask(), ask()]);
    const left = (Date.parse(leaf.validTo) - Date.now()) / 1000;
    expect(seen.splice(0).map((seconds) => Math.abs(seconds - left) < 60)).toEqual([true, true]);
  }
});

describe('authenticators of requests', async () => {
  const authority = await Authority.create('ours');
  const stranger = await Authority.create('theirs');
  const authorities = new CertificateAuthorities('client-ca-file', [save('ca.crt', authority.pem)], () => {});
  const peer = async (by: Authority, subject: string) => ({
    chain: [new X509Certificate((await by.issue({ subject })).cert).raw],
  });
  const headers = {
    usernames: ['x-remote-user'],
    uids: ['X-Remote-Uid'],
    groups: ['x-remote-group'],
    extra: ['x-remote-extra-'],
  };
  const proxy = createFrontProxyAuthenticator({ authorities, allowedNames: ['proxy'], headers });
  const bearer = createBearerAuthenticator(tokenFile, ['api']);
  const certificate = createCertificateAuthenticator(authorities);

  const credentials = (more: Partial<Credentials> = {}, raw: readonly string[] = []): Credentials => {
    const named = Object.fromEntries(raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]]] : [])));
    return { headers: named, peerCertificate: undefined, raw: { headers: raw }, ...more };
  };
  const remote = ['x-remote-user', 'ann'];

  const CASES: readonly (readonly [string, Authenticator, Credentials, Credentials])[] = [
    [
      'a front proxy of any name',
      createFrontProxyAuthenticator({ authorities, allowedNames: [], headers }),
      credentials({ peerCertificate: await peer(authority, 'CN=whoever') }, remote),
      credentials({ peerCertificate: await peer(stranger, 'CN=proxy') }, remote),
    ],
    [
      'certificates',
      certificate,
      credentials({ peerCertificate: await peer(authority, 'CN=ann, O=devs') }),
      credentials({ peerCertificate: await peer(stranger, 'CN=ann') }),
    ],
    [
      'a front proxy',
      proxy,
      credentials({ peerCertificate: await peer(authority, 'CN=proxy') }, remote),
      credentials({ peerCertificate: await peer(authority, 'CN=ann') }, remote),
    ],
    [
      'bearer tokens',
      bearer,
      credentials({}, ['authorization', 'Bearer secret-token']),
      credentials({}, ['authorization', 'Bearer other']),
    ],
    [
      'all of them',
      createUnion([proxy, certificate, bearer]),
      credentials({}, ['authorization', 'Bearer secret-token']),
      credentials({ peerCertificate: await peer(stranger, 'CN=ann') }),
    ],
  ];

  test.each(CASES)(
    '%s: right credentials name a user, wrong ones are an error, absent ones are no answer',
    async (_, authenticator, right, wrong) => {
      expect((await authenticator.authenticate(right))?.user.username).toBe('ann');
      await expect((async () => authenticator.authenticate(wrong))()).rejects.toThrow();
      expect(await authenticator.authenticate(credentials())).toBeUndefined();
      expect(await authenticator.authenticate(credentials({}, remote))).toBeUndefined();
      expect(await authenticator.authenticate(credentials({}, ['authorization', 'Basic x']))).toBeUndefined();
    },
  );

  test('one kind of wrong credentials does not matter beside right ones of another', async () => {
    const union = createUnion([proxy, certificate, bearer]);
    const both = credentials({ peerCertificate: await peer(stranger, 'CN=eve') }, [
      'authorization',
      'Bearer secret-token',
    ]);
    expect((await union.authenticate(both))?.user.groups).toContain('system:authenticated');
  });
});
