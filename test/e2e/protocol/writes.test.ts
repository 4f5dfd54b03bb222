// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Cluster } from '../../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';

/** Field validation, dry-run, names, patches and deletion, row by row. */

let shared: SharedCluster;
let cluster: Cluster;

const CORE = '/api/v1/namespaces/default';
const MAPS = `${CORE}/configmaps`;
const PODS = `${CORE}/pods`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

const make = (name: string, more: object = {}): Promise<Answer> =>
  cluster.request('POST', MAPS, { metadata: { name }, ...more });
const read = async (path: string): Promise<Answer['json']> => (await cluster.request('GET', path)).json;
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

test('unknown and repeated fields: dropped in silence, reported one by one, or refused all together', async () => {
  const body = (name: string): string =>
    `{"metadata":{"name":"${name}"},"data":{"a":"1","a":"2"},"dat":1,"metadatas":{}}`;
  const send = (name: string, level: string): Promise<Answer> =>
    cluster.request('POST', `${MAPS}?fieldValidation=${level}`, body(name));
  const ignored = await send('ignored', 'Ignore');
  expect(ignored.code).toBe(201);
  expect(ignored.headers.warning).toBeUndefined();
  expect(ignored.json.data).toEqual({ a: '2' });
  for (const level of ['Warn', '']) {
    const warned = await send(`warned${level.toLowerCase()}`, level);
    expect(warned.code).toBe(201);
    expect(
      String(warned.headers.warning)
        .split('299 - ')
        .slice(1)
        .map((one) => one.replace(/, $/, '')),
    ).toEqual([
      '"duplicate field \\"data.a\\""',
      '"unknown field \\"dat\\""',
      '"unknown field \\"metadatas\\""',
    ]);
  }
  const strict = await send('strict', 'Strict');
  expect(strict).toMatchObject({ code: 400, json: { reason: 'BadRequest' } });
  expect(strict.json.message).toContain(
    'strict decoding error: duplicate field "data.a", unknown field "dat", unknown field "metadatas"',
  );
  expect((await cluster.request('POST', `${MAPS}?fieldValidation=Loose`, {})).code).toBe(422);
  const yaml = await cluster.request(
    'POST',
    `${MAPS}?fieldValidation=Strict`,
    'metadata: {name: from-yaml}\ndata: {a: x, a: z}\nextra: 1\nearly: 2\n',
    { 'content-type': 'application/yaml' },
  );
  expect(yaml.json.message).toContain(
    'strict decoding error: yaml: unmarshal errors:\n  line 2: key "a" already set in map, unknown field "early", unknown field "extra"',
  );
});

test('fields are unknown to patches and replacements too', async () => {
  await make('target');
  const patched = await cluster.request('PATCH', `${MAPS}/target?fieldValidation=Strict`, { dat: 1 }, MERGE);
  expect(patched).toMatchObject({
    code: 422,
    json: { message: expect.stringContaining('unknown field "dat"') },
  });
  const added = await cluster.request(
    'PATCH',
    `${MAPS}/target?fieldValidation=Strict`,
    [{ op: 'add', path: '/dat', value: 1 }],
    JSON_PATCH,
  );
  expect(added.code).toBe(422);
  const put = await cluster.request('PUT', `${MAPS}/target?fieldValidation=Strict`, {
    metadata: { name: 'target' },
    dat: 1,
  });
  expect(put.code).toBe(400);
});

test('types are checked at every level of validation, and required fields are named in the causes', async () => {
  const typed = await cluster.request('POST', `${PODS}?fieldValidation=Ignore`, {
    metadata: { name: 'p' },
    spec: { containers: {} },
  });
  expect(typed).toMatchObject({
    code: 400,
    json: {
      message: expect.stringContaining(
        'cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
      ),
    },
  });
  const lacking = await cluster.request('POST', PODS, {
    metadata: { name: 'p' },
    spec: { containers: [{ image: 'i' }] },
  });
  expect(lacking.code).toBe(422);
  expect(lacking.json.details.causes).toContainEqual({
    reason: 'FieldValueRequired',
    message: 'Required value',
    field: 'spec.containers[0].name',
  });
});

