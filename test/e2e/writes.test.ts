import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';
import type { TestDatabase } from '../postgres.ts';

let shared: SharedCluster;
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster, database } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = { 'content-type': 'application/merge-patch+json' };

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'c', image: 'nginx', resources: { limits: { memory: '1Gi' } } }],
  },
});

/** The same value, the fields of each object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, turned(item)]),
  );
}

test('a pod put back as it was is no revision, with fields in every order, with and without defaults', async () => {
  // What admission fills in and clients may not take away is sent, so that only defaults are left out.
  const admitted = { serviceAccountName: 'default', automountServiceAccountToken: false };
  const same = { ...pod('same'), spec: { ...pod('same').spec, ...admitted } };
  const { json: made } = await cluster.request('POST', PODS, same);
  const { resourceVersion: _, ...metadata } = made.metadata;
  for (const body of [made, turned(made), { ...made, metadata }, same]) {
    const put = await cluster.request('PUT', `${PODS}/same`, body);
    expect(put).toMatchObject({
      code: 200,
      json: { metadata: { resourceVersion: made.metadata.resourceVersion } },
    });
  }
  const status = await cluster.request('PUT', `${PODS}/same/status`, turned(made));
  expect(status.json.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
});

test('what a patch touches is judged, though the rest is taken as it was stored', async () => {
  await cluster.request('POST', PODS, pod('patched'));
  const patch = (body: object) => cluster.request('PATCH', `${PODS}/patched`, body, MERGE);
  expect(await patch({ metadata: { labels: { 'not a label': 'x' } } })).toMatchObject({ code: 422 });
  expect(await patch({ spec: { activeDeadlineSeconds: 'soon' } })).toMatchObject({ code: 422 });
  expect(await patch({ spec: { activeDeadlineSeconds: 0 } })).toMatchObject({ code: 422 });
  const image = { spec: { containers: [{ ...pod('').spec.containers[0], image: ' ' }] } };
  expect(await patch(image)).toMatchObject({ code: 422 });
  const good = await patch({ metadata: { annotations: { a: '1' } }, spec: { activeDeadlineSeconds: 60 } });
  expect(good).toMatchObject({
    code: 200,
    json: { spec: { activeDeadlineSeconds: 60, restartPolicy: 'Always' } },
  });
});

test('an update without a version holds against a storm of others, and the stored object is never half changed', async () => {
  await cluster.request('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'storm' } });
  const written = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      cluster.request('PUT', `${MAPS}/storm`, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'storm', labels: { at: `${at}` } },
        data: { at: `${at}` },
      }),
    ),
  );
  expect(written.map(({ code }) => code)).toEqual(written.map(() => 200));
  for (const [at, { json }] of written.entries())
    expect([json.data.at, json.metadata.labels.at]).toEqual([`${at}`, `${at}`]);
});

test('a collection is deleted in shared batches', { tags: 'long' }, async () => {
  const made = Array.from({ length: 600 }, (_, at) =>
    cluster.request('POST', MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `many-${at}`, labels: { many: 'true' } },
    }),
  );
  await Promise.all(made);
  const answer = await cluster.request('DELETE', `${MAPS}?labelSelector=many%3Dtrue`);
  expect(answer.code).toBe(200);
  expect(answer.json.items).toHaveLength(600);
  const { json: left } = await cluster.request('GET', `${MAPS}?labelSelector=many%3Dtrue`);
  expect(left.items).toEqual([]);
  const [row] = await database.query<{ deleted: string; batches: string }>(
    "SELECT count(*) AS deleted, count(DISTINCT committed_at) AS batches FROM revisions WHERE verb = 'delete' AND name LIKE 'many-%'",
  );
  expect(Number(row?.deleted)).toBe(600);
  expect(Number(row?.batches)).toBeLessThan(60);
});
