import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Two servers on one database, as while gates are being changed: one with a feature, one without. */

let database: TestDatabase;
let withFeatures: Cluster;
let without: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  withFeatures = await startCluster(database.url, ['--feature-gates=UserNamespacesSupport=true']);
  without = await startCluster(database.url, ['--feature-gates=SidecarContainers=false']);
});

afterAll(async () => {
  await withFeatures[Symbol.asyncDispose]();
  await without[Symbol.asyncDispose]();
  await database.drop();
});

const PODS = '/api/v1/namespaces/default/pods';
const pod = (name: string): object => ({
  metadata: { name },
  spec: {
    hostUsers: false,
    initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
    containers: [
      { name: 'c', image: 'i', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
    ],
  },
});

test('fields behind gates are kept or dropped as the server at hand has them', async () => {
  const kept = await withFeatures.request('POST', PODS, pod('kept'));
  expect(kept.json.spec.hostUsers).toBe(false);
  expect(kept.json.spec.initContainers[0].restartPolicy).toBe('Always');
  expect(kept.json.spec.containers[0].resizePolicy).toBeUndefined();
  const dropped = await without.request('POST', PODS, pod('dropped'));
  expect(dropped.json.spec.hostUsers).toBeUndefined();
  expect(dropped.json.spec.initContainers[0].restartPolicy).toBeUndefined();
});

test('an object that has such a field keeps it through writes of a server that would drop it', async () => {
  const labelled = await without.request(
    'PATCH',
    `${PODS}/kept`,
    { metadata: { labels: { a: 'b' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(labelled.code).toBe(200);
  expect(labelled.json.spec.hostUsers).toBe(false);
  expect(labelled.json.spec.initContainers[0].restartPolicy).toBe('Always');
});

test('a question about access is answered without the selectors that nobody looks at', async () => {
  const resourceAttributes = { verb: 'list', resource: 'pods' };
  const { code, json } = await without.request(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      spec: { resourceAttributes: { ...resourceAttributes, labelSelector: { rawSelector: 'a=b' } } },
    },
  );
  expect(code).toBe(201);
  expect(json.spec).toEqual({ resourceAttributes });
});