test('a dry run of every modifying verb answers as the real one would, and changes nothing', async () => {
  await make('kept', { data: { a: '1' } });
  const before = await read(`${MAPS}/kept`);
  const path = `${MAPS}/kept?dryRun=All`;
  const created = await cluster.request('POST', `${MAPS}?dryRun=All`, { metadata: { name: 'new' } });
  expect(created).toMatchObject({
    code: 201,
    json: { metadata: { uid: expect.any(String), creationTimestamp: expect.any(String) } },
  });
  expect(created.json.metadata.resourceVersion).toBeUndefined();
  expect((await cluster.request('POST', `${MAPS}?dryRun=All`, { metadata: { name: 'kept' } })).code).toBe(
    409,
  );
  expect((await cluster.request('PUT', path, { ...before, data: { a: '2' } })).json.data).toEqual({ a: '2' });
  expect(
    (
      await cluster.request('PUT', path, {
        ...before,
        metadata: { ...before.metadata, resourceVersion: '1' },
      })
    ).code,
  ).toBe(409);
  expect((await cluster.request('PATCH', path, { data: { b: '2' } }, MERGE)).json.data).toEqual({
    a: '1',
    b: '2',
  });
  expect((await cluster.request('DELETE', path)).json.status).toBe('Success');
  expect(
    (
      await cluster.request('DELETE', `${MAPS}/kept`, {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        dryRun: ['All'],
      })
    ).json.status,
  ).toBe('Success');
  expect((await cluster.request('DELETE', `${MAPS}?dryRun=All&labelSelector=`)).code).toBe(200);
  expect(await read(`${MAPS}/kept`)).toEqual(before);
  expect((await cluster.request('GET', `${MAPS}/new`)).code).toBe(404);
  expect((await cluster.request('POST', `${MAPS}?dryRun=Some`, { metadata: { name: 'x' } })).code).toBe(422);
});

test('dryRun without a value is a real request', async () => {
  expect(
    (await cluster.request('POST', `${MAPS}?dryRun&pretty=true`, { metadata: { name: 'real' } })).code,
  ).toBe(201);
  expect((await cluster.request('GET', `${MAPS}/real`)).code).toBe(200);
});

test('names follow the rules of their resource, and are made when only a prefix is given', async () => {
  const refused: [string, object, string][] = [
    [MAPS, { metadata: { name: 'Upper' } }, 'metadata.name'],
    [MAPS, { metadata: { name: 'a'.repeat(254) } }, 'metadata.name'],
    [MAPS, {}, 'metadata.name'],
    ['/api/v1/namespaces', { metadata: { name: 'a.b' } }, 'metadata.name'],
    [`${CORE}/services`, { metadata: { name: '1a' }, spec: { ports: [{ port: 1 }] } }, 'metadata.name'],
    [MAPS, { metadata: { generateName: 'Up-' } }, 'metadata.generateName'],
    [MAPS, { metadata: { name: 'l', labels: { 'a b': 'x' } } }, 'metadata.labels'],
    [MAPS, { metadata: { name: 'l', labels: { a: 'x'.repeat(64) } } }, 'metadata.labels'],
    [MAPS, { metadata: { name: 'l', annotations: { a: 'x'.repeat(262_145) } } }, 'metadata.annotations'],
    [MAPS, { metadata: { name: 'l', finalizers: ['a b'] } }, 'metadata.finalizers'],
  ];
  for (const [path, body, field] of refused) {
    const { code, json } = await cluster.request('POST', path, body);
    expect(code, JSON.stringify(body).slice(0, 80)).toBe(422);
    expect(json.details.causes.map((cause: { field: string }) => cause.field)).toContain(field);
  }
  const made = await Promise.all(
    Array.from({ length: 20 }, () => cluster.request('POST', MAPS, { metadata: { generateName: 'gen-' } })),
  );
  const names = made.map(({ json }) => json.metadata.name);
  expect(new Set(names).size).toBe(20);
  for (const name of names) expect(name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const team = await cluster.request('POST', '/api/v1/namespaces', { metadata: { generateName: 'team-' } });
  expect(team.json.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': team.json.metadata.name });
  const elsewhere = await cluster.request('POST', MAPS, { metadata: { name: 'x', namespace: 'other' } });
  expect(elsewhere.code).toBe(400);
  expect(
    (
      await cluster.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
        metadata: { name: 'system:a:b' },
        rules: [],
      })
    ).code,
  ).toBe(201);
});

