import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { definitionOf } from '../kit/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--history-window=1s', '--kvstore-compaction-interval=1s']);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const MAPS = '/api/v1/namespaces/default/configmaps';

function expectStatus(answer: Answer, code: number, reason: string, message: string | RegExp): void {
  expect(answer.json, answer.text).toMatchObject({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
  });
  expect(answer.code).toBe(code);
  expect(answer.json.message).toMatch(message);
}

test('bodies that are no objects of the right kind are 400', async () => {
  const post = (body: string, headers = {}) => cluster.request('POST', MAPS, body, headers);
  expectStatus(
    await post('{"metadata":'),
    400,
    'BadRequest',
    /unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error/,
  );
  expectStatus(await post('[1]'), 400, 'BadRequest', /cannot unmarshal array/);
  expectStatus(await post('a: b: c', { 'content-type': 'application/yaml' }), 400, 'BadRequest', /yaml/);
  expectStatus(
    await post('{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}'),
    400,
    'BadRequest',
    /Secret in version "v1" cannot be handled as a ConfigMap/,
  );
  expectStatus(
    await post('{"apiVersion":"apps/v1","metadata":{"name":"x"}}'),
    400,
    'BadRequest',
    /no kind "ConfigMap" is registered for version "apps\/v1"/,
  );
  expectStatus(
    await post('{"metadata":{"name":5}}'),
    400,
    'BadRequest',
    /cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string/,
  );
  expectStatus(await post('['.repeat(100_000)), 400, 'BadRequest', /depth/);
  expectStatus(
    await post('{}', { 'content-type': 'text/plain' }),
    415,
    'UnsupportedMediaType',
    /application\/json/,
  );
});

test('a body over 3 MiB is 413, and the server goes on', async () => {
  const answer = await cluster
    .request('POST', MAPS, { metadata: { name: 'big' }, data: { x: 'x'.repeat(4 * 1024 * 1024) } })
    .catch(() => undefined);
  if (answer !== undefined) expectStatus(answer, 413, 'RequestEntityTooLarge', /limit is 3145728/);
  expect((await cluster.request('GET', '/healthz')).text).toBe('ok');
});

test('paths that lead nowhere are 404, verbs that do not exist there 405', async () => {
  for (const path of [
    '/api/v2',
    '/api/v2/things',
    '/api/v1/nothings',
    '/api/v1/namespaces/x/nothings',
    '/api/v1/namespaces/x/nodes',
    '/apis/apps/v9',
    '/apis/apps/v9/deployments',
    '/apis/apps/v1/nothings',
    '/version/nope',
    // Pods are in namespaces, and cannot be watched by name without one; bindings have no list.
    '/api/v1/watch/pods/x',
    '/api/v1/bindings',
  ])
    expectStatus(
      await cluster.request('GET', path),
      404,
      'NotFound',
      /could not find the requested resource/,
    );
  expectStatus(
    await cluster.request('GET', `${MAPS}/missing`),
    404,
    'NotFound',
    'configmaps "missing" not found',
  );
  expectStatus(await cluster.request('PUT', MAPS, {}), 405, 'MethodNotAllowed', /does not allow this method/);
  const bindings = '/api/v1/namespaces/default/bindings';
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  expect((await cluster.request('POST', '/api/v1/bindings', {})).code).toBe(404);
  for (const path of [`${bindings}/a`, `${reviews}/a`])
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])
      expect((await cluster.request(method, path)).code, `${method} ${path}`).toBe(404);
  for (const path of [bindings, MAPS, `${MAPS}/kube-root-ca.crt`])
    expect((await cluster.request('HEAD', path)).code, path).toBe(405);
  expectStatus(await cluster.request('GET', `${MAPS}/a/nothing`), 404, 'NotFound', /could not find/);
  expect((await cluster.request('GET', '/api/v1/%zz')).code).toBe(400);
});

