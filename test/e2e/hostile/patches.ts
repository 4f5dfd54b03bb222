import { expect } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';
import { fill } from './bodies.ts';

/** Patches of each kind on objects of each kind: many operations, wide ones, and ones that grow what they are applied to. */
const MAPS = '/api/v1/namespaces/default/configmaps';
const JSON_PATCH = 'application/json-patch+json';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

type Fields = Readonly<Record<string, unknown>>;

/** As it was before an earlier patch. */
const restore =
  (path: string, object: { metadata: { name: string } & Fields } & Fields) =>
  async (cluster: Cluster): Promise<void> => {
    const { code } = await cluster.request('PUT', `${path}/${object.metadata.name}`, object);
    if (code !== 404) expect(code).toBe(200);
    else expect((await cluster.request('POST', path, object)).code).toBe(201);
  };

const POD = '/api/v1/namespaces/default/pods/pod';

/** What is there before each patch of it; everything else is made by its patch. */
const THERE: ReadonlyMap<string, (cluster: Cluster) => Promise<void>> = new Map([
  [`${MAPS}/small`, restore(MAPS, { metadata: { name: 'small' }, data: { a: 'x' } })],
  [
    `${MAPS}/wide`,
    restore(MAPS, {
      metadata: { name: 'wide', finalizers: Array.from({ length: 5000 }, (_, at) => `a.b/${at}`) },
      data: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 'x'])),
    }),
  ],
  // What these patches change of a pod cannot change.
  [
    POD,
    async (cluster) => {
      const object = { metadata: { name: 'pod' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
      const { code } = await cluster.request('POST', '/api/v1/namespaces/default/pods', object);
      expect([201, 409]).toContain(code);
    },
  ],
]);

function patch(name: string, type: string, path: string, body: () => string): HostileRequest {
  const before = THERE.get(path.replace(/\?.*/, ''));
  const headers = { 'content-type': type };
  return { name, method: 'PATCH', path, headers, body, ...(before === undefined ? {} : { before }) };
}

const operations = (one: (at: number) => object, count = 10_000): string =>
  JSON.stringify(Array.from({ length: count }, (_, at) => one(at)));

