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

test('one object has two names, and each answer speaks the dialect of its request', async () => {
  const path = (domain: string): string => `/apis/storage.${domain}/v1/storageclasses`;
  const created = await cluster.request('POST', path('cluster.io'), {
    kind: 'StorageClass',
    apiVersion: 'storage.cluster.io/v1',
    metadata: { name: 'fast' },
    provisioner: 'example.com/disk',
  });
  expect(created.json).toMatchObject({ apiVersion: 'storage.cluster.io/v1', reclaimPolicy: 'Delete' });
  const other = await cluster.request('GET', `${path('k8s.io')}/fast`);
  expect(other.json).toMatchObject({
    apiVersion: 'storage.k8s.io/v1',
    metadata: { uid: created.json.metadata.uid },
  });
  const list = await cluster.request('GET', path('cluster.io'));
  expect(list.json).toMatchObject({ kind: 'StorageClassList', apiVersion: 'storage.cluster.io/v1' });
  expect(list.json.items[0]).not.toHaveProperty('apiVersion');
  const rows = await database.query('SELECT api_group FROM objects WHERE name = $1', ['fast']);
  expect(rows).toEqual([{ api_group: 'storage.k8s.io' }]);
});

test('a Table is of the meta group that was asked for', async () => {
  for (const domain of ['k8s.io', 'cluster.io']) {
    const accept = `application/json;as=Table;g=meta.${domain};v=v1`;
    const { json } = await cluster.request('GET', '/api/v1/namespaces', undefined, { accept });
    expect(json).toMatchObject({ kind: 'Table', apiVersion: `meta.${domain}/v1` });
    expect(json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      'Name',
      'Status',
      'Age',
    ]);
    expect(json.rows[0].object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: `meta.${domain}/v1`,
    });
  }
});

test('a resource without columns of its own has a name and a time', async () => {
  const accept = 'application/json;as=Table;g=meta.cluster.io;v=v1';
  const { json } = await cluster.request('GET', '/api/v1/limitranges', undefined, { accept });
  const columns = json.columnDefinitions.map(({ name, type }: { name: string; type: string }) => [
    name,
    type,
  ]);
  expect(columns).toEqual([
    ['Name', 'string'],
    ['Created At', 'date'],
  ]);
});

test('protobuf has two names too', async () => {
  for (const name of ['kubernetes', 'cluster']) {
    const accept = `application/vnd.${name}.protobuf`;
    const answer = await cluster.request('GET', '/api/v1/namespaces/default', undefined, { accept });
    expect(answer.headers['content-type']).toBe(accept);
    expect(answer.text.slice(0, 4)).toBe('k8s\0');
  }
});

test('Events have two APIs over one storage', async () => {
  const event = {
    metadata: { name: 'started', namespace: 'default' },
    eventTime: '2026-11-21T09:00:00.123456Z',
    regarding: { kind: 'Pod', name: 'web', namespace: 'default' },
    note: 'it began',
    reason: 'Started',
    action: 'Start',
    type: 'Normal',
    reportingController: 'example.com/controller',
    reportingInstance: 'one',
  };
  const created = await cluster.request(
    'POST',
    '/apis/events.cluster.io/v1/namespaces/default/events',
    event,
  );
  expect(created.code).toBe(201);
  expect(created.json).toMatchObject({ ...event, apiVersion: 'events.cluster.io/v1' });
  const core = await cluster.request('GET', '/api/v1/namespaces/default/events/started');
  expect(core.json).toMatchObject({
    apiVersion: 'v1',
    involvedObject: event.regarding,
    message: 'it began',
    reportingComponent: 'example.com/controller',
  });
  const selected = await cluster.request(
    'GET',
    '/apis/events.k8s.io/v1/events?fieldSelector=regarding.name=web',
  );
  expect(selected.json.items).toHaveLength(1);
  const rows = await database.query<{ left: number }>(
    "SELECT extract(epoch FROM expires_at - now())::int AS left FROM objects WHERE name = 'started'",
  );
  expect(rows[0]?.left).toBeGreaterThan(3500);
  expect((await cluster.kubectl('get events')).stdout).toMatch(/Normal\s+Started\s+pod\/web\s+it began/);
});

