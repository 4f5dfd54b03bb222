// @module-tag long
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompactSign, decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Two servers of one cluster, in the middle of changing key and issuer. */

let database: TestDatabase;
let folder: string;
let before: Cluster;
let after: Cluster;
const old = generateKeyPairSync('rsa', { modulusLength: 2048 });
const fresh = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const CORE = '/api/v1/namespaces/default';
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'issuers-'));
  const save = (name: string, text: string | Buffer): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const oldKey = save('old.key', old.privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const oldPublic = save('old.pub', old.publicKey.export({ type: 'spki', format: 'pem' }));
  const freshKey = save('fresh.key', fresh.privateKey.export({ type: 'sec1', format: 'pem' }));
  const freshPublic = save('fresh.pub', fresh.publicKey.export({ type: 'spki', format: 'pem' }));
  const shared = [
    '--authorization-mode=RBAC',
    `--service-account-key-file=${oldPublic}`,
    `--service-account-key-file=${freshPublic}`,
    '--api-audiences=api',
  ];
  before = await startCluster(database.url, [
    ...shared,
    `--service-account-signing-key-file=${oldKey}`,
    '--service-account-issuer=https://old.example.com',
    '--service-account-issuer=https://new.example.com',
    '--service-account-extend-token-expiration=false',
    '--feature-gates=ServiceAccountTokenJTI=false,ServiceAccountTokenPodNodeInfo=false,ServiceAccountTokenNodeBinding=false',
  ]);
  after = await startCluster(database.url, [
    ...shared,
    `--service-account-signing-key-file=${freshKey}`,
    '--service-account-issuer=https://new.example.com,https://old.example.com',
    '--service-account-jwks-uri=https://keys.example.com/jwks',
    '--service-account-lookup=false',
  ]);
  await before.request('POST', `${CORE}/serviceaccounts`, { metadata: { name: 'robot' } });
});

afterAll(async () => {
  await before[Symbol.asyncDispose]();
  await after[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

async function tokenOf(cluster: Cluster, spec: object = {}): Promise<string> {
  const { json, text } = await cluster.request('POST', `${CORE}/serviceaccounts/robot/token`, { spec });
  if (json?.status?.token === undefined) throw new Error(text);
  return json.status.token;
}

const whoami = async (cluster: Cluster, token: string): Promise<string | number> => {
  const { code, json } = await cluster.bearer(token, 'POST', WHOAMI, {});
  return code === 201 ? json.status.userInfo.username : code;
};

test('tokens of the old and of the new key and issuer are good on both servers at once', async () => {
  const [first, second] = [await tokenOf(before), await tokenOf(after)];
  expect([decodeJwt(first).iss, decodeJwt(second).iss]).toEqual([
    'https://old.example.com',
    'https://new.example.com',
  ]);
  expect([decodeProtectedHeader(first).alg, decodeProtectedHeader(second).alg]).toEqual(['RS256', 'ES256']);
  expect(decodeJwt(first).aud).toEqual(['api']);
  for (const cluster of [before, after]) {
    for (const token of [first, second]) {
      expect(await whoami(cluster, token)).toBe('system:serviceaccount:default:robot');
    }
  }
});

test('discovery names the first issuer and every key', async () => {
  const { json } = await after.request('GET', '/.well-known/openid-configuration');
  expect(json).toMatchObject({
    issuer: 'https://new.example.com',
    jwks_uri: 'https://keys.example.com/jwks',
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
  });
  const keys = await after.request('GET', '/openid/v1/jwks');
  expect(keys.json.keys).toHaveLength(2);
});

test('an account that has just been made on one server has tokens that are good on the other', async () => {
  for (let n = 0; n < 20; n += 1) {
    await before.request('POST', `${CORE}/serviceaccounts`, { metadata: { name: `robot-${n}` } });
    const { json } = await before.request('POST', `${CORE}/serviceaccounts/robot-${n}/token`, { spec: {} });
    expect(await whoami(after, json.status.token)).toBe(`system:serviceaccount:default:robot-${n}`);
    await before.request('DELETE', `${CORE}/serviceaccounts/robot-${n}`);
    await expect.poll(() => whoami(after, json.status.token)).toBe(401);
  }
});

test('gates and flags decide what tokens say and how long they live', async () => {
  await after.request('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const pod = {
    metadata: { name: 'worker' },
    spec: { serviceAccountName: 'robot', nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  };
  await after.request('POST', `${CORE}/pods`, pod);
  const spec = {
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'worker' },
    expirationSeconds: 3607,
    audiences: ['api'],
  };
  const [plain, full] = [decodeJwt(await tokenOf(before, spec)), decodeJwt(await tokenOf(after, spec))];
  expect(plain.jti).toBe(undefined);
  expect(plain['kubernetes.io']).not.toHaveProperty('node');
  expect((plain.exp ?? 0) - (plain.iat ?? 0)).toBe(3607);
  expect(full.jti).toMatch(/^[0-9a-f-]{36}$/);
  expect(full['kubernetes.io']).toMatchObject({ node: { name: 'n1' }, pod: { name: 'worker' } });
  expect((full.exp ?? 0) - (full.iat ?? 0)).toBe(365 * 86_400);
  const node = { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n1' } };
  const refused = await before.request('POST', `${CORE}/serviceaccounts/robot/token`, { spec: node });
  expect([refused.code, refused.json.message]).toEqual([
    400,
    expect.stringContaining('feature-gate is disabled'),
  ]);
  const byNode = await tokenOf(after, node);
  expect(await whoami(before, byNode)).toBe('system:serviceaccount:default:robot');
  await after.request('DELETE', '/api/v1/nodes/n1');
  await expect.poll(() => whoami(before, byNode)).toBe(401);
  const uid = { boundObjectRef: { ...spec.boundObjectRef, uid: 'other' } };
  const conflict = await after.request('POST', `${CORE}/serviceaccounts/robot/token`, { spec: uid });
  expect([conflict.code, conflict.json.reason]).toEqual([409, 'Conflict']);
});

test('without a look-up, a signature is enough for a token without an end', async () => {
  const claims = {
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:default:gone',
    'kubernetes.io/serviceaccount/namespace': 'default',
    'kubernetes.io/serviceaccount/secret.name': 'gone-token',
    'kubernetes.io/serviceaccount/service-account.name': 'gone',
    'kubernetes.io/serviceaccount/service-account.uid': 'u',
  };
  const sign = (payload: object): Promise<string> =>
    new CompactSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: 'RS256' })
      .sign(old.privateKey);
  expect(await whoami(after, await sign(claims))).toBe('system:serviceaccount:default:gone');
  expect(await whoami(before, await sign(claims))).toBe(401);
  const other = { ...claims, sub: 'system:serviceaccount:kube-system:gone' };
  expect(await whoami(after, await sign(other))).toBe(401);
});