test('JSON patches are all or nothing, with tests, escapes and positions', async () => {
  const annotations = { 'a/b': '1', 'c.d': '2', e: '3' };
  await cluster.request('POST', MAPS, { metadata: { name: 'jp', annotations } });
  const send = (operations: unknown): Promise<Answer> =>
    cluster.request('PATCH', `${MAPS}/jp`, operations, JSON_PATCH);
  const done = await send([
    { op: 'test', path: '/metadata/annotations/a~1b', value: '1' },
    { op: 'replace', path: '/metadata/annotations/a~1b', value: '9' },
    { op: 'move', from: '/metadata/annotations/c.d', path: '/metadata/annotations/f' },
    { op: 'copy', from: '/metadata/annotations/e', path: '/metadata/annotations/g' },
    { op: 'remove', path: '/metadata/annotations/e' },
    { op: 'add', path: '/metadata/finalizers', value: ['x/a'] },
    { op: 'add', path: '/metadata/finalizers/0', value: 'x/b' },
    { op: 'add', path: '/metadata/finalizers/-', value: 'x/c' },
  ]);
  expect(done.json.metadata.annotations).toEqual({ 'a/b': '9', f: '2', g: '3' });
  expect(done.json.metadata.finalizers).toEqual(['x/b', 'x/a', 'x/c']);
  const failing = [
    [{ op: 'jump', path: '/a' }],
    [{ path: '/a' }],
    [
      { op: 'add', path: '/metadata/annotations/new', value: '1' },
      { op: 'test', path: '/metadata/annotations/f', value: 'no' },
    ],
    [{ op: 'remove', path: '/metadata/annotations/none' }],
    [{ op: 'replace', path: '/metadata/annotations/none/x', value: 1 }],
    [{ op: 'add', path: '/metadata/finalizers/9', value: 'x/d' }],
  ];
  for (const operations of failing)
    expect((await send(operations)).code, JSON.stringify(operations)).toBe(422);
  for (const malformed of [{}, [1], 'x'])
    expect((await send(malformed)).code, JSON.stringify(malformed)).toBe(400);
  expect(
    (await send(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))))
      .code,
  ).toBe(413);
  expect((await read(`${MAPS}/jp`)).metadata.annotations).toEqual({ 'a/b': '9', f: '2', g: '3' });
  await cluster.request('PATCH', `${MAPS}/jp`, { metadata: { finalizers: null } }, MERGE);
});

test('strategic merge patches know lists by their keys, and every directive', async () => {
  const env = (name: string, value: string) => ({ name, value });
  await cluster.request('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'smp', finalizers: ['x/a', 'x/b'] },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            { name: 'c', image: 'i', env: [env('A', '1'), env('B', '2'), env('C', '3')] },
            { name: 'd', image: 'j' },
          ],
        },
      },
    },
  });
  const path = '/apis/apps/v1/namespaces/default/deployments/smp';
  const container = async (patch: object) => {
    const { json } = await cluster.request('PATCH', path, { spec: { template: { spec: patch } } }, STRATEGIC);
    return json.spec?.template.spec.containers ?? json;
  };
  const merged = await container({ containers: [{ name: 'c', env: [env('B', '9'), env('D', '4')] }] });
  expect(merged[0].env).toEqual([env('A', '1'), env('B', '9'), env('D', '4'), env('C', '3')]);
  const deleted = await container({ containers: [{ name: 'c', env: [{ name: 'A', $patch: 'delete' }] }] });
  expect(deleted[0].env.map(({ name }: { name: string }) => name)).toEqual(['B', 'D', 'C']);
  const ordered = await container({
    containers: [
      {
        name: 'c',
        env: [env('E', '5')],
        '$setElementOrder/env': [{ name: 'D' }, { name: 'E' }, { name: 'B' }, { name: 'C' }],
      },
    ],
  });
  expect(ordered[0].env.map(({ name }: { name: string }) => name)).toEqual(['D', 'E', 'B', 'C']);
  const replaced = await container({
    containers: [{ name: 'c', env: [{ $patch: 'replace' }, env('Z', '0')] }],
  });
  expect(replaced[0].env).toEqual([env('Z', '0')]);
  const gone = await container({ containers: [{ name: 'd', $patch: 'delete' }] });
  expect(gone).toHaveLength(1);
  const finalizers = await cluster.request(
    'PATCH',
    path,
    { metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a'], finalizers: ['x/c'] } },
    STRATEGIC,
  );
  expect(finalizers.json.metadata.finalizers).toEqual(['x/c', 'x/b']);
  const retained = await cluster.request(
    'PATCH',
    path,
    { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
    STRATEGIC,
  );
  expect(retained.json.spec.strategy).toEqual({ type: 'Recreate' });
  const nameless = await cluster.request(
    'PATCH',
    path,
    { spec: { template: { spec: { containers: [{ image: 'x' }] } } } },
    STRATEGIC,
  );
  expect(nameless).toMatchObject({
    code: 500,
    json: { message: expect.stringContaining('does not contain declared merge key: name') },
  });
});