test('a path that neither a built-in group nor a definition has is answered in text, for every method', async () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await cluster.request('POST', definitions, definitionOf({ plural: 'crons', kind: 'Cron' }));
  const cron = { apiVersion: 'stable.example.com/v1', kind: 'Cron', metadata: { name: 'a' } };
  const made = () => cluster.request('POST', '/apis/stable.example.com/v1/namespaces/default/crons', cron);
  await expect.poll(async () => (await made()).code).toBe(201);
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['POST', '/nowhere'],
    ['GET', '/healthz/nope'],
    ['GET', '/apis/nope'],
    ['POST', '/apis/nope'],
    ['GET', '/apis/nope/v1'],
    ['GET', '/apis/nope/v1/things'],
    ['POST', '/apis/nope/v1/namespaces/x/things'],
    ['GET', '/apis/stable.example.com/v9'],
    ['GET', '/apis/stable.example.com/v9/crons'],
    ['GET', '/apis/stable.example.com/v1/others'],
    ['GET', '/apis/stable.example.com/v1/crons/a'],
    ['POST', '/apis/stable.example.com/v1/crons'],
  ] as const) {
    const { code, headers, text } = await cluster.request(method, path, method === 'POST' ? {} : undefined);
    const { 'content-type': type, 'x-content-type-options': options } = headers;
    expect({ code, text, type, options }, `${method} ${path}`).toEqual({
      ...{ code: 404, text: '404 page not found\n' },
      ...{ type: 'text/plain; charset=utf-8', options: 'nosniff' },
    });
  }
  expect((await cluster.request('GET', '/openapi/v3/apis/nope/v1')).text).toBe('');
  expect((await cluster.kubectl('get --raw /apis/nope/v1')).stderr).toBe(
    'Error from server (NotFound): the server could not find the requested resource\n',
  );
});

test('names and versions are checked', async () => {
  const create = (metadata: object) => cluster.request('POST', MAPS, { metadata });
  expectStatus(
    await create({ name: 'UPPER' }),
    422,
    'Invalid',
    /ConfigMap "UPPER" is invalid: metadata.name: Invalid value/,
  );
  expectStatus(await create({}), 422, 'Invalid', /name or generateName is required/);
  expectStatus(
    await create({ name: 'a', namespace: 'other' }),
    400,
    'BadRequest',
    /namespace of the provided object does not match/,
  );
  await create({ name: 'versioned' });
  const { json } = await cluster.request('GET', `${MAPS}/versioned`);
  const stale = { ...json, metadata: { ...json.metadata, resourceVersion: '1' } };
  expectStatus(
    await cluster.request('PUT', `${MAPS}/versioned`, stale),
    409,
    'Conflict',
    /the object has been modified/,
  );
  const other = { ...json, metadata: { ...json.metadata, uid: 'another' } };
  expectStatus(
    await cluster.request('PUT', `${MAPS}/versioned`, other),
    409,
    'Conflict',
    /UID in precondition: another/,
  );
  expectStatus(
    await cluster.request('PUT', `${MAPS}/mismatch`, json),
    400,
    'BadRequest',
    /does not match the name on the URL/,
  );
});

test('options that cannot be are refused', async () => {
  const get = (query: string) => cluster.request('GET', `${MAPS}?${query}`);
  expectStatus(await get('resourceVersion=abc'), 400, 'BadRequest', /invalid resource version/);
  expectStatus(await get('limit=x'), 400, 'BadRequest', /parsing "x": invalid syntax/);
  expectStatus(await get('labelSelector=a%20b%20c'), 400, 'BadRequest', /unable to parse requirement/);
  expectStatus(
    await get('fieldSelector=spec.nothing=1'),
    400,
    'BadRequest',
    '"spec.nothing" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  expectStatus(
    await cluster.request('GET', '/api/v1/nodes?fieldSelector=metadata.namespace%3Dx'),
    400,
    'BadRequest',
    'field label not supported: metadata.namespace',
  );
  expect((await get('resourceVersion=01')).code).toBe(200);
  expectStatus(await get('continue=nonsense'), 400, 'BadRequest', /continue/);
  expectStatus(
    await get('resourceVersionMatch=Exact'),
    422,
    'Invalid',
    /forbidden unless resourceVersion is provided/,
  );
  const future = await get('resourceVersion=999999999');
  expectStatus(future, 504, 'Timeout', /Too large resource version: 999999999/);
  expect(future.headers['retry-after']).toBe('1');
  const accept = await cluster.request('GET', MAPS, undefined, { accept: 'text/html' });
  expectStatus(accept, 406, 'NotAcceptable', /application\/json/);
});

