import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

const MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const MERGE = { 'content-type': 'application/merge-patch+json' };

const apply = (path: string, manager: string, config: unknown, query = ''): Promise<Answer> =>
  cluster.request('PATCH', `${path}?fieldManager=${manager}${query}`, config, APPLY);

const map = (name: string, data: unknown) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

const DEPLOYMENT = (name: string, image: string, more = ''): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, labels: {app: x}}
spec:
  ${more}
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec:
      containers:
      - {name: c, image: "${image}", ports: [{containerPort: 80}]}
`;

type Entry = { manager: string; operation: string; subresource?: string; fieldsV1: Record<string, unknown> };
const owners = (answer: Answer): string[] =>
  answer.json.metadata.managedFields.map(({ manager, operation, subresource }: Entry) =>
    [operation, manager, subresource].filter(Boolean).join(' '),
  );

test('applying creates with 201, changes with 200, and the same again is no revision', async () => {
  const first = await apply(`${MAPS}/made`, 'one', map('made', { a: '1' }));
  expect(first.code).toBe(201);
  const second = await apply(`${MAPS}/made`, 'one', map('made', { a: '2' }));
  expect(second).toMatchObject({ code: 200, json: { data: { a: '2' } } });
  const again = await apply(`${MAPS}/made`, 'one', map('made', { a: '2' }));
  expect(again.json).toEqual(second.json);
});

test('kubectl applies on the server, meets conflicts, and forces them', { tags: 'long' }, async () => {
  const ok = async (args: string, input: string): Promise<string> => {
    const result = await cluster.kubectl(args, input);
    expect(result, args).toMatchObject({ code: 0 });
    return result.stdout;
  };
  expect(await ok('apply --server-side -f -', DEPLOYMENT('app', 'nginx:1'))).toContain('serverside-applied');
  await ok('apply --server-side --field-manager=other -f -', DEPLOYMENT('app', 'nginx:1', 'replicas: 3'));
  const conflict = await cluster.kubectl(
    'apply --server-side --field-manager=other -f -',
    DEPLOYMENT('app', 'nginx:2'),
  );
  expect(conflict.code).toBe(1);
  expect(conflict.stderr).toContain(
    'Apply failed with 1 conflict: conflict with "kubectl": .spec.template.spec.containers[name="c"].image',
  );
  await ok('apply --server-side --field-manager=other --force-conflicts -f -', DEPLOYMENT('app', 'nginx:2'));
  const { json } = await cluster.request('GET', `${DEPLOYMENTS}/app`);
  // What `other` does not apply any more has gone, and its default has come back.
  expect(json.spec).toMatchObject({
    replicas: 1,
    template: { spec: { containers: [{ image: 'nginx:2' }] } },
  });
  expect(await ok('get deployment app -o yaml --show-managed-fields', '')).toContain('k:{"name":"c"}');
  expect(await ok('get deployment app -o yaml', '')).not.toContain('managedFields');
});

test('an object from client-side apply is taken over without conflicts', async () => {
  expect((await cluster.kubectl('apply -f -', DEPLOYMENT('old', 'nginx:1'))).code).toBe(0);
  const moved = await cluster.kubectl('apply --server-side -f -', DEPLOYMENT('old', 'nginx:2'));
  expect(moved).toMatchObject({ code: 0 });
  const { json } = await cluster.request('GET', `${DEPLOYMENTS}/old`);
  const kubectl = json.metadata.managedFields.filter(({ manager }: Entry) => manager.startsWith('kubectl'));
  expect(kubectl.map(({ manager, operation }: Entry) => `${operation} ${manager}`)).toContain(
    'Apply kubectl',
  );
  expect(
    JSON.parse(json.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']).spec.template
      .spec.containers[0].image,
  ).toBe('nginx:2');
});

test('every writing verb says who wrote, and every subresource has its own entry', async () => {
  await cluster.request('POST', `${DEPLOYMENTS}?fieldManager=creator`, {
    metadata: { name: 'owned' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await cluster.request(
    'PATCH',
    `${DEPLOYMENTS}/owned?fieldManager=patcher`,
    { spec: { paused: true } },
    MERGE,
  );
  await cluster.request(
    'PATCH',
    `${DEPLOYMENTS}/owned/status?fieldManager=controller`,
    { status: { replicas: 1 } },
    MERGE,
  );
  await cluster.request(
    'PATCH',
    `${DEPLOYMENTS}/owned/scale?fieldManager=scaler`,
    { spec: { replicas: 4 } },
    MERGE,
  );
  const { json } = await cluster.request('GET', `${DEPLOYMENTS}/owned`);
  json.spec.minReadySeconds = 9;
  const put = await cluster.request('PUT', `${DEPLOYMENTS}/owned?fieldManager=putter`, json);
  expect(owners(put).sort()).toEqual([
    'Update controller status',
    'Update creator',
    'Update patcher',
    'Update putter',
    'Update scaler scale',
  ]);
  const of = (name: string) =>
    put.json.metadata.managedFields.find(({ manager }: Entry) => manager === name).fieldsV1;
  expect(of('patcher')).toEqual({ 'f:spec': { 'f:paused': {} } });
  expect(of('controller')).toEqual({ 'f:status': { 'f:replicas': {} } });
  expect(of('scaler')).toEqual({ 'f:spec': { 'f:replicas': {} } });
  expect(of('putter')).toEqual({ 'f:spec': { 'f:minReadySeconds': {} } });
});

test('fields that a write cannot change get no owner, and a manager without a name takes that of its program', async () => {
  const pod = {
    metadata: { name: 'reset' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
    status: { phase: 'Running' },
  };
  const created = await cluster.request('POST', '/api/v1/namespaces/default/pods', pod, {
    'user-agent': 'agent/v1 (linux)',
  });
  const [entry] = created.json.metadata.managedFields;
  expect(entry).toMatchObject({
    manager: 'agent',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
  });
  expect(Object.keys(entry.fieldsV1)).toEqual(['f:spec']);
});

test('status and scale are applied too', async () => {
  await apply(`${DEPLOYMENTS}/parts`, 'one', DEPLOYMENT('parts', 'nginx:1', 'replicas: 2'));
  const status = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'parts' },
    spec: { paused: true },
    status: { replicas: 2, readyReplicas: 1 },
  };
  const applied = await apply(`${DEPLOYMENTS}/parts/status`, 'two', status);
  expect(applied.json).toMatchObject({ status: { readyReplicas: 1 } });
  expect(applied.json.spec.paused).toBeUndefined();
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'parts' },
    spec: { replicas: 5 },
  };
  const conflict = await apply(`${DEPLOYMENTS}/parts/scale`, 'three', scale);
  expect(conflict).toMatchObject({
    code: 409,
    json: {
      reason: 'Conflict',
      details: {
        causes: [{ reason: 'FieldManagerConflict', field: '.spec.replicas', message: 'conflict with "one"' }],
      },
    },
  });
  const forced = await apply(`${DEPLOYMENTS}/parts/scale`, 'three', scale, '&force=true');
  expect(forced.json).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
  const { json } = await cluster.request('GET', `${DEPLOYMENTS}/parts`);
  expect(json).toMatchObject({ spec: { replicas: 5 }, status: { readyReplicas: 1 } });
  expect(
    (await apply(`${DEPLOYMENTS}/none/status`, 'two', { ...status, metadata: { name: 'none' } })).code,
  ).toBe(404);
});

test('a dry run shows what would be, conflicts included, and stores nothing', async () => {
  const shown = await apply(`${MAPS}/dry`, 'one', map('dry', { a: '1' }), '&dryRun=All');
  expect(shown).toMatchObject({ code: 201, json: { data: { a: '1' } } });
  expect((await cluster.request('GET', `${MAPS}/dry`)).code).toBe(404);
  await apply(`${MAPS}/dry`, 'one', map('dry', { a: '1' }));
  expect((await apply(`${MAPS}/dry`, 'two', map('dry', { a: '2' }), '&dryRun=All')).code).toBe(409);
  const forced = await apply(`${MAPS}/dry`, 'two', map('dry', { a: '2' }), '&dryRun=All&force=true');
  expect(forced.json.data).toEqual({ a: '2' });
  expect((await cluster.request('GET', `${MAPS}/dry`)).json.data).toEqual({ a: '1' });
});

test('what cannot be applied is refused in plain words', async () => {
  const at = `${MAPS}/bad`;
  const good = map('bad', { a: '1' });
  const refused: [string, Answer, number, string][] = [
    [
      'no manager',
      await cluster.request('PATCH', at, good, APPLY),
      422,
      'fieldManager: Required value: is required for apply patch',
    ],
    ['wrong kind', await apply(at, 'm', { ...good, kind: 'Secret' }), 400, 'invalid object type'],
    ['no kind', await apply(at, 'm', { data: {} }), 400, 'invalid object type'],
    ['another name', await apply(at, 'm', map('other', {})), 400, 'does not match the name on the URL'],
    [
      'owners',
      await apply(at, 'm', { ...good, metadata: { name: 'bad', managedFields: [] } }),
      400,
      'metadata.managedFields must be nil',
    ],
    ['unknown field', await apply(at, 'm', { ...good, dat: 1 }), 500, '.dat: field not declared in schema'],
    ['wrong type', await apply(at, 'm', map('bad', { a: 1 })), 500, '.data.a: expected string, got &value'],
    ['no YAML', await apply(at, 'm', 'a: [', ''), 400, 'error decoding YAML'],
    ['a list', await apply(at, 'm', '[]', ''), 400, 'cannot unmarshal array'],
    [
      'duplicate',
      await apply(
        at,
        'm',
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {a: "1", a: "2"}}`,
        '&fieldValidation=Strict',
      ),
      400,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key "a" already set in map',
    ],
    [
      'force elsewhere',
      await cluster.request('PATCH', `${at}?force=true`, {}, MERGE),
      422,
      'may not be specified for non-apply patch',
    ],
    [
      'another version of the object',
      await apply(at, 'm', { ...good, metadata: { name: 'bad', resourceVersion: '1' } }),
      409,
      'bad',
    ],
    [
      'a uid of nothing',
      await apply(at, 'm', { ...good, metadata: { name: 'bad', uid: 'x' } }),
      409,
      'uid mismatch',
    ],
  ];
  for (const [what, { code, json }, wanted, text] of refused) {
    expect({ code, message: json.message }, what).toEqual({
      code: wanted,
      message: expect.stringContaining(text),
    });
  }
  expect((await cluster.request('GET', at)).code).toBe(404);
});

