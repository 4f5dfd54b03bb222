import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../../../src/api/types/apiextensions/v1.ts';
import type { Answer, Cluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';

/** What bodies and paths of custom resources say, and what they are answered: the words of apiextensions-apiserver 1.31. */

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
  await serve(definitionOf({ plural: 'widgets', kind: 'Widget', scope: 'Cluster' }));
  await serve(definitionOf({ plural: 'gadgets', kind: 'Gadget' }));
});

afterAll(() => shared[Symbol.asyncDispose]());

const GROUP = 'stable.example.com';
const WIDGETS = `/apis/${GROUP}/v1/widgets`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const OPERATIONS = { 'content-type': 'application/json-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const widget = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'w' } };

async function serve(definition: CustomResourceDefinition): Promise<void> {
  const { group, names, versions, scope } = definition.spec ?? {};
  const created = await cluster.request(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    definition,
  );
  expect(created.code, created.text).toBe(201);
  const folder = scope === 'Cluster' ? '' : 'namespaces/default/';
  const served = versions?.find((version) => version.served === true)?.name ?? '';
  await vi.waitFor(async () => {
    const { code } = await cluster.request('GET', `/apis/${group}/${served}/${folder}${names?.plural}`);
    expect(code).toBe(200);
  }, PATIENCE);
}

const answered = ({ code, json }: Answer): [number, unknown] => [code, json.message];

test('an object says what it is: a body without a kind or of another version is refused, another kind is no value of the field', async () => {
  const { metadata } = widget;
  for (const [body, code, message] of [
    [
      {},
      400,
      "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{}' ({})",
    ],
    [
      { metadata },
      400,
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"w"}}' ({"metadata":{"name":"w"}})`,
    ],
    [
      { kind: 'Widget', metadata },
      400,
      `the API version in the data () does not match the expected API version (${GROUP}/v1)`,
    ],
    [
      { ...widget, apiVersion: `${GROUP}/v2` },
      400,
      `the API version in the data (${GROUP}/v2) does not match the expected API version (${GROUP}/v1)`,
    ],
    [
      { ...widget, apiVersion: 'apps/v1', kind: 'Deployment' },
      400,
      `the API version in the data (apps/v1) does not match the expected API version (${GROUP}/v1)`,
    ],
    [
      { ...widget, kind: 'Other' },
      422,
      `Other.${GROUP} "w" is invalid: kind: Invalid value: "Other": must be Widget`,
    ],
  ] as const) {
    expect(answered(await cluster.request('POST', WIDGETS, body))).toEqual([code, message]);
    if (code === 422)
      expect(answered(await cluster.request('PUT', `${WIDGETS}/w`, body))).toEqual([code, message]);
  }
});

test('a patch may not make another kind or version of an object, or take its kind away', async () => {
  const path = `${WIDGETS}/patched`;
  await cluster.request('POST', WIDGETS, { ...widget, metadata: { name: 'patched' } });
  const judged = (field: string, given: string, right: string, kind = 'Widget'): [number, string] => [
    422,
    `${kind}.${GROUP} "patched" is invalid: ${field}: Invalid value: "${given}": must be ${right}`,
  ];
  const patch = (body: unknown, headers: object) => cluster.request('PATCH', path, body, { ...headers });
  expect(answered(await patch({ kind: 'Other' }, MERGE))).toEqual(judged('kind', 'Other', 'Widget', 'Other'));
  const other = [{ op: 'replace', path: '/kind', value: 'Other' }];
  expect(answered(await patch(other, OPERATIONS))).toEqual(judged('kind', 'Other', 'Widget', 'Other'));
  expect(answered(await patch({ apiVersion: `${GROUP}/v2` }, MERGE))).toEqual(
    judged('apiVersion', `${GROUP}/v2`, `${GROUP}/v1`),
  );
  const { code, json } = await patch([{ op: 'replace', path: '', value: {} }], OPERATIONS);
  expect([code, json.message]).toEqual([
    422,
    ` "" is invalid: patch: Invalid value: "{}": Object 'Kind' is missing in '{}'`,
  ]);
});

test('repeated fields of a body are reported before those that the schema does not have', async () => {
  const body = `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"s","name":"s","odd":1},"a":1,"a":2}`;
  const { json } = await cluster.request('POST', `${WIDGETS}?fieldValidation=Strict`, body);
  expect(json.message).toBe(
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "metadata.name", ' +
      'duplicate field "a", unknown field "metadata.odd"',
  );
});

