import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { JSONSchemaProps } from '../../src/api/types/apiextensions/v1.ts';
import { OpenApi } from '../../src/discovery/openapi.ts';
import type { DocumentKey } from '../../src/discovery/openapi-document.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { expectWithin } from '../kit/expect-within.ts';
import { threadMs } from '../kit/thread-time.ts';
import { customDefinition, gather } from './custom-definition.ts';

const GROUP = 'stable.example.com';
const KEY: DocumentKey = { path: `apis/${GROUP}/v1`, group: GROUP, version: 'v1', dialect: 'k8s.io' };
const CORE: DocumentKey = { path: 'api/v1', group: '', version: 'v1', dialect: 'k8s.io' };
const CRON = 'com.example.stable.v1.Cron';

function createOpenApi(...definitions: readonly ResourceDefinition[]): {
  registry: Registry;
  openApi: OpenApi;
} {
  const registry = new Registry();
  for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);
  for (const [at, definition] of definitions.entries()) registry.put(`${at}`, [definition]);
  return { registry, openApi: new OpenApi({ registry, types: loadTypes(), gitVersion: 'v1' }) };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every kind
const parse = (bytes: Buffer): any => JSON.parse(bytes.toString());

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every kind
async function v3Of(openApi: OpenApi, key = KEY): Promise<any> {
  return parse(await (await openApi.groupVersion(key)).make());
}

function* references(value: JsonValue): Iterable<string> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value) && typeof value.$ref === 'string') yield value.$ref;
  for (const item of Object.values(value)) yield* references(item ?? null);
}

const SCHEMA: JSONSchemaProps = {
  type: 'object',
  description: 'A cron runs at times.',
  required: ['spec'],
  properties: { spec: { type: 'object', properties: { size: { 'x-kubernetes-int-or-string': true } } } },
};

const cron = (options: Parameters<typeof customDefinition>[0] = {}): ResourceDefinition =>
  customDefinition({ schema: SCHEMA, subresources: ['status', 'scale'], ...options });

test('the document of a group version has its objects, their lists, and all that they refer to', async () => {
  const { openApi } = createOpenApi(
    cron({ selectable: ['spec.size'] }),
    cron({ kind: 'Job', namespaced: false }),
  );
  const { components, paths } = await v3Of(openApi);
  const kind = (name: string): JsonObject[] => [{ group: GROUP, version: 'v1', kind: name }];
  expect(components.schemas[CRON]).toMatchObject({
    type: 'object',
    description: 'A cron runs at times.',
    required: ['spec'],
    'x-kubernetes-group-version-kind': kind('Cron'),
    'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.size' }],
  });
  expect(components.schemas[`${CRON}List`]).toMatchObject({
    required: ['items'],
    properties: { items: { type: 'array', items: { $ref: `#/components/schemas/${CRON}` } } },
    'x-kubernetes-group-version-kind': kind('CronList'),
  });
  const names = new Set(Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`));
  expect([...references({ components, paths })].filter((reference) => !names.has(reference))).toEqual([]);
  const root = `/apis/${GROUP}/v1`;
  expect(Object.keys(paths).sort()).toEqual(
    [
      `${root}/crons`,
      ...['', '/{name}', '/{name}/status', '/{name}/scale'].map(
        (end) => `${root}/namespaces/{namespace}/crons${end}`,
      ),
      ...['', '/{name}', '/{name}/status', '/{name}/scale'].map((end) => `${root}/jobs${end}`),
    ].sort(),
  );
});

test('without a subresource a document is as complete', async () => {
  const { openApi } = createOpenApi(cron({ subresources: [] }));
  const { components, paths } = await v3Of(openApi);
  const names = new Set(Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`));
  expect([...references({ components, paths })].filter((reference) => !names.has(reference))).toEqual([]);
});

