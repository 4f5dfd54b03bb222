// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CustomResourceDefinition, JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Objects of custom resources through every verb, on two servers of one database. */

let database: TestDatabase;
let servers: Cluster[];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await startCluster(database.url), await startCluster(database.url)];
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'stable.example.com';
const at = (index: number): Cluster => servers[index % servers.length] as Cluster;
const pathOf = (plural: string, name = '', version = 'v1'): string =>
  `/apis/${GROUP}/${version}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;

async function expectCode(code: number, answer: Promise<Answer>): Promise<Answer> {
  const given = await answer;
  expect(given.code, given.text).toBe(code);
  return given;
}

/** Creates a definition, and waits until every server serves it. */
async function serve(definition: CustomResourceDefinition): Promise<void> {
  await expectCode(201, at(0).request('POST', DEFINITIONS, definition));
  const { names, versions } = definition.spec ?? {};
  const [version] = versions ?? [];
  for (const server of servers)
    await vi.waitFor(
      () => expectCode(200, server.request('GET', pathOf(names?.plural ?? '', '', version?.name))),
      PATIENCE,
    );
}

const MERGE = { 'content-type': 'application/merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

function objectOf(kind: string, name: string, rest: object = {}, version = 'v1'): object {
  return { apiVersion: `${GROUP}/${version}`, kind, metadata: { name }, ...rest };
}

/** Gives the only version of a definition a status of its own. */
function withStatus(definition: CustomResourceDefinition): CustomResourceDefinition {
  for (const version of definition.spec?.versions ?? []) version.subresources = { status: {} };
  return definition;
}

test('an object that one server stores is read by the other, with its kind in lists too', async () => {
  await serve(definitionOf({ plural: 'apples', kind: 'Apple' }));
  const created = await expectCode(
    201,
    at(0).request('POST', pathOf('apples'), objectOf('Apple', 'a', { spec: { size: 3 } })),
  );
  expect(created.json).toMatchObject({
    metadata: { generation: 1, namespace: 'default' },
    spec: { size: 3 },
  });
  const read = await expectCode(200, at(1).request('GET', pathOf('apples', 'a')));
  expect(read.json).toEqual(created.json);
  const { json: list } = await expectCode(200, at(1).request('GET', pathOf('apples')));
  expect(list).toMatchObject({ kind: 'AppleList', apiVersion: `${GROUP}/v1`, items: [created.json] });
  const { json: all } = await at(1).request('GET', `/apis/${GROUP}/v1/apples?limit=500`);
  expect(all.items).toEqual([created.json]);
});

test('what a client cannot be given, or may not send, is refused as upstream does', async () => {
  await serve(definitionOf({ plural: 'berries', kind: 'Berry' }));
  const path = pathOf('berries');
  const protobuf = 'application/vnd.kubernetes.protobuf';
  await expectCode(201, at(0).request('POST', path, objectOf('Berry', 'a')));
  await expectCode(406, at(0).request('GET', path, undefined, { accept: protobuf }));
  const { json } = await at(0).request('GET', path, undefined, { accept: `${protobuf},application/json` });
  expect(json.kind).toBe('BerryList');
  await expectCode(415, at(0).request('POST', path, objectOf('Berry', 'b'), { 'content-type': protobuf }));
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const patched = await expectCode(415, at(0).request('PATCH', `${path}/a`, {}, strategic));
  expect(patched.json.message).toBe(
    'the body of the request was in an unknown format - accepted media types include: ' +
      'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  );
  const other = await expectCode(422, at(0).request('POST', path, objectOf('Cherry', 'c')));
  expect(other.json.message).toContain('Berry');
  await expectCode(409, at(0).request('POST', path, objectOf('Berry', 'a')));
  await expectCode(404, at(0).request('GET', `/apis/${GROUP}/v2/berries`));
  const unversioned = await at(0).request('PUT', `${path}/a`, objectOf('Berry', 'a', { x: 1 }));
  expect([unversioned.code, unversioned.json.details.causes[0].field]).toEqual([
    422,
    'metadata.resourceVersion',
  ]);
});

test('a status with a path of its own is written there only, and generation counts the rest', async () => {
  await serve(withStatus(definitionOf({ plural: 'dates', kind: 'Date' })));
  const path = pathOf('dates', 'a');
  const { json: created } = await at(0).request(
    'POST',
    pathOf('dates'),
    objectOf('Date', 'a', { spec: 1, status: 'x' }),
  );
  expect(created).toMatchObject({ spec: 1, metadata: { generation: 1 } });
  expect(created.status).toBeUndefined();
  const status = { metadata: { labels: { no: 'way' } }, spec: 2, status: 'good' };
  const { json: shown } = await expectCode(200, at(1).request('PATCH', `${path}/status`, status, MERGE));
  expect(shown).toMatchObject({ spec: 1, status: 'good', metadata: { generation: 1 } });
  expect(shown.metadata.labels).toBeUndefined();
  const { json: changed } = await at(0).request('PATCH', path, { spec: 2, status: 'bad' }, MERGE);
  expect(changed).toMatchObject({ spec: 2, status: 'good', metadata: { generation: 2 } });
});

test('a write of the status answers for what it changes of the status, and for nothing else', async () => {
  const definition = withStatus(definitionOf({ plural: 'limes', kind: 'Lime' }));
  const size: JSONSchemaProps = { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } };
  const properties = { spec: size, status: { ...size, 'x-kubernetes-preserve-unknown-fields': true } };
  for (const version of definition.spec?.versions ?? [])
    version.schema = { openAPIV3Schema: { type: 'object', properties } };
  await serve(definition);
  const path = pathOf('limes', 'a');
  await expectCode(201, at(0).request('POST', pathOf('limes'), objectOf('Lime', 'a', { spec: { size: 7 } })));
  await expectCode(200, at(0).request('PATCH', `${path}/status`, { status: { size: 7 } }, MERGE));
  const schema = '/spec/versions/0/schema/openAPIV3Schema/properties';
  const stricter = ['spec', 'status'].map((part) => ({
    ...{ op: 'replace', path: `${schema}/${part}/properties/size/maximum`, value: 5 },
  }));
  const changed = `${DEFINITIONS}/${definition.metadata.name}`;
  await expectCode(200, at(0).request('PATCH', changed, stricter, JSON_PATCH));
  const eight = { spec: { size: 8 } };
  await vi.waitFor(
    () => expectCode(422, at(0).request('PATCH', `${path}?dryRun=All`, eight, MERGE)),
    PATIENCE,
  );

  const write = (status: object): Promise<Answer> =>
    at(0).request('PATCH', `${path}/status`, { status }, MERGE);
  await expectCode(200, write({ more: 1 }));
  const { json } = await expectCode(422, write({ size: 8 }));
  expect(json.details.causes).toMatchObject([{ field: 'status.size' }]);
  await expectCode(200, write({ size: 5 }));
});

test('a row of a status shows what the object shows, and one of a scale what a scale has', async () => {
  const definition = withStatus(definitionOf({ plural: 'kiwis', kind: 'Kiwi' }));
  for (const version of definition.spec?.versions ?? []) {
    version.additionalPrinterColumns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
    const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };
    version.subresources = { status: {}, scale };
  }
  await serve(definition);
  await expectCode(201, at(0).request('POST', pathOf('kiwis'), objectOf('Kiwi', 'a', { spec: { size: 7 } })));
  const shown = async (subresource: string): Promise<unknown> => {
    const path = `${pathOf('kiwis', 'a')}/${subresource}`;
    const { json } = await expectCode(200, at(0).request('GET', path, undefined, TABLE));
    const names = json.columnDefinitions.map(({ name }: { name: string }) => name);
    return [names, json.rows[0].cells.slice(0, 3)];
  };
  expect(await shown('status')).toEqual([
    ['Name', 'Size'],
    ['a', 7],
  ]);
  expect(await shown('scale')).toEqual([
    ['Name', 'Desired', 'Available', 'Age'],
    ['a', 7, 0],
  ]);
});

test('without that path a status is a field like any other', async () => {
  await serve(definitionOf({ plural: 'elders', kind: 'Elder' }));
  await expectCode(201, at(0).request('POST', pathOf('elders'), objectOf('Elder', 'a', { status: 'x' })));
  const { json } = await at(0).request('PATCH', pathOf('elders', 'a'), { status: 'y' }, MERGE);
  expect(json).toMatchObject({ status: 'y', metadata: { generation: 2 } });
  await expectCode(404, at(0).request('GET', `${pathOf('elders', 'a')}/status`));
});

test('a watch tells of every change on any server, and an apply keeps its owner', async () => {
  await serve(definitionOf({ plural: 'figs', kind: 'Fig' }));
  const watch = at(1).watch(`${pathOf('figs')}?watch=true`);
  const applied = await expectCode(
    201,
    at(0).request(
      'PATCH',
      `${pathOf('figs', 'a')}?fieldManager=me`,
      objectOf('Fig', 'a', { spec: { size: 1 } }),
      APPLY,
    ),
  );
  expect(applied.json.metadata.managedFields).toMatchObject([{ manager: 'me', operation: 'Apply' }]);
  const conflict = await at(1).request(
    'PATCH',
    `${pathOf('figs', 'a')}?fieldManager=you`,
    objectOf('Fig', 'a', { spec: { size: 2 } }),
    APPLY,
  );
  expect([conflict.code, conflict.json.details.causes[0].field]).toEqual([409, '.spec.size']);
  await expectCode(200, at(1).request('DELETE', pathOf('figs', 'a')));
  await vi.waitFor(
    () => expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']),
    PATIENCE,
  );
});

test('each version shows every object as its own, and both share one history', async () => {
  const definition = definitionOf({ plural: 'grapes', kind: 'Grape' });
  const [first] = definition.spec?.versions ?? [];
  definition.spec?.versions?.push({ ...first, name: 'v1beta1', storage: false, deprecated: true });
  await serve(definition);
  const beta = pathOf('grapes', '', 'v1beta1');
  const { json: none } = await expectCode(200, at(1).request('GET', beta));
  const watch = at(1).watch(`${beta}?watch=true&resourceVersion=${none.metadata.resourceVersion}`);
  const created = await expectCode(
    201,
    at(0).request('POST', pathOf('grapes'), objectOf('Grape', 'a', { x: 1 })),
  );
  const read = await expectCode(200, at(0).request('GET', `${beta}/a`));
  expect(read.json).toEqual({ ...created.json, apiVersion: `${GROUP}/v1beta1` });
  expect(read.headers.warning).toBe(`299 - "${GROUP}/v1beta1 Grape is deprecated; use ${GROUP}/v1 Grape"`);
  await expectCode(200, at(0).request('PUT', `${beta}/a`, { ...read.json, x: 2 }));
  const rows = await database.query<{ version: string }>(
    `SELECT object->>'apiVersion' AS version FROM revisions WHERE resource = 'grapes' ORDER BY revision`,
  );
  expect(rows).toEqual([{ version: `${GROUP}/v1` }, { version: `${GROUP}/v1` }]);
  await vi.waitFor(() => expect(watch.events).toHaveLength(2), PATIENCE);
  const apiVersion = `${GROUP}/v1beta1`;
  expect(watch.events).toMatchObject([{ object: { apiVersion, x: 1 } }, { object: { apiVersion, x: 2 } }]);
});

test('a watch ends when the definition changes, so that no client sees objects by a schema that is gone', async () => {
  const definition = definitionOf({ plural: 'hazels', kind: 'Hazel' });
  await serve(definition);
  const watch = at(1).watch(`${pathOf('hazels')}?watch=true`);
  await expectCode(201, at(0).request('POST', pathOf('hazels'), objectOf('Hazel', 'a')));
  await vi.waitFor(() => expect(watch.events).toHaveLength(1), PATIENCE);
  const [version] = definition.spec?.versions ?? [];
  const versions = [
    { ...version, additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: '.x' }] },
  ];
  const path = `${DEFINITIONS}/hazels.${GROUP}`;
  await expectCode(200, at(0).request('PATCH', path, { spec: { versions } }, MERGE));
  await watch.ended;
  expect(watch.events.map(({ type }) => type)).toEqual(['ADDED']);
});

test('columns and selectable fields are those of the definition', async () => {
  const definition = definitionOf({ plural: 'irises', kind: 'Iris' });
  const [version] = definition.spec?.versions ?? [];
  Object.assign(version ?? {}, {
    additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
    selectableFields: [{ jsonPath: '.spec.color' }],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
      },
    },
  });
  await serve(definition);
  for (const [name, color] of [
    ['a', 'red'],
    ['b', 'blue'],
  ] as const)
    await expectCode(
      201,
      at(0).request('POST', pathOf('irises'), objectOf('Iris', name, { spec: { color } })),
    );
  const { json } = await at(0).request('GET', pathOf('irises'), undefined, TABLE);
  expect(json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Color']);
  expect(json.rows.map(({ cells }: { cells: string[] }) => cells)).toEqual([
    ['a', 'red'],
    ['b', 'blue'],
  ]);
  const blue = await at(1).request('GET', `${pathOf('irises')}?fieldSelector=spec.color%3Dblue`);
  expect(blue.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['b']);
  const wrong = await expectCode(
    400,
    at(0).request('GET', `${pathOf('irises')}?fieldSelector=spec.size%3D1`),
  );
  expect(wrong.json.message).toBe('field label not supported: spec.size');
});

test('a collection is deleted, and with the definition its paths go', async () => {
  const definition = definitionOf({ plural: 'junipers', kind: 'Juniper' });
  await serve(definition);
  for (const name of ['a', 'b', 'c'])
    await expectCode(201, at(0).request('POST', pathOf('junipers'), objectOf('Juniper', name)));
  await expectCode(200, at(1).request('DELETE', pathOf('junipers')));
  expect((await at(0).request('GET', pathOf('junipers'))).json.items).toEqual([]);
  await at(0).request('DELETE', `${DEFINITIONS}/junipers.${GROUP}`);
  for (const server of servers)
    await vi.waitFor(() => expectCode(404, server.request('GET', pathOf('junipers'))), PATIENCE);
});
