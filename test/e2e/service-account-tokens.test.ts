// @module-tag long
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactSign, calculateJwkThumbprint, compactVerify, createLocalJWKSet, decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;

const CORE = '/api/v1/namespaces/default';
const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    '--authorization-mode=RBAC',
    '--service-account-max-token-expiration=2h',
  ]);
  await cluster.request('POST', `${CORE}/serviceaccounts`, { metadata: { name: 'robot' } });
  const admin = {
    metadata: { name: 'robot-admin' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
  };
  await cluster.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', admin);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const makeToken = (spec: object = {}, account = 'robot'): Promise<Answer> =>
  cluster.request('POST', `${CORE}/serviceaccounts/${account}/token`, { spec });

async function tokenOf(spec: object = {}, account = 'robot'): Promise<string> {
  const { json } = await makeToken(spec, account);
  return json.status.token;
}

const whoami = (token: string): Promise<Answer> =>
  cluster.bearer(token, 'POST', WHOAMI, {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
  });

/** Servers learn of a change from the log, a moment after it was acknowledged. */
const isRefused = (token: string) => expect.poll(async () => (await whoami(token)).code).toBe(401);

const review = async (token: string, audiences?: string[]) => {
  const body = { spec: { token, ...(audiences === undefined ? {} : { audiences }) } };
  const { json } = await cluster.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body);
  return json.status;
};

function ownKey(): { key: KeyObject; kid: string } {
  const key = createPrivateKey(readFileSync(join(cluster.folder, 'certificates', 'service-account.key')));
  const { kid } = JSON.parse(Buffer.from(knownToken.split('.')[0] ?? '', 'base64url').toString()) as {
    kid: string;
  };
  return { key, kid };
}
let knownToken = '';

const sign = (claims: object, key: KeyObject, header: object): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'RS256', ...header })
    .sign(key);

test('kubectl create token makes a token that its holder comes in with', async () => {
  const { stdout, stderr } = await cluster.kubectl('create token robot --duration=20m');
  expect(stderr).toBe('');
  knownToken = stdout.trim();
  const claims = decodeJwt(knownToken);
  expect(claims).toMatchObject({ iss: ISSUER, aud: [ISSUER], sub: 'system:serviceaccount:default:robot' });
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(1200);
  const { json } = await whoami(knownToken);
  expect(json.status.userInfo).toMatchObject({
    username: 'system:serviceaccount:default:robot',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] },
  });
  const server = `--server=https://127.0.0.1:${cluster.port} --certificate-authority=${cluster.folder}/certificates/ca.crt`;
  const who = await cluster.kubectl(`${server} --token=${knownToken} auth whoami`, undefined, {
    KUBECONFIG: '/dev/null',
  });
  expect(who.stdout).toContain('system:serviceaccount:default:robot');
});

test('a token request answers what was asked, bounded by the flag, and refuses what cannot be', async () => {
  const { code, json, headers } = await makeToken({ expirationSeconds: 86_400, audiences: ['vault'] });
  expect(code).toBe(201);
  expect(json.spec).toEqual({ audiences: ['vault'], expirationSeconds: 7200, boundObjectRef: null });
  expect(String(headers.warning)).toContain('shortened to 7200 seconds');
  const short = await makeToken({ expirationSeconds: 599 });
  expect(short.code).toBe(422);
  expect(short.json.message).toContain('may not specify a duration less than 10 minutes');
  expect((await makeToken({}, 'nobody')).code).toBe(404);
  expect((await makeToken({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'none' } })).code).toBe(
    404,
  );
  const wrong = await makeToken({ boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } });
  expect(wrong.code).toBe(400);
  const named = await cluster.request('POST', `${CORE}/serviceaccounts/robot/token`, {
    metadata: { name: 'other' },
    spec: {},
  });
  expect(named.json.message).toContain('must match the service account name if specified');
  const elsewhere = await cluster.request('POST', `${CORE}/serviceaccounts/robot/token`, {
    metadata: { namespace: 'other' },
    spec: {},
  });
  expect(elsewhere.json).toMatchObject({
    code: 400,
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  });
});

test('a token for another audience does not authenticate its holder, and a review names its audience', async () => {
  const token = await tokenOf({ audiences: ['vault', ISSUER] });
  const foreign = await tokenOf({ audiences: ['vault'] });
  expect((await whoami(foreign)).code).toBe(401);
  expect(await review(foreign)).toMatchObject({
    user: {},
    error: expect.stringContaining('token audiences'),
  });
  expect(await review(foreign, ['vault'])).toMatchObject({ authenticated: true, audiences: ['vault'] });
  expect(await review(token, ['vault', 'bank'])).toMatchObject({ authenticated: true, audiences: ['vault'] });
  expect((await review(token)).audiences).toEqual([ISSUER]);
  expect((await review('nonsense')).error).toBe('invalid bearer token');
});

