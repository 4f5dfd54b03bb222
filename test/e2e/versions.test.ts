import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** One database under servers that emulate different versions, one after the other and side by side. */

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

const PODS = '/api/v1/namespaces/default/pods';

const emulate = (version: string): Promise<Cluster> =>
  startCluster(database.url, [`--emulated-version=${version}`]);

const pod = (name: string): JsonObject => ({
  metadata: { name },
  spec: {
    hostnameOverride: 'web.example.com',
    containers: [
      {
        name: 'c',
        image: 'i',
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
      },
    ],
  },
});

const specOf = async (cluster: Cluster, path: string): Promise<JsonObject> =>
  ((await cluster.request('GET', path)).json as JsonObject).spec as JsonObject;

test('a server that emulates 1.31 knows nothing of later versions', async () => {
  await using cluster = await emulate('1.31');
  expect((await cluster.request('GET', '/version')).json).toMatchObject({ major: '1', minor: '31' });
  expect((await cluster.request('GET', '/apis/networking.k8s.io/v1/servicecidrs')).code).toBe(404);
  const strict = await cluster.request('POST', `${PODS}?fieldValidation=Strict`, pod('strict'));
  expect(strict.code).toBe(400);
  expect((strict.json as JsonObject).message).toContain('unknown field "spec.hostnameOverride"');
  const plain = { metadata: { name: 'old' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await cluster.request('POST', PODS, plain)).code).toBe(201);
});

test('1.36 serves what came since, and describes it', async () => {
  await using cluster = await emulate('1.36');
  expect((await cluster.request('GET', '/version')).json).toMatchObject({ minor: '36' });
  const metrics = await cluster.kubectl('get --raw /metrics');
  expect(metrics.stdout).toMatch(/kubernetes_build_info\{.*minor="36".*\} 1/);
  expect(
    (await cluster.kubectl('get servicecidrs.v1.networking.k8s.io kubernetes -o name')).stdout.trim(),
  ).toBe('servicecidr.networking.k8s.io/kubernetes');
  expect((await cluster.kubectl('explain pod.spec.hostnameOverride')).stdout).toContain('hostnameOverride');
  expect((await cluster.request('GET', `${PODS}/old`)).code).toBe(200);
  expect((await cluster.request('POST', `${PODS}?fieldValidation=Strict`, pod('new'))).code).toBe(201);
  expect((await cluster.request('GET', '/apis/flowcontrol.apiserver.k8s.io/v1beta3/flowschemas')).code).toBe(
    404,
  );
});

test('an older version keeps what a newer one stored, whatever it writes itself', async () => {
  await using cluster = await emulate('1.33');
  const before = await specOf(cluster, `${PODS}/new`);
  expect((await cluster.kubectl('label pod new by=kubectl')).code).toBe(0);
  const status = { metadata: { name: 'new' }, status: { phase: 'Running' } };
  expect((await cluster.request('PUT', `${PODS}/new/status`, status)).code).toBe(200);
  const known = {
    metadata: { name: 'new', labels: { by: 'put' } },
    spec: Object.fromEntries(Object.entries(before).filter(([name]) => name !== 'hostnameOverride')),
  };
  const [container = {}] = known.spec.containers as JsonObject[];
  const { restartPolicyRules: _, ...plain } = container;
  known.spec.containers = [{ ...plain, image: 'j' }];
  expect((await cluster.request('PUT', `${PODS}/new`, known)).code).toBe(200);
  const after = await specOf(cluster, `${PODS}/new`);
  expect(after.hostnameOverride).toBe('web.example.com');
  expect(after.containers).toEqual([{ ...container, image: 'j' }]);
});

test('servers of both versions on one database each serve their own, and lose nothing of the other', async () => {
  await using old = await emulate('1.31');
  await using fresh = await emulate('1.36');
  expect((await old.request('GET', '/version')).json).toMatchObject({ minor: '31' });
  expect((await fresh.request('GET', '/version')).json).toMatchObject({ minor: '36' });
  expect((await fresh.request('POST', PODS, pod('shared'))).code).toBe(201);
  for (let n = 0; n < 6; n += 1) {
    const side = n % 2 === 0 ? old : fresh;
    expect((await side.kubectl(`annotate pod shared n${n}=1`)).code).toBe(0);
  }
  const { json: body } = await fresh.request('GET', `${PODS}/shared`);
  const { metadata, spec } = body as { metadata: JsonObject; spec: JsonObject };
  expect(Object.keys(metadata.annotations as JsonObject)).toHaveLength(6);
  expect(spec.hostnameOverride).toBe('web.example.com');
});
