// @module-tag long
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** What 1.32 to 1.36 added, with a real client, in a server with all of it. */

let database: TestDatabase;
let cluster: Cluster;

const GATES = [
  'DRADeviceTaintRules',
  'DRAResourcePoolStatus',
  'GenericWorkload',
  'PodCertificateRequest',
  'PodLogsQuerySplitStreams',
  'StorageVersionMigrator',
];

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    '--emulated-version=1.36',
    '--runtime-config=api/all=true',
    `--feature-gates=${GATES.map((gate) => `${gate}=true`).join()}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl33(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout.trim();
}

async function as(user: string, groups: string[], method: string, path: string, body?: unknown) {
  const headers = { 'Impersonate-User': user, 'Impersonate-Group': groups.join() };
  return cluster.request(method, path, body, headers);
}

const PODS = '/api/v1/namespaces/default/pods';

const pod = (name: string, resources: JsonObject, more: JsonObject = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'i', resources }], ...more },
  });

const patchOf = (requests: JsonObject, limits: JsonObject): string =>
  JSON.stringify({ spec: { containers: [{ name: 'main', resources: { requests, limits } }] } });

test('kubectl resizes a pod, within its quota and limits, and nothing else of it', async () => {
  await ok('create namespace team');
  await ok('-n team create quota all --hard=requests.cpu=1,limits.cpu=2');
  await ok(
    'apply -f -',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'most', namespace: 'team' },
      spec: { limits: [{ type: 'Container', max: { cpu: '1500m' } }] },
    }),
  );
  await expect
    .poll(async () => ok('-n team get quota all -o jsonpath={.status.used}'))
    .toContain('requests.cpu');
  await ok('-n team apply -f -', pod('web', { requests: { cpu: '100m' }, limits: { cpu: '200m' } }));
  const shown = (path: string): Promise<string> => ok(`-n team get pod web -o jsonpath=${path}`);
  expect(await shown('{.metadata.generation}')).toBe('1');

  const patch = patchOf({ cpu: '500m' }, { cpu: '1' });
  expect(await ok(`-n team patch pod web --subresource=resize --patch ${patch}`)).toBe('pod/web patched');
  expect(await shown('{.spec.containers[0].resources.requests.cpu}/{.metadata.generation}')).toBe('500m/2');
  await expect.poll(() => ok('-n team get quota all -o jsonpath={.status.used.requests\\.cpu}')).toBe('500m');
  expect(await ok('-n team get pod web --subresource=resize -o name')).toBe('pod/web');
  const applied = pod('web', { requests: { cpu: '400m' }, limits: { cpu: '1' } });
  expect(
    await ok('-n team apply --server-side --force-conflicts --subresource=resize -f -', applied),
  ).toContain('serverside-applied');
  expect(await shown('{.spec.containers[0].resources.requests.cpu}')).toBe('400m');

  const refused = async (resize: string): Promise<string> =>
    (await cluster.kubectl33(`-n team patch pod web ${resize}`)).stderr;
  expect(await refused(`--patch ${patch}`)).toContain('pod updates may not change fields other than');
  expect(
    await refused(`--subresource=resize --patch ${patchOf({ cpu: '1100m' }, { cpu: '1400m' })}`),
  ).toContain('exceeded quota: all');
  expect(await refused(`--subresource=resize --patch ${patchOf({ cpu: '500m' }, { cpu: '2' })}`)).toContain(
    'maximum cpu usage per Container is 1500m, but limit is 2',
  );
});

test('editors may resize where another role says so', async () => {
  await ok('create namespace rights');
  await ok('-n rights apply -f -', pod('web', { requests: { cpu: '100m' } }));
  await ok('-n rights create rolebinding edits --clusterrole=edit --user=ed');
  await ok('-n rights create role resizer --verb=patch --resource=pods/resize');
  const may = async (what: string): Promise<string> =>
    (await cluster.kubectl33(`-n rights auth can-i patch ${what} --as=ed`)).stdout.trim();
  await expect.poll(() => may('pods')).toBe('yes');
  expect(await may('pods --subresource=resize')).toBe('no');
  await ok('-n rights create rolebinding resizers --role=resizer --user=ed');
  await expect.poll(() => may('pods --subresource=resize')).toBe('yes');
  const removal = JSON.stringify({
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: null } } }] },
  });
  const { stderr } = await cluster.kubectl33(
    `-n rights patch pod web --subresource=resize --patch ${removal}`,
  );
  expect(stderr).toContain('resource requests cannot be removed');
});

test('a pod may state its resources as a whole', async () => {
  await ok('apply -f -', pod('whole', {}, { resources: { limits: { cpu: '1', memory: '1Gi' } } }));
  expect(await ok('get pod whole -o jsonpath={.status.qosClass}/{.spec.resources.requests.memory}')).toBe(
    'Guaranteed/1Gi',
  );
  expect(await ok('describe pod whole')).toContain('1Gi');
});

test('a node asks for certificates of its pods, and a signer answers', async () => {
  await ok('create serviceaccount runner');
  await ok('apply -f -', pod('certified', {}, { nodeName: 'n1', serviceAccountName: 'runner' }));
  await ok('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }));
  const uidOf = (what: string): Promise<string> => ok(`get ${what} -o jsonpath={.metadata.uid}`);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const podUID = await uidOf('pod/certified');
  const request = (nodeName: string): JsonObject => ({
    metadata: { name: `for-${nodeName}` },
    spec: {
      signerName: 'example.com/signer',
      podName: 'certified',
      podUID,
      serviceAccountName: 'runner',
      serviceAccountUID: '',
      nodeName,
      nodeUID: '',
      pkixPublicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
      proofOfPossession: sign(null, Buffer.from(podUID), privateKey).toString('base64'),
    },
  });
  const whole = request('n1');
  Object.assign(whole.spec as JsonObject, {
    serviceAccountUID: await uidOf('serviceaccount/runner'),
    nodeUID: await uidOf('node/n1'),
  });
  const REQUESTS = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests';
  const node = (name: string, method: string, path: string, body?: unknown) =>
    as(`system:node:${name}`, ['system:nodes'], method, path, body);

  expect(await node('n2', 'POST', REQUESTS, whole)).toMatchObject({ code: 403 });
  expect(await node('n1', 'POST', REQUESTS, whole)).toMatchObject({ code: 201 });
  await expect.poll(async () => (await node('n1', 'GET', `${REQUESTS}/for-n1`)).code).toBe(200);
  expect((await node('n2', 'GET', `${REQUESTS}/for-n1`)).code).toBe(403);
  expect((await node('n1', 'GET', `${REQUESTS}?fieldSelector=spec.nodeName%3Dn1`)).json).toMatchObject({
    items: [{ metadata: { name: 'for-n1' } }],
  });
  expect((await node('n1', 'GET', REQUESTS)).code).toBe(403);

  const denial = {
    conditions: [
      {
        type: 'Denied',
        status: 'True',
        reason: 'Why',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
  await ok(
    'create clusterrole signer --verb=update,get --resource=podcertificaterequests.certificates.k8s.io/status',
  );
  await ok('create clusterrolebinding signer --clusterrole=signer --user=signer');
  const answer = async () =>
    as('signer', ['system:authenticated'], 'PUT', `${REQUESTS}/for-n1/status`, {
      ...whole,
      metadata: {
        ...(whole.metadata as JsonObject),
        resourceVersion: await ok('get podcertificaterequest for-n1 -o jsonpath={.metadata.resourceVersion}'),
      },
      status: denial,
    });
  await expect
    .poll(async () => (await answer()).json)
    .toMatchObject({ message: expect.stringContaining('is not permitted to "sign" for signer') });
  const rule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: ['example.com/signer'],
    verbs: ['sign'],
  };
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'signs' },
    rules: [rule],
  };
  await ok('apply -f -', JSON.stringify(role));
  await ok('create clusterrolebinding signs --clusterrole=signs --user=signer');
  await expect.poll(async () => (await answer()).code).toBe(200);
  expect(await ok('get podcertificaterequests --no-headers')).toMatch(
    /^for-n1\s+certified\s+runner\s+n1\s+example\.com\/signer\s+Denied$/,
  );
});

test('a migration of stored versions runs to its end', async () => {
  await ok('create configmap one --from-literal=a=b');
  await ok(
    'apply -f -',
    JSON.stringify({
      apiVersion: 'storagemigration.k8s.io/v1beta1',
      kind: 'StorageVersionMigration',
      metadata: { name: 'maps' },
      spec: { resource: { group: '', resource: 'configmaps' } },
    }),
  );
  await ok('wait storageversionmigration/maps --for=condition=Succeeded --timeout=60s');
  const conditions = await ok(
    'get storageversionmigration maps -o jsonpath={.status.conditions[*].lastTransitionTime}',
  );
  expect(conditions).toMatch(/^\d{4}-/);
});

/** One object of each kind, without its metadata. */
const ADDED: readonly [string, string, string, JsonObject][] = [
  [
    'resource.k8s.io/v1beta2',
    'DeviceTaintRule',
    'devicetaintrules',
    { spec: { deviceSelector: { driver: 'd.example.com' }, taint: { key: 'a', effect: 'NoSchedule' } } },
  ],
  [
    'resource.k8s.io/v1alpha3',
    'ResourcePoolStatusRequest',
    'resourcepoolstatusrequests',
    { spec: { driver: 'd.example.com' } },
  ],
  [
    'scheduling.k8s.io/v1alpha2',
    'Workload',
    'workloads',
    { spec: { podGroupTemplates: [{ name: 'a', schedulingPolicy: { gang: { minCount: 1 } } }] } },
  ],
  ['scheduling.k8s.io/v1alpha2', 'PodGroup', 'podgroups', { spec: { schedulingPolicy: { basic: {} } } }],
  [
    'coordination.k8s.io/v1beta1',
    'LeaseCandidate',
    'leasecandidates',
    {
      spec: {
        leaseName: 'l',
        binaryVersion: '1.36.0',
        emulationVersion: '1.36.0',
        strategy: 'OldestEmulationVersion',
      },
    },
  ],
];

test.each(ADDED)('%s %s is made, shown, changed and deleted', async (apiVersion, kind, plural, rest) => {
  const manifest = (labels: JsonObject): string =>
    JSON.stringify({ apiVersion, kind, metadata: { name: 'it', labels }, ...rest });
  expect(await ok('apply -f -', manifest({ a: 'b' }))).toContain('created');
  expect(await ok('apply -f -', manifest({ a: 'c' }))).toContain('configured');
  expect(await ok(`get ${plural} it -o jsonpath={.metadata.labels.a}`)).toBe('c');
  expect(await ok(`get ${plural}`)).toMatch(/^NAME.*\nit /);
  expect(await ok(`explain ${plural}.spec`)).toContain('FIELDS:');
  expect(await ok(`delete ${plural} it`)).toContain('deleted');
});

test('a log is asked for by its stream', async () => {
  const refused = async (query: string) =>
    ((await cluster.request('GET', `${PODS}/whole/log?${query}`)).json as JsonObject)?.message;
  expect(await refused('stream=Both')).toContain(
    'stream: Unsupported value: "Both": supported values: "All", "Stdout", "Stderr"',
  );
  expect(await refused('stream=Stderr&tailLines=1')).toContain(
    '`tailLines` and specific `stream` are mutually exclusive',
  );
});

test('clients of endpoints are warned', async () => {
  const { stderr } = await cluster.kubectl33('get endpoints');
  expect(stderr).toContain(
    'Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  );
});
