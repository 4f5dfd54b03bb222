// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { TestIdentityProvider } from '../kit/identity-provider.ts';
import { Authority } from '../kit/pki.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let folder: string;
let authority: Authority;
let provider: TestIdentityProvider;
let byFlags: Cluster;
let byFile: Cluster;
let configFile: string;

const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'identity-'));
  authority = await Authority.create('providers');
  provider = await TestIdentityProvider.start(await authority.issue({ subject: 'CN=idp', serves: true }));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.pem);
  configFile = join(folder, 'authentication.yaml');
  writeConfig({});
  const gates = '--feature-gates=AnonymousAuthConfigurableEndpoints=true';
  const modes = '--authorization-mode=RBAC';
  byFlags = await startCluster(database.url, [
    modes,
    `--oidc-issuer-url=${provider.url}`,
    '--oidc-client-id=cluster',
    `--oidc-ca-file=${caFile}`,
    '--oidc-username-claim=email',
    '--oidc-username-prefix=idp:',
    '--oidc-groups-claim=roles',
    '--oidc-groups-prefix=idp:',
    '--oidc-required-claim=tenant=blue,green',
    '--oidc-signing-algs=RS256,ES256',
  ]);
  byFile = await startCluster(database.url, [modes, gates, `--authentication-config=${configFile}`]);
});

afterAll(async () => {
  await byFlags[Symbol.asyncDispose]();
  await byFile[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

function writeConfig(jwt: object): void {
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: [{ path: '/version' }] },
    jwt: [
      {
        issuer: {
          url: provider.url,
          discoveryURL: `${provider.url}/elsewhere`,
          certificateAuthority: authority.pem,
          audiences: ['cluster', 'other'],
          audienceMatchPolicy: 'MatchAny',
        },
        claimValidationRules: [
          { expression: "claims.tenant.matches('^blue')", message: 'the tenant must be blue' },
          { claim: 'hd', requiredValue: 'example.com' },
        ],
        claimMappings: {
          username: { expression: "claims.sub + '@' + claims.hd" },
          groups: { expression: "claims.roles.map(r, 'team:' + r)" },
          uid: { claim: 'oid' },
          extra: [{ key: 'example.com/level', valueExpression: 'string(claims.level)' }],
        },
        userValidationRules: [
          { expression: "!user.username.startsWith('system:')", message: 'no system users' },
        ],
        ...jwt,
      },
    ],
  };
  writeFileSync(configFile, stringify(config));
}

const whoami = async (cluster: Cluster, token: string) => {
  const { code, json } = await cluster.bearer(token, 'POST', WHOAMI, {});
  return code === 201 ? json.status.userInfo : code;
};
const reasonOf = async (cluster: Cluster, token: string): Promise<string> => {
  const { json } = await cluster.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token },
  });
  return json.status.error ?? 'let in';
};

const mail = { aud: 'cluster', email: 'ann@example.com', email_verified: true, tenant: 'blue,green' };
const file = {
  aud: ['x', 'other'],
  sub: 'ann',
  hd: 'example.com',
  roles: ['dev'],
  oid: 'o-1',
  level: 3,
  tenant: 'blue-1',
};

test('the flags say which claims name a user and the groups', async () => {
  const token = await provider.token({ ...mail, roles: ['dev', 'ops'] });
  await expect
    .poll(() => whoami(byFlags, token))
    .toMatchObject({
      username: 'idp:ann@example.com',
      groups: ['idp:dev', 'idp:ops', 'system:authenticated'],
    });
  const one = await whoami(byFlags, await provider.token({ ...mail, roles: 'dev' }));
  expect(one.groups).toEqual(['idp:dev', 'system:authenticated']);
});