test('a token ends with the secret, the pod or the account that it is bound to, within a second', async () => {
  await cluster.request('POST', `${CORE}/secrets`, { metadata: { name: 'bound' } });
  const bySecret = await tokenOf({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'bound' } });
  expect((await whoami(bySecret)).code).toBe(201);
  await cluster.request('DELETE', `${CORE}/secrets/bound`);
  await cluster.request('POST', `${CORE}/secrets`, { metadata: { name: 'bound' } });
  await isRefused(bySecret);
  const pod = {
    metadata: { name: 'worker' },
    spec: { serviceAccountName: 'robot', nodeName: 'gone', containers: [{ name: 'c', image: 'i' }] },
  };
  await cluster.request('POST', `${CORE}/pods`, pod);
  const byPod = await tokenOf({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'worker' } });
  const { json } = await whoami(byPod);
  expect(json.status.userInfo.extra).toMatchObject({
    'authentication.kubernetes.io/pod-name': ['worker'],
    'authentication.kubernetes.io/node-name': ['gone'],
  });
  await cluster.request('DELETE', `${CORE}/pods/worker?gracePeriodSeconds=0`);
  await isRefused(byPod);
  expect((await review(byPod)).error).toContain('service account token has been invalidated');
  await cluster.request('POST', `${CORE}/serviceaccounts`, { metadata: { name: 'brief' } });
  const token = await tokenOf({}, 'brief');
  expect((await whoami(token)).code).toBe(201);
  await cluster.request('DELETE', `${CORE}/serviceaccounts/brief`);
  await isRefused(token);
});

test('a pod that admission gave a token of seven seconds more than an hour has it for a year', async () => {
  const pod = {
    metadata: { name: 'old-client' },
    spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] },
  };
  await cluster.request('POST', `${CORE}/pods`, pod);
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'old-client' };
  const { json } = await makeToken({ boundObjectRef, expirationSeconds: 3607 });
  const claims = decodeJwt(json.status.token);
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(365 * 86_400);
  expect(json.spec.expirationSeconds).toBe(3607);
  expect(claims['kubernetes.io']).toMatchObject({ warnafter: (claims.iat ?? 0) + 3607 });
});