export const PATCHES: readonly HostileRequest[] = [
  patch(
    'a configuration of a million lines and a hundred repeated keys',
    APPLY,
    `${MAPS}/small?fieldManager=hostile`,
    () =>
      `{"apiVersion":"v1","kind":"ConfigMap","data":{${'\n'.repeat(1_000_000)}${Array.from({ length: 100 }, () => '"a":"x"').join(',\n')}}}`,
  ),
  patch('10,000 operations that add', JSON_PATCH, `${MAPS}/small`, () =>
    operations((at) => ({ op: 'add', path: `/data/k${at}`, value: 'x' })),
  ),
  patch('copies that double', JSON_PATCH, `${MAPS}/small`, () =>
    operations((at) => ({ op: 'copy', from: '/data', path: `/data/c${at}` })),
  ),
  patch('additions to the front of a long list', JSON_PATCH, `${MAPS}/wide`, () =>
    JSON.stringify([
      { op: 'add', path: '/metadata/finalizers', value: Array(100_000).fill('a.b/c') },
      ...Array.from({ length: 9000 }, () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'a' })),
    ]),
  ),
  patch('removals and additions in the middle of a long list', JSON_PATCH, `${MAPS}/wide`, () =>
    JSON.stringify([
      { op: 'add', path: '/metadata/finalizers', value: Array(100_000).fill('a.b/c') },
      ...Array.from({ length: 9000 }, (_, at) =>
        at % 2 === 0
          ? { op: 'remove', path: '/metadata/finalizers/30000' }
          : { op: 'add', path: '/metadata/finalizers/30000', value: 'a' },
      ),
    ]),
  ),
  patch('tests of a large value', JSON_PATCH, `${MAPS}/wide`, () =>
    operations(() => ({ op: 'test', path: '/data', value: {} })),
  ),
  patch('objects put into each other', JSON_PATCH, `${MAPS}/small`, () => {
    const deep = JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as object;
    return operations((at) => ({ op: 'add', path: `/x${'/a'.repeat(499 * at)}`, value: deep }), 70);
  }),
  patch('a long pointer', JSON_PATCH, `${MAPS}/small`, () =>
    JSON.stringify([{ op: 'add', path: '/a'.repeat(1_000_000), value: 1 }]),
  ),
  patch('pointers of nothing but tildes', JSON_PATCH, `${MAPS}/small`, () =>
    JSON.stringify([{ op: 'add', path: `/${'~0'.repeat(1_000_000)}`, value: 1 }]),
  ),
  patch('more operations than there may be', JSON_PATCH, `${MAPS}/small`, () =>
    fill('[', () => '{"op":"remove","path":"/data"}', ']'),
  ),
  patch('operations that are none', JSON_PATCH, `${MAPS}/small`, () => fill('[', () => '0', ']')),
  patch('a merge of many keys', MERGE, `${MAPS}/small`, () =>
    fill('{"data":{', (at) => `"k${at}":"v"`, '}}'),
  ),
  patch('a merge that removes many keys', MERGE, `${MAPS}/small`, () =>
    fill('{"data":{', (at) => `"k${at}":null`, '}}'),
  ),
  patch('a merge of unknown fields', MERGE, `${MAPS}/small`, () =>
    fill('{', (at) => `"k${at}":{"a":null}`, '}'),
  ),
  patch(
    'a merge nested deep',
    MERGE,
    `${MAPS}/small`,
    () => `${'{"a":'.repeat(400_000)}1${'}'.repeat(400_000)}`,
  ),
  patch('a strategic merge of many finalizers', STRATEGIC, `${MAPS}/wide`, () =>
    fill('{"metadata":{"finalizers":[', (at) => `"a.b/c${at}"`, ']}}'),
  ),
  patch('a strategic merge of many containers', STRATEGIC, POD, () =>
    fill('{"spec":{"containers":[', (at) => `{"name":"c${at}"}`, ']}}'),
  ),
  patch('a strategic merge that orders many elements', STRATEGIC, POD, () =>
    fill('{"spec":{"$setElementOrder/containers":[', (at) => `{"name":"c${at}"}`, ']}}'),
  ),
  patch('a strategic merge that deletes many elements', STRATEGIC, POD, () =>
    fill('{"spec":{"containers":[', (at) => `{"name":"c${at}","$patch":"delete"}`, ']}}'),
  ),
  patch('a strategic merge that deletes many scalars', STRATEGIC, `${MAPS}/wide`, () =>
    fill('{"metadata":{"$deleteFromPrimitiveList/finalizers":[', (at) => `"a.b/c${at}"`, ']}}'),
  ),
  patch('a strategic merge that keeps many keys', STRATEGIC, `${MAPS}/wide`, () =>
    fill('{"data":{"$retainKeys":[', (at) => `"k${at}"`, ']}}'),
  ),
  patch('an apply of many keys', APPLY, `${MAPS}/applied?fieldManager=a`, () =>
    fill(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"applied"},"data":{',
      (at) => `"k${at}":"v"`,
      '}}',
    ),
  ),
  patch(
    'an apply of 20,000 keys, as it is and again',
    APPLY,
    `${MAPS}/again?fieldManager=a`,
    () =>
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"again"},"data":{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":"v"`).join(',')}}}`,
  ),
  patch('an apply of unknown fields', APPLY, `${MAPS}/unknown?fieldManager=a`, () =>
    fill('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"unknown"},', (at) => `"k${at}":1`, '}'),
  ),
  patch('an apply of values of the wrong kind', APPLY, `${MAPS}/wrong?fieldManager=a`, () =>
    fill(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"wrong"},"data":{',
      (at) => `"k${at}":1`,
      '}}',
    ),
  ),
  patch(
    'an apply of list elements of one key',
    APPLY,
    '/api/v1/namespaces/default/pods/same?fieldManager=a',
    () =>
      fill(
        '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"same"},"spec":{"containers":[',
        () => '{"name":"c"}',
        ']}}',
      ),
  ),
  patch('an apply of many list elements', APPLY, '/api/v1/namespaces/default/pods/many?fieldManager=a', () =>
    fill(
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"many"},"spec":{"containers":[',
      (at) => `{"name":"c${at}","image":"i"}`,
      ']}}',
    ),
  ),
  patch('an apply of repeated keys', APPLY, `${MAPS}/repeated?fieldManager=a`, () =>
    fill(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"repeated"},"data":{',
      () => '"k":"v"',
      '}}',
    ),
  ),
  patch(
    'an apply that conflicts on many keys',
    APPLY,
    `${MAPS}/wide?fieldManager=a`,
    () =>
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"wide"},"data":{${Array.from({ length: 5000 }, (_, at) => `"k${at}":"other"`).join(',')}}}`,
  ),
];