test('keys that mean something to JavaScript are keys like any other', async () => {
  const body =
    '{"metadata":{"name":"proto","annotations":{"constructor":"x"}},"data":{"__proto__":"polluted"}}';
  const answer = await cluster.request('POST', MAPS, body);
  expect(answer.code).toBe(201);
  const { text } = await cluster.request('GET', `${MAPS}/proto`);
  expect(text).toContain('"__proto__":"polluted"');
  const patch = '{"data":{"__proto__":"again","constructor":"y"}}';
  const patched = await cluster.request('PATCH', `${MAPS}/proto`, patch, {
    'content-type': 'application/merge-patch+json',
  });
  expect(patched.text).toContain('"__proto__":"again"');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test('a list or watch from before the window is Expired, and compaction leaves live objects alone', {
  tags: 'long',
}, async () => {
  const created = await cluster.request('POST', MAPS, { metadata: { name: 'live' }, data: { n: '0' } });
  const first: string = created.json.metadata.resourceVersion;
  const chunk = await cluster.request('GET', `${MAPS}?limit=1`);
  for (let n = 1; n <= 5; n += 1) {
    const patch = { data: { n: String(n) } };
    await cluster.request('PATCH', `${MAPS}/live`, patch, { 'content-type': 'application/merge-patch+json' });
  }
  const live =
    "SELECT * FROM current_objects WHERE resource = 'configmaps' AND namespace = 'default' ORDER BY revision";
  const before = await database.query(live);
  await compacted(Number(first));
  expect(await database.query(live)).toEqual(before);
  // What a server still has in memory it may go on showing; a new one has only what is in the database.
  await cluster.stop();
  await cluster.start();
  const list = await cluster.request('GET', `${MAPS}?resourceVersion=${first}&resourceVersionMatch=Exact`);
  expectStatus(list, 410, 'Expired', 'The resourceVersion for the provided list is too old.');
  for (const at of [first, '2020-01-01T00:00:00Z'])
    for (const path of [MAPS, `${MAPS}/live`])
      expectStatus(
        await cluster.request('GET', `${path}?asOf=${at}`),
        410,
        'Expired',
        /^asOf: history is kept from revision \d+ \(\d{4}-.*Z\)$/,
      );
  // A chunked list that took too long may be finished all the same, from the newest state.
  const next = (token: string) => cluster.request('GET', `${MAPS}?limit=500&continue=${token}`);
  const late = await next(chunk.json.metadata.continue);
  expectStatus(late, 410, 'Expired', /too old to display a consistent list result/);
  const rest = await next(late.json.metadata.continue);
  expect(rest.code).toBe(200);
  expect(rest.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).not.toContain(
    chunk.json.items[0].metadata.name,
  );
  const watch = cluster.watch(`${MAPS}?watch=1&resourceVersion=${first}`);
  await watch.reached(1);
  expect(watch.events[0]).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  await watch.ended;
});

/** Another write makes the rows before it old enough to go. */
async function compacted(revision: number): Promise<void> {
  for (let tries = 0; tries < 240; tries += 1) {
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: `tick-${tries}` } });
    const rows = await database.query<{ revision: string }>('SELECT revision FROM compaction');
    if (Number(rows[0]?.revision) > revision) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error('nothing was compacted');
}