test('others can verify tokens with what the server publishes', async () => {
  const { json, headers } = await cluster.request('GET', '/.well-known/openid-configuration');
  expect(json).toEqual({
    issuer: ISSUER,
    jwks_uri: `https://127.0.0.1:${cluster.port}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  });
  expect(headers['cache-control']).toBe('public, max-age=3600');
  const keys = await cluster.request('GET', '/openid/v1/jwks');
  expect(keys.headers['content-type']).toBe('application/jwk-set+json');
  const { payload } = await compactVerify(knownToken, createLocalJWKSet(keys.json));
  expect(JSON.parse(Buffer.from(payload).toString()).iss).toBe(ISSUER);
});

test('forged, foreign, expired and early tokens authenticate no caller', async () => {
  const { key, kid } = ownKey();
  const good = decodeJwt(knownToken);
  const nowSeconds = Math.floor(Date.now() / 1000);
  expect((await whoami(await sign(good, key, { kid }))).code).toBe(201);
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  const bad = {
    'alg none': `${part({ alg: 'none', kid })}.${part(good)}.`,
    'the public key as a shared secret': await new CompactSign(Buffer.from(JSON.stringify(good)))
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(Buffer.from(publicPem)),
    'signed by a stranger': await sign(good, stranger, { kid }),
    'an unknown key': await sign(good, stranger, {
      kid: await calculateJwkThumbprint(createPublicKey(stranger).export({ format: 'jwk' }) as never),
    }),
    'a changed payload': knownToken.replace(
      /\.[^.]+\./,
      `.${part({ ...good, sub: 'system:serviceaccount:kube-system:x' })}.`,
    ),
    expired: await sign({ ...good, exp: nowSeconds - 1 }, key, { kid }),
    'not yet valid': await sign({ ...good, nbf: nowSeconds + 120 }, key, { kid }),
    'issued in the future': await sign({ ...good, iat: nowSeconds + 120 }, key, { kid }),
    'another issuer': await sign({ ...good, iss: 'https://elsewhere.example.com' }, key, { kid }),
    'another audience': await sign({ ...good, aud: ['vault'] }, key, { kid }),
    'no account': await sign({ ...good, 'kubernetes.io': { namespace: 'default' } }, key, { kid }),
    'no claims': await sign({ iss: ISSUER, aud: [ISSUER] }, key, { kid }),
    'not a token': 'a.b.c',
    'a long one': 'x'.repeat(20_000),
  };
  for (const [what, token] of Object.entries(bad)) {
    const { code } = await whoami(token);
    expect(`${what}: ${code}`).toBe(`${what}: 401`);
  }
});

test('a token of a secret lives with its secret, and its use is noted', async () => {
  const account = await cluster.request('GET', `${CORE}/serviceaccounts/robot`);
  const claims = {
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:default:robot',
    'kubernetes.io/serviceaccount/namespace': 'default',
    'kubernetes.io/serviceaccount/secret.name': 'robot-token',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': account.json.metadata.uid,
  };
  const { key, kid } = ownKey();
  const token = await sign(claims, key, { kid });
  const secret = {
    metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
    data: { token: Buffer.from(token).toString('base64') },
  };
  expect((await whoami(token)).code).toBe(401);
  await cluster.request('POST', `${CORE}/secrets`, secret);
  const name = async (): Promise<unknown> => (await whoami(token)).json.status.userInfo?.username;
  await expect.poll(name).toBe('system:serviceaccount:default:robot');
  const label = async (): Promise<string | undefined> => {
    const { json } = await cluster.request('GET', `${CORE}/secrets/robot-token`);
    return json.metadata.labels?.['kubernetes.io/legacy-token-last-used'];
  };
  await expect.poll(label).toBe(new Date().toISOString().slice(0, 10));
  const invalid = { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } } };
  await cluster.request('PATCH', `${CORE}/secrets/robot-token`, invalid, {
    'content-type': 'application/merge-patch+json',
  });
  const reason = async (): Promise<string> => (await review(token)).error ?? '';
  await expect.poll(reason).toContain('has been marked invalid');
  await cluster.request('DELETE', `${CORE}/secrets/robot-token`);
  await expect.poll(reason).toBe('Token has been invalidated');
});

test('the key survives a restart, and so do its tokens', async () => {
  await cluster.stop();
  await cluster.start();
  expect((await whoami(knownToken)).code).toBe(201);
});

test('a user who may impersonate acts as another, and one who may not gets a refusal that says so', async () => {
  const who = await cluster.kubectl(
    'auth whoami -o json --as=jane --as-group=devs --as-group=ops,eu --as-uid=u-1',
  );
  expect(JSON.parse(who.stdout).status.userInfo).toEqual({
    username: 'jane',
    uid: 'u-1',
    groups: ['devs', 'ops,eu', 'system:authenticated'],
  });
  const account = await cluster.kubectl('auth whoami -o json --as=system:serviceaccount:default:robot');
  expect(JSON.parse(account.stdout).status.userInfo.groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
  const extra = await cluster.request(
    'POST',
    WHOAMI,
    {},
    { 'impersonate-user': 'jane', 'impersonate-extra-acme.com%2fteam': 'blue' },
  );
  expect(extra.json.status.userInfo.extra).toEqual({ 'acme.com/team': ['blue'] });
  const refused = await cluster.kubectl('get pods --as=jane');
  expect(refused.stderr).toContain(
    'User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
  );
  const headless = await cluster.request('GET', `${CORE}/pods`, undefined, {
    'impersonate-group': 'system:masters',
  });
  expect(headless.code).toBe(500);
  await cluster.request('POST', `${CORE}/serviceaccounts`, { metadata: { name: 'plain' } });
  const token = await tokenOf({}, 'plain');
  const server = `--server=https://127.0.0.1:${cluster.port} --certificate-authority=${cluster.folder}/certificates/ca.crt`;
  const plain = await cluster.kubectl(`${server} --token=${token} --as=jane get pods`, undefined, {
    KUBECONFIG: '/dev/null',
  });
  expect(plain.stderr).toContain(
    'users "jane" is forbidden: User "system:serviceaccount:default:plain" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
});

test('a cluster says since when it notes the use of tokens in secrets, and says it again when that is no date', async () => {
  const path =
    '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking';
  const today = /^\d{4}-\d{2}-\d{2}$/;
  const { json } = await cluster.request('GET', path);
  expect(json.data.since).toMatch(today);
  await cluster.request('PUT', path, { ...json, data: { since: 'always', more: 'kept' } });
  await cluster.stop();
  await cluster.start();
  const { json: again } = await cluster.request('GET', path);
  expect(again.data).toEqual({ since: expect.stringMatching(today), more: 'kept' });
});
