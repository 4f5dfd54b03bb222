// @module-tag long
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** The key of service account tokens is changed while two servers run. */

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
/** What a change may take to be known everywhere. */
const SOON = { timeout: 60_000 };

let database: TestDatabase;
let servers: [Cluster, Cluster];

beforeAll(async () => {
  database = await createTestDatabase();
  const flags = ['--authorization-mode=RBAC'];
  servers = [await startCluster(database.url, flags), await startCluster(database.url, flags)];
  await servers[0].request('POST', ACCOUNTS, { metadata: { name: 'robot' } });
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command on the database that the servers are on. */
const run = (...args: string[]): Promise<Ended> => runOn(database, ...args);

function runOn({ url }: TestDatabase, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args, `--kvstore-servers=${url}`]);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

async function tokenOf(server: Cluster): Promise<string> {
  const { json } = await server.request('POST', `${ACCOUNTS}/robot/token`, { spec: {} });
  return json.status.token;
}

const keyOf = (token: string): string => String(decodeProtectedHeader(token).kid);
const signerOf = async (server: Cluster): Promise<string> => keyOf(await tokenOf(server));
const codesOf = (token: string): Promise<number[]> =>
  Promise.all(servers.map(async (server) => (await server.bearer(token, 'POST', WHOAMI, {})).code));
const publishedBy = async (server: Cluster): Promise<string[]> => {
  const { json } = await server.request('GET', '/openid/v1/jwks');
  return json.keys.map(({ kid }: { kid: string }) => kid);
};

test('a new key is known to all servers before one signs with it, and the tokens of the old one stay good', async () => {
  const old = await tokenOf(servers[0]);
  expect(await signerOf(servers[1])).toBe(keyOf(old));
  const rotated = await run('rotate-signing-key');
  expect([rotated.code, rotated.stderr]).toEqual([0, '']);
  const [, next = ''] = rotated.stdout.split('\n').map((line) => line.split(' ', 1)[0]);
  expect(rotated.stdout).toContain(`${keyOf(old)}  made `);
  expect(rotated.stdout).toContain('verifies, and signs from ');
  for (const server of servers) await expect.poll(() => publishedBy(server), SOON).toContain(next);
  const refused: number[] = [];
  for (const server of servers) {
    // A token of either key, and from every server, is good everywhere at every moment.
    await expect
      .poll(async () => {
        const token = await tokenOf(server);
        refused.push(...(await codesOf(token)).filter((code) => code !== 201));
        return keyOf(token);
      }, SOON)
      .toBe(next);
  }
  expect(refused).toEqual([]);
  expect(await codesOf(old)).toEqual([201, 201]);
  for (const server of servers) {
    const { json } = await server.request('GET', '/openid/v1/jwks');
    for (const token of [old, await tokenOf(server)]) await compactVerify(token, createLocalJWKSet(json));
    const { json: configuration } = await server.request('GET', '/.well-known/openid-configuration');
    expect(configuration.id_token_signing_alg_values_supported).toEqual(['RS256']);
  }
});

test('the key that signs cannot be dropped; an old one can, and its tokens end on all servers', async () => {
  const listed = await run('list-signing-keys');
  const [old = '', signing = ''] = listed.stdout.split('\n').map((line) => line.split(' ', 1)[0]);
  expect(listed.stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/ {2}verifies$/),
    expect.stringMatching(/ {2}signs$/),
  ]);
  expect(await signerOf(servers[0])).toBe(signing);
  const refused = await run('drop-signing-key', signing);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^pg-apiserver: .* is the key that signs: run rotate-signing-key first.*\n$/),
  ]);
  const token = await tokenOf(servers[1]);
  const dropped = await run('drop-signing-key', old.slice(0, 10));
  expect([dropped.code, dropped.stdout]).toEqual([0, expect.stringMatching(/^[^\n]*signs\n$/)]);
  for (const server of servers) await expect.poll(() => publishedBy(server), SOON).toEqual([signing]);
  expect(await codesOf(token)).toEqual([201, 201]);
  const rows = await database.query<{ id: string }>('SELECT id FROM signing_keys');
  expect(rows).toHaveLength(1);
  expect(await database.query("SELECT name FROM cluster_keys WHERE name = 'service-account'")).toEqual([]);
});

test('tokens of a dropped key are refused by servers that have seen them before', async () => {
  const token = await tokenOf(servers[0]);
  expect(await codesOf(token)).toEqual([201, 201]);
  expect((await run('rotate-signing-key', '0s')).code).toBe(0);
  for (const server of servers) await expect.poll(() => signerOf(server), SOON).not.toBe(keyOf(token));
  expect(await codesOf(token)).toEqual([201, 201]);
  expect((await run('drop-signing-key', keyOf(token))).code).toBe(0);
  await expect.poll(() => codesOf(token), SOON).toEqual([401, 401]);
});

test('a server that starts later signs with the key of the others', async () => {
  const [first, second] = servers;
  await second.stop();
  await second.start();
  expect(await signerOf(second)).toBe(await signerOf(first));
});

test('a database that was not migrated yet is refused in one line', async () => {
  await using empty = await createTestDatabase({ empty: true });
  const { code, stderr } = await runOn(empty, 'list-signing-keys');
  expect([code, stderr]).toEqual([1, expect.stringContaining('run pg-apiserver migrate first')]);
});

test.each([
  [['drop-signing-key'], 'needs one key id'],
  [['drop-signing-key', 'abc'], 'needs one key id'],
  [['drop-signing-key', 'nosuchkey'], 'no signing key has an id that begins with nosuchkey'],
  [['rotate-signing-key', 'soon'], 'must be one duration'],
  [['list-signing-keys', 'all'], 'takes flags alone'],
  [['begin-epoch', 'two', 'reasons'], 'takes one reason'],
])('%j is refused in one line', async (args, why) => {
  const { code, stderr } = await run(...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(why);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
