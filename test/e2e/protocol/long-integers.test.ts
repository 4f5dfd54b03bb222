import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
const LONG = '9007199254740993';

const create = (name: string, fields: string, type = 'application/json'): ReturnType<Cluster['request']> =>
  cluster.request('POST', REVISIONS, `{"metadata":{"name":"${name}"},${fields}}`, { 'content-type': type });

const patch = (name: string, body: string, type: string): ReturnType<Cluster['request']> =>
  cluster.request('PATCH', `${REVISIONS}/${name}?fieldManager=test`, body, {
    'content-type': `application/${type}`,
  });

test('an integer beyond 2^53 keeps its digits through every write and every read', async () => {
  const fields = `"revision":${LONG},"data":{"n":${LONG},"list":[-${LONG}]}`;
  for (const type of ['application/json', 'application/yaml']) {
    const name = `made-${type.slice(-4)}`;
    expect((await create(name, fields, type)).text).toContain(`"revision":${LONG}`);
    const read = await cluster.request('GET', `${REVISIONS}/${name}`);
    expect(read.text).toContain(`"data":{"n":${LONG},"list":[-${LONG}]},"revision":${LONG}`);
  }
  const path = `${REVISIONS}/made-json`;
  const yaml = await cluster.request('GET', path, undefined, { accept: 'application/yaml' });
  expect(yaml.text).toContain(`revision: ${LONG}\n`);
  expect((await cluster.request('GET', REVISIONS)).text).toContain(`"revision":${LONG}`);
  expect((await cluster.kubectl('get controllerrevision made-json')).stdout).toContain(LONG);

  const more = LONG.replace('7', '8');
  for (const [body, type] of [
    [`{"revision":${LONG},"metadata":{"labels":{"a":"1"}}}`, 'merge-patch+json'],
    [`{"revision":${more}}`, 'strategic-merge-patch+json'],
    [
      `[{"op":"test","path":"/revision","value":${more}},{"op":"replace","path":"/revision","value":${LONG}}]`,
      'json-patch+json',
    ],
    [
      `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"made-json"},"revision":${LONG}}`,
      'apply-patch+yaml',
    ],
  ] as const) {
    const patched = await patch('made-json', body, type);
    expect(patched.code, patched.text).toBe(200);
    expect(patched.text, type).toContain(`"revision":${type.startsWith('strategic') ? more : LONG}`);
    expect(patched.text, type).toContain(`"n":${LONG}`);
  }
});

test('an integer beyond 64 bits is refused with its digits', async () => {
  const refused = await create('beyond', '"revision":9223372036854775808,"data":{}');
  expect(refused).toMatchObject({ code: 400, json: { reason: 'BadRequest' } });
  expect(refused.json.message).toContain(
    'json: cannot unmarshal number 9223372036854775808 into Go struct field ControllerRevision.revision of type int64',
  );
  const map = { metadata: { name: 'graceful' } };
  await cluster.request('POST', '/api/v1/namespaces/default/configmaps', map);
  const removed = await cluster.request(
    'DELETE',
    '/api/v1/namespaces/default/configmaps/graceful',
    '{"gracePeriodSeconds":9223372036854775808}',
  );
  expect(removed.json.message).toContain(
    'json: cannot unmarshal number 9223372036854775808 into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
  );
});

test('a pod that may take for ever to end is deleted when it is asked to end at once', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const made = await cluster.request(
    'POST',
    pods,
    '{"metadata":{"name":"slow"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":9223372036854775807,"containers":[{"name":"c","image":"i"}]}}',
  );
  expect(made.text).toContain('"terminationGracePeriodSeconds":9223372036854775807');
  const ending = await cluster.request('DELETE', `${pods}/slow`);
  expect(ending.json.metadata.deletionTimestamp).toBe('9999-12-31T23:59:59Z');
  expect((await cluster.request('DELETE', `${pods}/slow?gracePeriodSeconds=0`)).code).toBe(200);
});
