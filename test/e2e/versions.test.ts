// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
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

test('an older version keeps what a newer one stored, through every write of its own', async () => {
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

const NAMESPACES = '/api/v1/namespaces';
const groupsIn = (namespace: string): string =>
  `/apis/scheduling.k8s.io/v1alpha2/namespaces/${namespace}/podgroups`;

test('what only a newer version serves ends with its namespace, whichever server deletes that', async () => {
  const flags = ['--runtime-config=scheduling.k8s.io/v1alpha2', '--feature-gates=GenericWorkload=true'];
  const newest = (): Promise<Cluster> => startCluster(database.url, ['--emulated-version=1.36', ...flags]);
  await using old = await emulate('1.31');
  {
    await using fresh = await newest();
    for (const name of ['brief', 'held']) {
      expect((await fresh.request('POST', NAMESPACES, { metadata: { name } })).code).toBe(201);
      // No server removes this one.
      const metadata = { name: 'g', finalizers: ['example.com/mine'] };
      const group = { metadata, spec: { schedulingPolicy: { basic: {} } } };
      const { code, json } = await fresh.request('POST', groupsIn(name), group);
      const finalizers = ['example.com/mine', 'scheduling.k8s.io/podgroup-protection'];
      expect([code, json.metadata.finalizers]).toEqual([201, finalizers]);
    }
    const release = { metadata: { finalizers: null } };
    const merge = { 'content-type': 'application/merge-patch+json' };
    expect((await fresh.request('PATCH', `${groupsIn('brief')}/g`, release, merge)).code).toBe(200);
  }
  const codeOf = async (name: string): Promise<number> =>
    (await old.request('GET', `${NAMESPACES}/${name}`)).code;
  for (const name of ['brief', 'held']) await old.request('DELETE', `${NAMESPACES}/${name}`);
  await vi.waitFor(async () => expect(await codeOf('brief')).toBe(404), PATIENCE);
  // Emptied by a turn of its own, which may follow that of the other.
  await vi.waitFor(async () => {
    const { json } = await old.request('GET', `${NAMESPACES}/held`);
    expect(json.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'NamespaceContentRemaining', status: 'True' }),
    );
  }, PATIENCE);
  expect((await old.request('POST', NAMESPACES, { metadata: { name: 'brief' } })).code).toBe(201);
  await using again = await newest();
  expect((await again.request('GET', groupsIn('brief'))).json.items).toEqual([]);
  expect((await again.request('GET', groupsIn('held'))).json.items).toHaveLength(1);
});

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/applied?fieldManager=me';

test('a field that only a newer version has stays its owner’s, and takes no right from an older one', async () => {
  await using old = await emulate('1.31');
  await using fresh = await startCluster(database.url, [
    '--emulated-version=1.36',
    '--feature-gates=TaintTolerationComparisonOperators=true',
  ]);
  const deployment = (more: JsonObject): JsonObject => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'applied' } },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i' }], ...more },
      },
    },
  });
  const apply = async (server: Cluster, more: JsonObject = {}): Promise<JsonObject> => {
    const { code, json } = await server.request('PATCH', DEPLOYMENT, deployment(more), APPLY);
    expect(code).toBeLessThan(300);
    return json.spec.template.spec;
  };
  expect(await apply(fresh, { hostnameOverride: 'web.example.com' })).toHaveProperty('hostnameOverride');
  expect(await apply(old)).toHaveProperty('hostnameOverride', 'web.example.com');
  expect(await apply(fresh)).not.toHaveProperty('hostnameOverride');

  const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } };
  const tolerations = [{ key: 'k', operator: 'Gt', value: '5', effect: 'NoSchedule' }];
  const spec = { resources, tolerations, containers: [{ name: 'c', image: 'i' }] };
  expect((await fresh.request('POST', PODS, { metadata: { name: 'known' }, spec })).code).toBe(201);
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const image = { spec: { containers: [{ name: 'c', image: 'j' }] } };
  const changed = await old.request('PATCH', `${PODS}/known`, image, strategic);
  expect([changed.code, changed.json.spec.containers[0].image]).toEqual([200, 'j']);
  const added = [{ op: 'add', path: '/spec/tolerations/0', value: { ...tolerations[0], operator: 'Lt' } }];
  const json = { 'content-type': 'application/json-patch+json' };
  expect((await old.request('PATCH', `${PODS}/known`, added, json)).json.message).toContain(
    'spec.tolerations[0].operator: Unsupported value: "Lt"',
  );
});

test('a template has no time of creation since 1.34, and a change of version changes no object', async () => {
  await using old = await emulate('1.33');
  await using fresh = await emulate('1.34');
  const path = '/apis/apps/v1/namespaces/default/replicasets';
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  for (const [server, other, time] of [
    [old, fresh, { creationTimestamp: null }],
    [fresh, old, {}],
  ] as const) {
    const name = server === old ? 'older' : 'newer';
    const spec = { selector: { matchLabels: labels }, template };
    const made = await server.request('POST', path, { metadata: { name }, spec });
    expect(made.json.spec.template.metadata).toEqual({ labels, ...time });
    const { metadata } = made.json;
    const changed = await other.request('PUT', `${path}/${name}`, { metadata: { name, labels }, spec });
    expect(changed.json.metadata).toMatchObject({ labels, generation: metadata.generation });
  }
});