test('patches without a version win in the end, with one they are refused when it is old', async () => {
  const { json } = await make('raced', { data: {} });
  await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      cluster.request('PATCH', `${MAPS}/raced`, { data: { [`k${n}`]: 'x' } }, MERGE),
    ),
  );
  expect(Object.keys((await read(`${MAPS}/raced`)).data)).toHaveLength(12);
  const { resourceVersion } = json.metadata;
  const stale = await cluster.request('PATCH', `${MAPS}/raced`, { metadata: { resourceVersion } }, MERGE);
  expect(stale).toMatchObject({
    code: 409,
    json: {
      reason: 'Conflict',
      message: expect.stringContaining(
        'the object has been modified; please apply your changes to the latest version and try again',
      ),
    },
  });
});

test('deletion has two phases where a finalizer holds the object, in every order, and preconditions', async () => {
  const { json } = await make('two', { metadata: { name: 'two', finalizers: ['x/a', 'x/c'] } });
  const wrong = await cluster.request('DELETE', `${MAPS}/two`, { preconditions: { uid: 'other' } });
  expect(wrong).toMatchObject({
    code: 409,
    json: {
      message: expect.stringContaining(
        'the UID in the precondition (other) does not match the UID in record',
      ),
    },
  });
  expect(
    (await cluster.request('DELETE', `${MAPS}/two`, { preconditions: { resourceVersion: '1' } })).code,
  ).toBe(409);
  const first = await cluster.request('DELETE', `${MAPS}/two`, { preconditions: { uid: json.metadata.uid } });
  expect(first).toMatchObject({
    code: 200,
    json: { kind: 'ConfigMap', metadata: { deletionTimestamp: expect.any(String) } },
  });
  const late = await cluster.request(
    'PATCH',
    `${MAPS}/two`,
    { metadata: { finalizers: ['x/a', 'x/b', 'x/c'] } },
    MERGE,
  );
  expect(late).toMatchObject({
    code: 422,
    json: {
      message: expect.stringContaining('no new finalizers can be added if the object is being deleted'),
    },
  });
  for (const finalizers of [['x/c', 'x/a'], ['x/c'], null]) {
    expect((await cluster.request('GET', `${MAPS}/two`)).code).toBe(200);
    await cluster.request('PATCH', `${MAPS}/two`, { metadata: { finalizers } }, MERGE);
  }
  expect((await cluster.request('GET', `${MAPS}/two`)).code).toBe(404);
});

test('what becomes of dependents is written down as finalizers', async () => {
  const finalizers = async (name: string, query: string, body?: object): Promise<unknown> => {
    await make(name);
    const { json } = await cluster.request('DELETE', `${MAPS}/${name}${query}`, body);
    return json.metadata.finalizers;
  };
  expect(await finalizers('f1', '?propagationPolicy=Foreground')).toEqual(['foregroundDeletion']);
  expect(await finalizers('f2', '', { propagationPolicy: 'Orphan' })).toEqual(['orphan']);
  expect(await finalizers('f3', '?orphanDependents=true')).toEqual(['orphan']);
  expect(await finalizers('f4', '?propagationPolicy=Background')).toBeUndefined();
  await make('f5');
  const both = await cluster.request('DELETE', `${MAPS}/f5?orphanDependents=true&propagationPolicy=Orphan`);
  expect(both.code).toBe(422);
  expect((await cluster.request('DELETE', `${MAPS}/f5?propagationPolicy=Never`)).code).toBe(422);
});