test('operations say what kubectl asks of them: kind, parameters, media types', async () => {
  const { openApi } = createOpenApi(cron({ deprecation: 'use v2' }));
  const { paths, components } = await v3Of(openApi);
  const one = paths[`/apis/${GROUP}/v1/namespaces/{namespace}/crons/{name}`];
  expect(one.patch['x-kubernetes-group-version-kind']).toEqual({ group: GROUP, version: 'v1', kind: 'Cron' });
  expect(one.patch.parameters.map(({ name }: { name: string }) => name)).toContain('fieldValidation');
  expect(Object.keys(one.patch.requestBody.content)).toEqual([
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
  expect(Object.keys(one.put.requestBody.content)).toEqual(['application/json', 'application/yaml']);
  expect(one.put.deprecated).toBe(true);
  const scale = paths[`/apis/${GROUP}/v1/namespaces/{namespace}/crons/{name}/scale`];
  expect(scale.get.responses[200].content['application/json'].schema).toEqual({
    $ref: '#/components/schemas/io.k8s.api.autoscaling.v1.Scale',
  });
  expect(components.schemas['io.k8s.api.autoscaling.v1.Scale']).toBeDefined();
});

test('the hash of a document is known without its schemas, is the same on every server, and changes with a definition', async () => {
  const unread = (): never => {
    throw new Error('the hash needs no schema');
  };
  const { openApi, registry } = createOpenApi(cron({ schema: unread }));
  const { name, etag } = await openApi.groupVersion(KEY);
  expect((await createOpenApi(cron()).openApi.groupVersion(KEY)).name).toBe(name);
  expect(etag).toBe(name);
  const other = await openApi.groupVersion(KEY, 'protobuf');
  expect(other.name).toBe(name);
  expect(other.etag).not.toBe(name);
  registry.put('0', [cron({ digest: '2' })]);
  expect((await openApi.groupVersion(KEY)).name).not.toBe(name);
  registry.put('0', [cron({ digest: '1' })]);
  expect((await openApi.groupVersion(KEY)).name).toBe(name);
  registry.put('other', [cron({ group: 'other.example.com' })]);
  expect((await openApi.groupVersion(KEY)).name).toBe(name);
});

test('a document that was asked for before the registry changed is that of before', async () => {
  const { openApi, registry } = createOpenApi(cron());
  const before = await openApi.groupVersion(KEY);
  registry.put('0', [cron({ digest: '2', schema: { type: 'object', description: 'new' } })]);
  expect(parse(await before.make()).components.schemas[CRON].description).toBe('A cron runs at times.');
  expect((await v3Of(openApi)).components.schemas[CRON].description).toBe('new');
});

test('documents are kept while they are used, and let go for others', async () => {
  let made = 0;
  const large = (): JSONSchemaProps => {
    made += 1;
    return { type: 'object', description: 'x'.repeat(1024 * 1024) };
  };
  const groups = Array.from({ length: 20 }, (_, at) => `g${at}.example.com`);
  const { openApi } = createOpenApi(...groups.map((group) => cron({ group, schema: large })));
  const keyOf = (group = ''): DocumentKey => ({ ...KEY, path: `apis/${group}/v1`, group });
  const [first] = groups;
  await Promise.all([v3Of(openApi, keyOf(first)), v3Of(openApi, keyOf(first))]);
  await v3Of(openApi, keyOf(first));
  expect(made).toBe(1);
  for (const group of groups) await v3Of(openApi, keyOf(group));
  expect(made).toBe(groups.length);
  await v3Of(openApi, keyOf(first));
  expect(made).toBe(groups.length + 1);
});

test('a definition whose type would have the name of a built-in one leaves it that name', async () => {
  const group = 'meta.apis.pkg.apimachinery.k8s.io';
  const { openApi } = createOpenApi(cron({ group, kind: 'ObjectMeta' }));
  const { components } = await v3Of(openApi, { ...KEY, path: `apis/${group}/v1`, group });
  const name = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  expect(components.schemas[name].properties).toHaveProperty('labels');
  expect(components.schemas[`${name}.custom`]).toMatchObject({ description: 'A cron runs at times.' });
});

test('the one document has built-in and custom types, and all that they refer to', async () => {
  const { openApi } = createOpenApi(cron(), cron({ kind: 'Job' }));
  const text = gather(await openApi.whole([CORE, KEY])).toString();
  const document: JsonObject = JSON.parse(text);
  expect(text).toBe(JSON.stringify(document));
  expect(Object.keys(document)).toEqual([
    'swagger',
    'info',
    'parameters',
    'securityDefinitions',
    'security',
    'paths',
    'definitions',
  ]);
  const names = new Set(
    ['definitions', 'parameters'].flatMap((part) =>
      Object.keys(document[part] as JsonObject).map((name) => `#/${part}/${name}`),
    ),
  );
  expect([...references(document)].filter((reference) => !names.has(reference))).toEqual([]);
  expect(names).toContain(`#/definitions/${CRON}`);
  expect(names).toContain('#/definitions/io.k8s.api.core.v1.Pod');
  expect(document.paths).toHaveProperty([`/apis/${GROUP}/v1/crons`]);
});

test('with nothing but custom resources in it the one document is complete too', async () => {
  const { openApi } = createOpenApi(cron());
  const document: JsonObject = parse(gather(await openApi.whole([KEY])));
  const names = new Set(
    ['definitions', 'parameters'].flatMap((part) =>
      Object.keys(document[part] as JsonObject).map((name) => `#/${part}/${name}`),
    ),
  );
  expect([...references(document)].filter((reference) => !names.has(reference))).toEqual([]);
});

test('the tag of the one document changes with a definition, and with nothing else', async () => {
  const { openApi, registry } = createOpenApi(cron());
  const keys = [CORE, KEY];
  const { etag } = await openApi.whole(keys);
  expect((await openApi.whole(keys)).etag).toBe(etag);
  expect((await openApi.whole(keys, 'protobuf')).etag).not.toBe(etag);
  registry.put('0', [cron({ digest: '2' })]);
  expect((await openApi.whole(keys)).etag).not.toBe(etag);
});

/** The fields of a message on the wire: those of one number joined, as readers of protobuf do. */
function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const reader = protobuf.Reader.create(bytes);
  const fields = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if ((tag & 7) !== 2) reader.skipType(tag & 7);
    else fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), reader.bytes()]);
  }
  return fields;
}

