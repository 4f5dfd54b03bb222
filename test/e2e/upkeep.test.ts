// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };
const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

let database: TestDatabase;
let servers: Cluster[];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await startCluster(database.url), await startCluster(database.url)];
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

/** '' while no server does the work. */
async function holder(): Promise<string> {
  const [row] = await database.query<{ holder: string }>(
    "SELECT holder FROM work_leases WHERE work = 'upkeep'",
  );
  return row?.holder ?? '';
}

const worker = (): Promise<Cluster> =>
  vi.waitFor(async () => {
    const name = await holder();
    const found = servers.find(({ port }) => name.includes(`:${port}_`));
    if (found === undefined) throw new Error(`no server works: ${name}`);
    return found;
  }, PATIENCE);

/** Leaves something behind that goes only when a server cleans up: a job that has finished. */
async function leave(server: Cluster, name: string): Promise<() => Promise<void>> {
  const made = await server.request('POST', JOBS, {
    metadata: { name },
    spec: {
      ttlSecondsAfterFinished: 0,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  expect(made.code, made.text).toBe(201);
  const at = '2026-01-01T00:00:00Z';
  const finished = { type: 'Complete', status: 'True', lastProbeTime: at, lastTransitionTime: at };
  const status = { startTime: at, completionTime: at, succeeded: 1, conditions: [finished] };
  const merge = { 'content-type': 'application/merge-patch+json' };
  const written = await server.request('PATCH', `${JOBS}/${name}/status`, { status }, merge);
  expect(written.code, written.text).toBe(200);
  return () =>
    vi.waitFor(async () => {
      expect((await server.request('GET', `${JOBS}/${name}`)).code).toBe(404);
    }, PATIENCE);
}

test('a finished job ends when its time is up, the lease of a node with its node, and that of a dead server', async () => {
  const server = await worker();
  const isGone = await leave(server, 'done');
  const node = await server.request('POST', '/api/v1/nodes', { metadata: { name: 'gone' } });
  const { uid } = node.json.metadata;
  const nodeLeases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'gone', uid }];
  await server.request('POST', nodeLeases, { metadata: { name: 'gone', ownerReferences }, spec: {} });
  await server.request('DELETE', '/api/v1/nodes/gone');
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
  const spec = { holderIdentity: 'dead', leaseDurationSeconds: 1, renewTime: '2020-01-01T00:00:00.000000Z' };
  await server.request('POST', LEASES, { metadata: { name: 'dead', labels }, spec });
  await isGone();
  await vi.waitFor(async () => {
    const codes = [`${nodeLeases}/gone`, `${LEASES}/dead`].map(
      async (path) => (await server.request('GET', path)).code,
    );
    expect(await Promise.all(codes)).toEqual([404, 404]);
  }, PATIENCE);
});

test('a controller manager that renews its lease does the work alone, and hands it back when it stops', async () => {
  const server = await worker();
  const isGone = await leave(server, 'left-to-the-servers');
  await isGone();
  const name = 'kube-controller-manager';
  const spec = { holderIdentity: 'm', leaseDurationSeconds: 3, renewTime: '2020-01-01T00:00:00.000000Z' };
  await server.request('POST', LEASES, { metadata: { name }, spec });
  const renewing = setInterval(() => {
    const renewed = { spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    void server.request('PATCH', `${LEASES}/${name}`, renewed, headers);
  }, 500);
  try {
    await vi.waitFor(async () => expect(await holder()).toBe(''), PATIENCE);
  } finally {
    clearInterval(renewing);
  }
  const isGoneLater = await leave(server, 'left-to-the-manager');
  await isGoneLater();
  await worker();
});

test('a server that is killed is replaced by the other, and one that ends leaves the work', async () => {
  const dead = await worker();
  const other = servers.find((server) => server !== dead);
  if (other === undefined) throw new Error('there is no other server');
  await dead.kill();
  const isGone = await leave(other, 'left-to-the-other');
  await isGone();
  expect(await worker()).toBe(other);
  await other.stop();
  expect(await holder()).toBe('');
});