test('two managers who apply different fields at once both get what they applied', async () => {
  const name = 'busy';
  const managers = Array.from({ length: 10 }, (_, n) => `m${n}`);
  const answers = await Promise.all(
    managers.map((manager) => apply(`${MAPS}/${name}`, manager, map(name, { [manager]: 'x' }))),
  );
  expect(answers.map(({ code }) => code).sort()).toEqual([...Array(9).fill(200), 201]);
  const { json } = await cluster.request('GET', `${MAPS}/${name}`);
  expect(Object.keys(json.data).sort()).toEqual(managers);
  expect(json.metadata.managedFields).toHaveLength(10);
});

test('ownership in another version of the type is understood', async () => {
  const path = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/two`;
  const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
  const head = (version: string) => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'two' },
  });
  await apply(path('v1'), 'old', {
    ...head('v1'),
    spec: { scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 70 },
  });
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ];
  const conflict = await apply(path('v2'), 'new', {
    ...head('v2'),
    spec: { scaleTargetRef, maxReplicas: 5, metrics },
  });
  expect(conflict.json.details.causes).toEqual([
    {
      reason: 'FieldManagerConflict',
      message: 'conflict with "old"',
      field: '.spec.targetCPUUtilizationPercentage',
    },
  ]);
  const forced = await apply(
    path('v2'),
    'new',
    { ...head('v2'), spec: { scaleTargetRef, maxReplicas: 5, metrics } },
    '&force=true',
  );
  expect(forced.json.spec.metrics).toMatchObject(metrics);
  const back = await apply(path('v1'), 'old', { ...head('v1'), spec: { scaleTargetRef, maxReplicas: 5 } });
  expect(back.json.spec.targetCPUUtilizationPercentage).toBe(50);
});

test('what is left without its fields is no obstacle on the way to another version of a built-in type', async () => {
  const path = (version: string): string =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/three`;
  const configured = (version: string, annotations: object, metrics: object) => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'three', annotations },
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' },
      maxReplicas: 5,
      ...metrics,
    },
  });
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ];
  const first = await apply(path('v2'), 'one', configured('v2', { a: 'b' }, { metrics }));
  expect(first.json.metadata.annotations).toEqual({ a: 'b' });
  const second = await apply(path('v1'), 'one', configured('v1', {}, {}));
  expect(second.code, second.text).toBe(200);
  expect(second.json.metadata.annotations).toBeUndefined();
  expect(second.json.spec.targetCPUUtilizationPercentage).toBe(80);
});