test('a deletion of jobs that does not mention their pods is warned, even one that fails', async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const warningOf = async (path: string): Promise<unknown> =>
    (await cluster.request('DELETE', `${jobs}${path}`)).headers.warning;
  for (const path of ['', '/none', '/none?dryRun=All'])
    expect(String(await warningOf(path))).toContain('child pods are preserved by default');
  for (const said of ['propagationPolicy=Background', 'orphanDependents=true'])
    for (const path of ['', '/none']) expect(await warningOf(`${path}?${said}`)).toBeUndefined();
});

test('a placed pod gets its time to end, which can only be shortened; another goes at once', async () => {
  await cluster.request('POST', PODS, pod('placed', { nodeName: 'n', terminationGracePeriodSeconds: 40 }));
  const first = await cluster.request('DELETE', `${PODS}/placed`);
  expect(first.json.metadata).toMatchObject({
    deletionGracePeriodSeconds: 40,
    deletionTimestamp: expect.any(String),
  });
  const shorter = await cluster.request('DELETE', `${PODS}/placed?gracePeriodSeconds=5`);
  expect(shorter.json.metadata.deletionGracePeriodSeconds).toBe(5);
  const longer = await cluster.request('DELETE', `${PODS}/placed?gracePeriodSeconds=50`);
  expect(longer.json.metadata.deletionGracePeriodSeconds).toBe(5);
  expect((await cluster.request('DELETE', `${PODS}/placed?gracePeriodSeconds=0`)).code).toBe(200);
  expect((await cluster.request('GET', `${PODS}/placed`)).code).toBe(404);
  await cluster.request('POST', PODS, pod('unplaced'));
  await cluster.request('DELETE', `${PODS}/unplaced`);
  expect((await cluster.request('GET', `${PODS}/unplaced`)).code).toBe(404);
});

test('a collection is deleted as selected, and in parts', async () => {
  for (let n = 0; n < 6; n += 1)
    await make(`dc${n}`, { metadata: { name: `dc${n}`, labels: { dc: String(n % 2) } } });
  const selected = await cluster.request('DELETE', `${MAPS}?labelSelector=dc%3D0`);
  expect(selected).toMatchObject({ code: 200, json: { kind: 'ConfigMapList' } });
  expect(selected.json.items).toHaveLength(3);
  const part = await cluster.request('DELETE', `${MAPS}?labelSelector=dc%3D1&limit=2`);
  expect(part.json.items).toHaveLength(2);
  const left = await cluster.request('GET', `${MAPS}?labelSelector=dc`);
  expect(left.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
    'dc5',
  ]);
  const field = await cluster.request('DELETE', `${MAPS}?fieldSelector=metadata.name%3Ddc5`);
  expect(field.json.items).toHaveLength(1);
});

test('PUT needs the name of the path and the version it replaces, and creates only where it may', async () => {
  await make('put', { data: { a: '1' } });
  const current = await read(`${MAPS}/put`);
  expect(
    (
      await cluster.request('PUT', `${MAPS}/put`, {
        ...current,
        metadata: { ...current.metadata, name: 'else' },
      })
    ).code,
  ).toBe(400);
  expect((await cluster.request('PUT', `${MAPS}/put`, { ...current, data: { a: '2' } })).code).toBe(200);
  const stale = await cluster.request('PUT', `${MAPS}/put`, { ...current, data: { a: '3' } });
  expect(stale).toMatchObject({
    code: 409,
    json: { reason: 'Conflict', details: { name: 'put', kind: 'configmaps' } },
  });
  expect(
    (await cluster.request('PUT', `${MAPS}/put`, { metadata: { name: 'put', uid: 'other' } })).json.message,
  ).toContain('Precondition failed: UID in precondition: other');
  expect((await cluster.request('PUT', `${MAPS}/none`, { metadata: { name: 'none' } })).code).toBe(404);
  const lease = { metadata: { name: 'l' }, spec: {} };
  expect(
    (await cluster.request('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', lease)).code,
  ).toBe(201);
});