test('tokens that are not for this cluster, in time, or as required are refused', async () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const refused: [object, object, string][] = [
    [{ ...mail, aud: 'somebody' }, {}, 'expected audience in ["cluster"]'],
    [{ ...mail, exp: nowSeconds - 1 }, {}, 'token is expired'],
    [{ ...mail, exp: undefined }, {}, 'token is expired'],
    [{ ...mail, nbf: nowSeconds + 600 }, {}, 'nbf'],
    [{ ...mail, tenant: 'red' }, {}, 'required claim tenant value does not match'],
    [{ ...mail, email_verified: false }, {}, 'email not verified'],
    [{ ...mail, email: 7 }, {}, 'parse username claims "email"'],
    [{ ...mail, roles: [1] }, {}, 'parse groups claim "roles"'],
    [mail, { kid: 'unknown' }, 'invalid signature'],
    [{ ...mail, iss: 'https://elsewhere.example.com' }, {}, 'invalid bearer token'],
  ];
  for (const [claims, header, reason] of refused) {
    const token = await provider.token(claims, header);
    expect(await reasonOf(byFlags, token)).toContain(reason);
    expect(await whoami(byFlags, token)).toBe(401);
  }
  const token = await provider.token(mail);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  expect(await whoami(byFlags, `${part({ alg: 'none' })}.${token.split('.')[1]}.`)).toBe(401);
});

test('groups may be elsewhere, in a token of the same provider', async () => {
  const sources = { endpoint: `${provider.url}/claims`, access_token: 'secret' };
  const claims = { ...mail, _claim_names: { roles: 's' }, _claim_sources: { s: sources } };
  provider.distributed = await provider.token({ aud: 'cluster', roles: ['far'] });
  const user = await whoami(byFlags, await provider.token({ ...claims, jti: '1' }));
  expect(user.groups).toEqual(['idp:far', 'system:authenticated']);
  provider.distributed = 'no token';
  expect(await whoami(byFlags, await provider.token({ ...claims, jti: '2' }))).toBe(401);
});

test('names of providers that lead nowhere, however many, keep out none that is there', async () => {
  await using far = await TestIdentityProvider.start(
    await authority.issue({ subject: 'CN=idp', serves: true }),
  );
  const sources = { endpoint: `${provider.url}/claims` };
  const claims = { ...mail, _claim_names: { roles: 's' }, _claim_sources: { s: sources } };
  for (let n = 0; n < 20; n += 1) {
    provider.distributed = await provider.token({
      iss: `https://${n}.invalid`,
      aud: 'cluster',
      roles: ['far'],
    });
    expect(await whoami(byFlags, await provider.token({ ...claims, jti: `nowhere-${n}` }))).toBe(401);
  }
  provider.distributed = await far.token({ aud: 'cluster', roles: ['from-far'] });
  await expect
    .poll(async () => whoami(byFlags, await provider.token({ ...claims, jti: 'far' })))
    .toMatchObject({ groups: ['idp:from-far', 'system:authenticated'] });
});

test('a structured configuration maps claims by expressions and holds rules against claims and users', async () => {
  await expect
    .poll(async () => whoami(byFile, await provider.token(file)))
    .toEqual({
      username: 'ann@example.com',
      uid: 'o-1',
      groups: ['team:dev', 'system:authenticated'],
      extra: { 'example.com/level': ['3'] },
    });
  const reason = async (claims: object): Promise<string> =>
    reasonOf(byFile, await provider.token({ ...file, ...claims }));
  expect(await reason({ tenant: 'red' })).toContain('failed: the tenant must be blue');
  expect(await reason({ sub: 'system:admin' })).toContain('no system users');
  expect(await reason({ hd: undefined })).toContain('No such key: hd');
  expect(await reason({ roles: 5 })).toContain('oidc: error evaluating group claim expression');
  expect(await reason({ aud: 'nobody' })).toContain('expected audience');
});

test('only the paths that the configuration opens are open to who is not known', async () => {
  const unknown = (path: string) => byFile.bearer('', 'GET', path);
  expect((await unknown('/version')).code).toBe(200);
  expect((await unknown('/api/v1/namespaces')).code).toBe(401);
});