test('horizontal pod autoscalers have two versions over one storage, and v1 loses nothing', async () => {
  const path = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
  ];
  const spec = {
    scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
    maxReplicas: 5,
    metrics,
  };
  await cluster.request('POST', path('v2'), { metadata: { name: 'web' }, spec });
  const { json: v1 } = await cluster.request('GET', `${path('v1')}/web`);
  expect(v1.spec).toMatchObject({ maxReplicas: 5, minReplicas: 1, targetCPUUtilizationPercentage: 70 });
  v1.spec.maxReplicas = 9;
  expect((await cluster.request('PUT', `${path('v1')}/web`, v1)).code).toBe(200);
  const { json: v2 } = await cluster.request('GET', `${path('v2')}/web`);
  // CPU comes last: v1 has a field for it, and an annotation for the others.
  expect(v2.spec).toMatchObject({ maxReplicas: 9, metrics: metrics.toReversed() });
});

test('a watch of one object sees that object alone, with bookmarks and in its time', async () => {
  const path = '/api/v1/namespaces/default/configmaps';
  await cluster.request('POST', path, { metadata: { name: 'one' } });
  const watch = cluster.watch(`${path}/one?watch=1&timeoutSeconds=3&allowWatchBookmarks=true`);
  await watch.reached(1);
  await cluster.request('POST', path, { metadata: { name: 'two' } });
  await cluster.request('DELETE', `${path}/one`);
  await watch.ended;
  const types = watch.events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim());
  expect(types.filter((type) => type !== 'BOOKMARK')).toEqual(['ADDED one', 'DELETED one']);
  expect(types).toContain('BOOKMARK');
});

test('discovery tells the same in both of its forms', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { json: aggregated } = await cluster.request('GET', '/apis', undefined, { accept });
  const { json: plain } = await cluster.request('GET', '/apis');
  const groups = plain.groups.map(({ name }: { name: string }) => name);
  expect(aggregated.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(groups);
  expect(groups).toEqual(expect.arrayContaining(['apps', 'batch', 'rbac.authorization.k8s.io']));
  for (const item of aggregated.items) {
    for (const { version, resources } of item.versions) {
      const { json } = await cluster.request('GET', `/apis/${item.metadata.name}/${version}`);
      const names = json.resources
        .map(({ name }: { name: string }) => name)
        .filter((name: string) => !name.includes('/'));
      expect(resources.map(({ resource }: { resource: string }) => resource)).toEqual(names);
    }
  }
});

test('kubectl finds each short name once', async () => {
  const { stderr, code } = await cluster.kubectl('get sc,pc,ing,netpol,csr,crd');
  expect({ stderr: stderr.replace(/No resources found.*\n/, ''), code }).toEqual({ stderr: '', code: 0 });
});

test('every reference in OpenAPI leads somewhere, and unchanged documents are 304', {
  tags: 'long',
}, async () => {
  const { json: index } = await cluster.request('GET', '/openapi/v3');
  let references = 0;
  expect(Object.keys(index.paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1']));
  for (const { serverRelativeURL } of Object.values(index.paths) as { serverRelativeURL: string }[]) {
    const answer = await cluster.request('GET', serverRelativeURL);
    const defined = new Set(Object.keys(answer.json.components?.schemas ?? {}));
    const named = [...answer.text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => !defined.has(name))).toEqual([]);
    references += named.length;
    const again = await cluster.request('GET', serverRelativeURL, undefined, {
      'if-none-match': String(answer.headers.etag),
    });
    expect(again.code).toBe(304);
  }
  expect(references).toBeGreaterThan(1000);
  const { json: v2, text } = await cluster.request('GET', '/openapi/v2');
  const named = [...text.matchAll(/"#\/definitions\/([^"]+)"/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(1000);
  expect(named.filter((name) => v2.definitions[name] === undefined)).toEqual([]);
});