test('a namespace in the metadata of an object outside of namespaces is dropped, however the object is written', async () => {
  const metadata = { name: 'placed', namespace: 'anywhere' };
  const path = `${WIDGETS}/placed`;
  const created = await cluster.request('POST', WIDGETS, { ...widget, metadata });
  const { resourceVersion } = created.json.metadata as { resourceVersion: string };
  const answers = [
    created,
    await cluster.request('PUT', path, { ...widget, metadata: { ...metadata, resourceVersion }, a: 1 }),
    await cluster.request('PATCH', path, { metadata: { namespace: 'anywhere' }, a: 2 }, MERGE),
    await cluster.request('PATCH', `${path}?fieldManager=m`, { ...widget, metadata, b: 1 }, APPLY),
    await cluster.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'placed', namespace: 'anywhere' },
    }),
  ];
  for (const { code, text, json } of answers) {
    expect([200, 201], text).toContain(code);
    expect(json.metadata).not.toHaveProperty('namespace');
  }
});

test('a path that lacks the namespace, or names a subresource that the definition does not have, is not found', async () => {
  const gadgets = `/apis/${GROUP}/v1/gadgets`;
  const gadget = { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: 'g' } };
  expect((await cluster.request('POST', gadgets, gadget)).code).toBe(404);
  expect((await cluster.request('DELETE', gadgets)).code).toBe(404);
  for (const name of ['status', 'scale', 'other'])
    expect(answered(await cluster.request('GET', `${WIDGETS}/w/${name}`))).toEqual([
      404,
      `widgets.${GROUP} "w" not found`,
    ]);
  for (const [verb, headers] of [
    ['PUT', {}],
    ['PATCH', MERGE],
  ] as const)
    expect(answered(await cluster.request(verb, WIDGETS, widget, headers))).toEqual([
      400,
      'name must be provided',
    ]);
});

const version = (
  name: string,
  rest: Partial<CustomResourceDefinitionVersion> = {},
): CustomResourceDefinitionVersion => ({
  ...{ name, served: true, storage: false },
  schema: { openAPIV3Schema: { type: 'object' } },
  ...rest,
});

function ofVersions(
  plural: string,
  kind: string,
  versions: CustomResourceDefinitionVersion[],
): CustomResourceDefinition {
  const definition = definitionOf({ plural, kind, scope: 'Cluster' });
  return { ...definition, spec: { ...definition.spec, versions } };
}

test('the warning for clients of a deprecated version names the best other version, unless the definition has words of its own', async () => {
  await serve(
    ofVersions('olds', 'Old', [
      version('v1alpha1', { deprecated: true }),
      version('v1alpha2', { deprecated: true, deprecationWarning: 'use something else' }),
      version('v1beta1', { deprecated: true }),
      version('v1beta2'),
      version('v1beta3'),
      version('v1', { served: false, storage: true }),
      version('v2', { deprecated: true }),
    ]),
  );
  const warnings = async (name: string): Promise<string | undefined> =>
    (await cluster.request('GET', `/apis/${GROUP}/${name}/olds`)).headers.warning?.toString();
  const better = `use ${GROUP}/v1beta3 Old`;
  expect(await warnings('v1alpha1')).toBe(`299 - "${GROUP}/v1alpha1 Old is deprecated; ${better}"`);
  expect(await warnings('v1alpha2')).toBe('299 - "use something else"');
  expect(await warnings('v1beta1')).toBe(`299 - "${GROUP}/v1beta1 Old is deprecated; ${better}"`);
  expect(await warnings('v1beta2')).toBeUndefined();
  expect(await warnings('v2')).toBe(`299 - "${GROUP}/v2 Old is deprecated"`);
});

test('a writer is answered what a reader is shown: what is stored in another version comes back with its defaults', async () => {
  const text = (name: string, given?: string) => ({
    [name]: { type: 'string', ...(given === undefined ? {} : { default: given }) },
  });
  const schema = (properties: object) => ({
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
  });
  await serve(
    ofVersions('filled', 'Filled', [
      version('v1beta1', { schema: schema({ ...text('first', 'a'), ...text('second') }) as never }),
      version('v1', {
        storage: true,
        served: false,
        schema: schema({ ...text('first'), ...text('second', 'b') }) as never,
      }),
    ]),
  );
  const at = `/apis/${GROUP}/v1beta1/filled`;
  const object = { apiVersion: `${GROUP}/v1beta1`, kind: 'Filled', metadata: { name: 'f' }, spec: {} };
  const dry = await cluster.request('POST', `${at}?dryRun=All`, object);
  expect(dry.json.spec).toEqual({ first: 'a', second: 'b' });
  const created = await cluster.request('POST', at, object);
  expect(created.json.spec).toEqual({ first: 'a', second: 'b' });
  expect((await cluster.request('GET', `${at}/f`)).json).toEqual(created.json);
  const changed = await cluster.request('PATCH', `${at}/f`, { spec: { first: 'c', second: null } }, MERGE);
  expect(changed.json).toMatchObject({ apiVersion: `${GROUP}/v1beta1`, spec: { first: 'c', second: 'b' } });
  expect((await cluster.request('GET', `${at}/f`)).json).toEqual(changed.json);
});