test('new keys of the provider are believed within seconds', async () => {
  provider.rotate('ES256');
  const token = await provider.token({ ...mail, jti: 'new' });
  await expect.poll(() => whoami(byFlags, token)).toMatchObject({ username: 'idp:ann@example.com' });
  const before = provider.keyRequests;
  const begun = Date.now();
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) =>
      whoami(byFlags, await provider.token({ ...mail, n }, { kid: `made-up-${n}` })),
    ),
  );
  // No more often than every three seconds, with any keys that callers make up.
  const allowed = 1 + Math.floor((Date.now() - begun) / 3000);
  expect(provider.keyRequests - before).toBeLessThanOrEqual(allowed);
});

test('a changed configuration counts within seconds, and a wrong one changes nothing', async () => {
  const token = await provider.token({ ...file, jti: 'again' });
  // The provider's keys have changed, and each serving thread asks for them every three seconds at most.
  const names = async (): Promise<Set<string>> => {
    const asked = await Promise.all(Array.from({ length: 24 }, () => whoami(byFile, token)));
    return new Set(asked.map(({ username }) => username));
  };
  await expect.poll(names).toEqual(new Set(['ann@example.com']));
  writeConfig({ claimMappings: { username: { expression: 'claims.nope +' } } });
  await expect.poll(() => byFile.output.stderr).toContain('claims.nope');
  expect(await names()).toEqual(new Set(['ann@example.com']));
  writeConfig({ claimMappings: { username: { claim: 'sub', prefix: 'new:' } } });
  await expect.poll(async () => (await whoami(byFile, token)).username).toBe('new:ann');
  writeConfig({ issuer: { url: provider.url, audiences: ['nobody'], certificateAuthority: authority.pem } });
  await expect.poll(async () => whoami(byFile, token)).toBe(401);
});

test('a provider that is slow, dead, lies or has a wrong certificate authenticates no token, and other callers go on', async () => {
  const other = await Authority.create('strangers');
  const unread = await provider.token({ ...mail, jti: 'unread' });
  provider.rotate();
  const lies: ((url: string) => string)[] = [
    () => 'x'.repeat(5 * 1024 * 1024),
    () => '{"keys": [{"kty": "RSA"}, 5, null]}',
    () => '[]',
    () => 'no json',
  ];
  for (const lie of lies) {
    let requests = 0;
    provider.misbehave = (request, response) => {
      response.end(lie(request.url ?? ''));
      requests += 1;
      return true;
    };
    const token = await provider.token({ ...mail, lie: String(lie) });
    // The provider is asked again only after a while.
    while (requests === 0) expect(await whoami(byFlags, token)).toBe(401);
  }
  // Whether the old keys are still held when it comes is a matter of time; it is answered in any case.
  expect([201, 401]).toContain((await byFlags.bearer(unread, 'POST', WHOAMI, {})).code);
  const asked = Promise.withResolvers<void>();
  provider.misbehave = () => {
    asked.resolve();
    return true;
  };
  const token = await provider.token({ ...mail, slow: 1 });
  const slow = Promise.withResolvers<number>();
  let isWaiting = true;
  const askUntilHeld = async (): Promise<void> => {
    const asking = byFlags.bearer(token, 'GET', '/version').then(({ code }) => code);
    const early = await Promise.race([asking, asked.promise]);
    if (typeof early === 'number') return askUntilHeld();
    void asking.finally(() => {
      isWaiting = false;
    });
    slow.resolve(asking);
  };
  await askUntilHeld();
  expect((await byFlags.request('GET', '/api/v1/namespaces')).code).toBe(200);
  expect(isWaiting).toBe(true);
  expect([401, 504]).toContain(await slow.promise);
  provider.misbehave = undefined;
  const strange = await TestIdentityProvider.start(await other.issue({ subject: 'CN=idp', serves: true }));
  writeConfig({
    issuer: { url: strange.url, audiences: ['cluster'], certificateAuthority: authority.pem },
  });
  await expect.poll(() => byFile.output.stderr).toContain(strange.url);
  expect(await whoami(byFile, await strange.token({ ...file, aud: 'cluster' }))).toBe(401);
  await strange[Symbol.asyncDispose]();
});