/** Name and value of each entry. */
const entriesOf = (maps: readonly Uint8Array[], number: number): Map<string, Uint8Array> =>
  new Map(
    maps
      .flatMap((map) => fieldsOf(map).get(number) ?? [])
      .map((entry) => {
        const [name = Buffer.alloc(0)] = fieldsOf(entry).get(1) ?? [];
        const [value = Buffer.alloc(0)] = fieldsOf(entry).get(2) ?? [];
        return [Buffer.from(name).toString(), value] as const;
      }),
  );

test('its protobuf form has the same paths and definitions', async () => {
  const { openApi } = createOpenApi(cron(), cron({ kind: 'Job' }));
  const json: JsonObject = parse(gather(await openApi.whole([CORE, KEY])));
  const document = fieldsOf(gather(await openApi.whole([CORE, KEY], 'protobuf')));
  const paths = entriesOf(document.get(8) ?? [], 2);
  const definitions = entriesOf(document.get(9) ?? [], 1);
  expect([...paths.keys()].sort()).toEqual(Object.keys(json.paths as JsonObject).sort());
  expect([...definitions.keys()].sort()).toEqual(Object.keys(json.definitions as JsonObject).sort());
  const item = fieldsOf(definitions.get(CRON) ?? Buffer.alloc(0));
  expect([...entriesOf(item.get(25) ?? [], 1).keys()]).toEqual(['spec', 'apiVersion', 'kind', 'metadata']);
  expect(item.get(4)?.map((text) => Buffer.from(text).toString())).toEqual(['A cron runs at times.']);
});

const LEVELS = 500;

function nested(levels: number): JSONSchemaProps {
  let schema: JSONSchemaProps = { type: 'string', description: 'x'.repeat(1024 * 1024) };
  for (let level = 0; level < levels; level += 1) {
    schema =
      level % 2 === 0 ? { type: 'array', items: schema } : { type: 'object', properties: { __next: schema } };
  }
  return { type: 'object', properties: { spec: schema } };
}

const strange = (): JSONSchemaProps => ({
  type: 'object',
  properties: Object.fromEntries(
    ['__proto__', 'constructor', '$ref', 'a/b', '~0', '\u2028', '\ud800', 'ü', ''].map((name) => [
      name,
      { type: 'string', description: `"${name}"\n\u0000`, default: name },
    ]),
  ),
});

test.each([
  ['500 levels above a description of a megabyte', nested(LEVELS)],
  ['a megabyte of small fields', { type: 'object', properties: smallFields(15_000) }],
  ['names of every kind', strange()],
  [
    'numbers beyond 2^53',
    { type: 'object', maxProperties: 2n ** 62n, default: { a: 2n ** 60n }, enum: [2n ** 61n] },
  ],
] as [string, JSONSchemaProps][])(
  'a definition with %s is published in every form, in short turns',
  async (_, schema) => {
    const { openApi } = createOpenApi(cron({ schema: () => schema }));
    await openApi.whole([CORE, KEY]);
    await openApi.whole([CORE, KEY], 'protobuf');
    for (const form of ['json', 'protobuf'] as const) {
      const turns: number[] = [];
      let start = threadMs();
      for (const piece of (await openApi.whole([CORE, KEY], form)).pieces()) {
        if (piece.length > 0) continue;
        turns.push(threadMs() - start);
        start = threadMs();
      }
      expect(turns.length).toBeGreaterThan(0);
      expectWithin(100, Math.max(...turns));
      start = threadMs();
      const bytes = await (await openApi.groupVersion(KEY, form)).make();
      expectWithin(200, threadMs() - start);
      expect(bytes.length).toBeGreaterThan(1000);
    }
    const { components } = await v3Of(openApi);
    const { definitions } = parse(gather(await openApi.whole([CORE, KEY])));
    const wanted = Object.keys(JSON.parse(JSON.stringify(schema.properties ?? {})));
    for (const published of [components.schemas[CRON], definitions[CRON]]) {
      const names = new Set(Object.keys(published.properties));
      expect(wanted.filter((name) => !names.has(name))).toEqual([]);
    }
  },
);

function smallFields(count: number): Record<string, JSONSchemaProps> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `field${at}`,
      { type: 'string', description: `Of ${at}.`, maxLength: 9 },
    ]),
  );
}
