// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { Authority } from '../kit/pki.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Two servers of one cluster, as while it is upgraded: only one of them serves node.k8s.io/v1. */

const GATE = '--feature-gates=UnknownVersionInteroperabilityProxy=true';
const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';
const ONCE = 'x-kubernetes-apiserver-rerouted';

let database: TestDatabase;
let knowing: Cluster;
let unknowing: Cluster;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'peers-'));
  const authority = await Authority.create('proxies');
  const pair = await authority.issue({ subject: 'CN=front-proxy-client' });
  const at = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const flags = [
    GATE,
    '--authorization-mode=RBAC',
    '--peer-advertise-ip=127.0.0.1',
    `--requestheader-client-ca-file=${at('ca.crt', authority.pem)}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${at('client.crt', pair.cert)}`,
    `--proxy-client-key-file=${at('client.key', pair.key)}`,
  ];
  database = await createTestDatabase();
  knowing = await startCluster(database.url, flags);
  // The servers of a database share the authority of their certificates.
  unknowing = await startCluster(database.url, [
    ...flags,
    '--runtime-config=node.k8s.io/v1=false',
    `--peer-ca-file=${join(knowing.folder, 'certificates', 'ca.crt')}`,
  ]);
});

afterAll(async () => {
  await unknowing?.[Symbol.asyncDispose]();
  await knowing?.[Symbol.asyncDispose]();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const rerouted = async (code: number): Promise<number> => {
  const { text } = await unknowing.request('GET', '/metrics');
  return Number(
    new RegExp(`^apiserver_rerouted_request_total\\{code="${code}"\\} (\\d+)$`, 'm').exec(text)?.[1],
  );
};

test('a request for what only another server serves is answered by that one, in the name of its caller', async () => {
  const made = await unknowing.request('POST', CLASSES, { metadata: { name: 'fast' }, handler: 'runc' });
  expect(made).toMatchObject({ code: 201, json: { kind: 'RuntimeClass', handler: 'runc' } });
  expect((await knowing.request('GET', `${CLASSES}/fast`)).code).toBe(200);
  expect(await rerouted(201)).toBe(1);
  await unknowing.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'ann' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  });
  const refused = await unknowing.request('GET', CLASSES, undefined, { 'impersonate-user': 'ann' });
  expect(refused).toMatchObject({ code: 403, json: { reason: 'Forbidden' } });
  expect(refused.json.message).toContain('User "ann" cannot list resource "runtimeclasses"');
  const watch = unknowing.watch(`${CLASSES}?watch=1`);
  await watch.reached(1);
  expect(watch.events[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'fast' } } });
  watch.stop();
});

test('a request is handed over once: one that was already is answered where it is', async () => {
  for (const value of ['true', 'True', 'false, true', 'no'])
    expect((await unknowing.request('GET', CLASSES, undefined, { [ONCE]: value })).code).toBe(404);
  expect((await unknowing.request('GET', '/apis/node.k8s.io/v9/runtimeclasses')).code).toBe(404);
  expect((await unknowing.request('GET', '/api/v1/nothings')).code).toBe(404);
});

test('while the servers that know a version are away without a word, the answer is 503; who ends says so', async () => {
  await knowing.kill();
  // Other servers are looked up when one says that it is there itself, which a start does at once.
  await unknowing.stop();
  const rows = await database.query<{ server: string }>(
    "UPDATE peers SET expires_at = now() - interval '1 minute' RETURNING server",
  );
  expect(rows).toHaveLength(1);
  await unknowing.start();
  const { code, json } = await unknowing.request('GET', CLASSES);
  expect(code).toBe(503);
  expect(json).toMatchObject({
    reason: 'ServiceUnavailable',
    message: 'Error getting ip and port info of the remote server while proxying',
  });
});
