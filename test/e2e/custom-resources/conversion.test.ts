import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import type { CustomResourceDefinition } from '../../../src/api/types/apiextensions/v1.ts';
import { answering, answerTo, type Review } from '../../custom-resources/conversion/converter-kit.ts';
import { type Answer, type Cluster, SERVING_THREADS, startCluster } from '../../kit/cluster.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type RemoteWebhook, startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** A webhook between two versions: v1 has spec.size, v2 has spec.amount; v1 is stored. */

let database: TestDatabase;
let server: Cluster;
let webhook: RemoteWebhook;

beforeAll(async () => {
  database = await createTestDatabase();
  server = await startCluster(database.url);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database.drop();
});

beforeEach(async () => {
  webhook = await startWebhook();
  webhook.respond = answering(renaming);
});

afterEach(() => webhook[Symbol.asyncDispose]());

const GROUP = 'conversion.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const pathOf = (plural: string, version: string, name = ''): string =>
  `/apis/${GROUP}/${version}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;
const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

const NAMES: Readonly<Record<string, readonly [string, string]>> = {
  [`${GROUP}/v1`]: ['amount', 'size'],
  [`${GROUP}/v2`]: ['size', 'amount'],
};

const renaming = (review: Review) =>
  answerTo(review, ({ spec, ...rest }) => {
    const [from, to] = NAMES[review.request.desiredAPIVersion] ?? ['', ''];
    const { [from]: value, ...others } = (spec ?? {}) as JsonObject;
    return { ...rest, spec: { ...others, ...(value === undefined ? {} : { [to]: value }) } };
  });

function versionOf(name: string, field: string, storage: boolean): object {
  const spec = { type: 'object', properties: { [field]: { type: 'integer' }, color: { type: 'string' } } };
  return {
    name,
    served: true,
    storage,
    subresources: {
      status: {},
      scale: { specReplicasPath: `.spec.${field}`, statusReplicasPath: '.status.n' },
    },
    selectableFields: [{ jsonPath: `.spec.${field}` }],
    additionalPrinterColumns: [{ name: 'Much', type: 'integer', jsonPath: `.spec.${field}` }],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec, status: { type: 'object', properties: { n: { type: 'integer' } } } },
      },
    },
  };
}

const definitionOf = (plural: string, kind: string): CustomResourceDefinition => ({
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.k8s.io/v1',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [versionOf('v1', 'size', true), versionOf('v2', 'amount', false)],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString('base64') },
      },
    },
  },
});

async function expectCode(code: number, answer: Promise<Answer>): Promise<Answer> {
  const given = await answer;
  expect(given.code, given.text).toBe(code);
  return given;
}

async function serve(definition: CustomResourceDefinition): Promise<void> {
  await expectCode(201, server.request('POST', DEFINITIONS, definition));
  const { names } = definition.spec ?? {};
  await vi.waitFor(() => expectCode(200, server.request('GET', pathOf(names?.plural ?? '', 'v2'))), PATIENCE);
}

const objectOf = (kind: string, version: string, name: string, spec: object): object => ({
  apiVersion: `${GROUP}/${version}`,
  kind,
  metadata: { name },
  spec,
});

/** The last states in the log of what is not deleted, by name. */
async function storedOf(plural: string): Promise<JsonObject[]> {
  const rows = await database.query<{ verb: string; object: JsonObject }>(
    `SELECT DISTINCT ON (name) verb, object FROM revisions WHERE resource = '${plural}' ORDER BY name, revision DESC`,
  );
  return rows.filter(({ verb }) => verb !== 'delete').map(({ object }) => object);
}

test('an object is written in any version, stored in one, and read in each', async () => {
  await serve(definitionOf('apples', 'Apple'));
  const created = await expectCode(
    201,
    server.request('POST', pathOf('apples', 'v2'), objectOf('Apple', 'v2', 'a', { amount: 3 })),
  );
  expect(created.json).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { amount: 3 } });
  expect(await storedOf('apples')).toMatchObject([{ apiVersion: `${GROUP}/v1`, spec: { size: 3 } }]);
  const { json: first } = await expectCode(200, server.request('GET', pathOf('apples', 'v1', 'a')));
  expect(first).toMatchObject({ apiVersion: `${GROUP}/v1`, spec: { size: 3 } });
  const { json: second } = await expectCode(200, server.request('GET', pathOf('apples', 'v2', 'a')));
  expect(second).toEqual(created.json);
  const put = { ...second, spec: { amount: 5, color: 'red' } };
  const { json: replaced } = await expectCode(200, server.request('PUT', pathOf('apples', 'v2', 'a'), put));
  expect(replaced).toMatchObject({ spec: { amount: 5, color: 'red' }, metadata: { generation: 2 } });
  const merged = await expectCode(
    200,
    server.request('PATCH', pathOf('apples', 'v2', 'a'), { spec: { amount: 6 } }, MERGE),
  );
  expect(merged.json.spec).toEqual({ amount: 6, color: 'red' });
  expect(await storedOf('apples')).toMatchObject([
    { apiVersion: `${GROUP}/v1`, spec: { size: 6, color: 'red' } },
  ]);
  await expectCode(200, server.request('DELETE', pathOf('apples', 'v2', 'a')));
  expect(await storedOf('apples')).toEqual([]);
});

test('the objects of a page are converted with one call, and once', async () => {
  await serve(definitionOf('berries', 'Berry'));
  for (let at = 0; at < 5; at += 1)
    await expectCode(
      201,
      server.request('POST', pathOf('berries', 'v1'), objectOf('Berry', 'v1', `b${at}`, { size: at })),
    );
  expect(webhook.requests).toHaveLength(0);
  const { json: list } = await expectCode(200, server.request('GET', pathOf('berries', 'v2')));
  expect(list.items.map(({ spec }: { spec: object }) => spec)).toEqual(
    [0, 1, 2, 3, 4].map((amount) => ({ amount })),
  );
  expect(webhook.received.map(({ request }) => request.objects.length)).toEqual([5]);
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const { json: shown } = await expectCode(
    200,
    server.request('GET', pathOf('berries', 'v2'), undefined, table),
  );
  expect(shown.rows.map(({ cells }: { cells: unknown[] }) => cells)).toEqual(
    [0, 1, 2, 3, 4].map((at) => [`b${at}`, at]),
  );
  const first = await server.request('GET', `${pathOf('berries', 'v2')}?limit=2`);
  const more = `${pathOf('berries', 'v2')}?limit=2&continue=${first.json.metadata.continue}`;
  expect((await server.request('GET', more)).json.items).toMatchObject([
    { spec: { amount: 2 } },
    { spec: { amount: 3 } },
  ]);
  expect(webhook.requests).toHaveLength(1);
});

test('selectors look at what a client is shown, page by page', async () => {
  await serve(definitionOf('cherries', 'Cherry'));
  for (let at = 0; at < 6; at += 1)
    await expectCode(
      201,
      server.request('POST', pathOf('cherries', 'v1'), objectOf('Cherry', 'v1', `c${at}`, { size: at % 2 })),
    );
  const selected = `${pathOf('cherries', 'v2')}?fieldSelector=spec.amount%3D1`;
  const { json: all } = await expectCode(200, server.request('GET', selected));
  const namesOf = (list: { items: { metadata: { name: string } }[] }) =>
    list.items.map(({ metadata }) => metadata.name);
  expect(namesOf(all)).toEqual(['c1', 'c3', 'c5']);
  const { json: page } = await expectCode(200, server.request('GET', `${selected}&limit=2`));
  expect(namesOf(page)).toEqual(['c1', 'c3']);
  const { json: rest } = await expectCode(
    200,
    server.request('GET', `${selected}&limit=2&continue=${page.metadata.continue}`),
  );
  expect(namesOf(rest)).toEqual(['c5']);
  expect(rest.metadata.continue ?? '').toBe('');
});

test('a watch shows its state with one call, then each change in its version', async () => {
  await serve(definitionOf('dates', 'Date'));
  for (let at = 0; at < 5; at += 1)
    await expectCode(
      201,
      server.request('POST', pathOf('dates', 'v1'), objectOf('Date', 'v1', `d${at}`, { size: at })),
    );
  // From here on the server knows all of them.
  await expectCode(200, server.request('GET', pathOf('dates', 'v1')));
  const watch = server.watch(`${pathOf('dates', 'v2')}?watch=true&resourceVersion=0`);
  await vi.waitFor(() => expect(watch.events).toHaveLength(5), PATIENCE);
  expect(watch.events.map(({ object }) => object)).toMatchObject(
    [0, 1, 2, 3, 4].map((amount) => ({ spec: { amount } })),
  );
  expect(webhook.received.map(({ request }) => request.objects.length)).toEqual([5]);
  await expectCode(200, server.request('PATCH', pathOf('dates', 'v1', 'd0'), { spec: { size: 9 } }, MERGE));
  await expectCode(200, server.request('DELETE', pathOf('dates', 'v1', 'd1')));
  await vi.waitFor(() => expect(watch.events).toHaveLength(7), PATIENCE);
  expect(watch.events.slice(5)).toMatchObject([
    { type: 'MODIFIED', object: { apiVersion: `${GROUP}/v2`, spec: { amount: 9 } } },
    { type: 'DELETED', object: { apiVersion: `${GROUP}/v2`, spec: { amount: 1 } } },
  ]);
  watch.stop();
});

test('a watch with a selector shows what its selector matches after the conversion', async () => {
  await serve(definitionOf('dills', 'Dill'));
  const create = (name: string, size: number) =>
    expectCode(201, server.request('POST', pathOf('dills', 'v1'), objectOf('Dill', 'v1', name, { size })));
  const change = (name: string, size: number) =>
    expectCode(200, server.request('PATCH', pathOf('dills', 'v1', name), { spec: { size } }, MERGE));
  await create('a', 1);
  await create('b', 2);
  const { json: list } = await expectCode(200, server.request('GET', pathOf('dills', 'v2')));
  const selected = `${pathOf('dills', 'v2')}?watch=true&fieldSelector=spec.amount%3D1`;
  const watches = [
    server.watch(`${selected}&resourceVersion=0`),
    server.watch(`${selected}&resourceVersion=${list.metadata.resourceVersion}`),
  ];
  await vi.waitFor(() => expect(watches[0]?.events).toHaveLength(1), PATIENCE);
  await create('c', 1);
  await change('b', 1);
  await change('a', 2);
  await change('a', 3);
  await change('b', 1);
  await expectCode(
    200,
    server.request('PATCH', pathOf('dills', 'v1', 'b'), { spec: { color: 'red' } }, MERGE),
  );
  await expectCode(200, server.request('DELETE', pathOf('dills', 'v1', 'c')));
  const changes = ['ADDED c', 'ADDED b', 'DELETED a', 'MODIFIED b', 'DELETED c'];
  const shown = (at: number) =>
    watches[at]?.events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  await vi.waitFor(() => expect([shown(0), shown(1)]).toEqual([['ADDED a', ...changes], changes]), PATIENCE);
  for (const watch of watches) watch.stop();
});

test('a webhook that fails stops those alone who need it, and tells them why', async () => {
  await serve(definitionOf('elders', 'Elder'));
  await expectCode(
    201,
    server.request('POST', pathOf('elders', 'v1'), objectOf('Elder', 'v1', 'a', { size: 1 })),
  );
  webhook.respond = answering((review) => ({
    ...answerTo(review),
    response: { uid: review.request.uid, result: { status: 'Failure', message: 'out of paint' } },
  }));
  const message = `conversion webhook for ${GROUP}/v1, Kind=Elder failed: out of paint`;
  for (const path of [pathOf('elders', 'v2', 'a'), pathOf('elders', 'v2')]) {
    const { json } = await expectCode(500, server.request('GET', path));
    expect(json).toMatchObject({ kind: 'Status', status: 'Failure', code: 500, message });
  }
  const watch = server.watch(`${pathOf('elders', 'v2')}?watch=true&resourceVersion=0`);
  await watch.ended;
  expect(watch.events).toMatchObject([{ type: 'ERROR', object: { code: 500, message } }]);
  const refused = await expectCode(
    500,
    server.request('POST', pathOf('elders', 'v2'), objectOf('Elder', 'v2', 'b', { amount: 1 })),
  );
  expect(refused.json.message).toBe(`conversion webhook for ${GROUP}/v2, Kind=Elder failed: out of paint`);
  expect((await storedOf('elders')).length).toBe(1);
  await expectCode(200, server.request('GET', pathOf('elders', 'v1', 'a')));
  webhook.respond = answering(renaming);
  await expectCode(200, server.request('GET', pathOf('elders', 'v2', 'a')));
});

test('a definition that names another webhook has its objects converted by that one', async () => {
  const definition = definitionOf('figs', 'Fig');
  await serve(definition);
  await expectCode(
    201,
    server.request('POST', pathOf('figs', 'v1'), objectOf('Fig', 'v1', 'a', { size: 1 })),
  );
  await expectCode(200, server.request('GET', pathOf('figs', 'v2', 'a')));
  const calls = webhook.requests.length;
  await using other = await startWebhook();
  other.respond = answering((review) =>
    answerTo(review, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...(metadata as JsonObject), labels: { by: 'other' } },
      spec: { amount: 7 },
    })),
  );
  const clientConfig = { url: other.url, caBundle: Buffer.from(other.ca).toString('base64') };
  const change = { spec: { conversion: { webhook: { clientConfig } } } };
  await expectCode(200, server.request('PATCH', `${DEFINITIONS}/figs.${GROUP}`, change, MERGE));
  await vi.waitFor(async () => {
    const { json } = await expectCode(200, server.request('GET', pathOf('figs', 'v2', 'a')));
    expect(json).toMatchObject({ spec: { amount: 7 }, metadata: { labels: { by: 'other' } } });
  }, PATIENCE);
  expect(webhook.requests).toHaveLength(calls);
});

test('the scale of a version stands where that version says, and keeps its owners', async () => {
  await serve(definitionOf('grapes', 'Grape'));
  const applied = objectOf('Grape', 'v2', 'a', { amount: 2, color: 'red' });
  await expectCode(
    201,
    server.request('PATCH', `${pathOf('grapes', 'v2', 'a')}?fieldManager=me`, applied, APPLY),
  );
  const scale = pathOf('grapes', 'v2', 'a/scale');
  const { json: read } = await expectCode(200, server.request('GET', scale));
  expect(read).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    spec: { replicas: 2 },
    status: { replicas: 0 },
  });
  const { json: scaled } = await expectCode(
    200,
    server.request('PATCH', `${scale}?fieldManager=you`, { spec: { replicas: 5 } }, MERGE),
  );
  expect(scaled).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
  const { json: after } = await expectCode(200, server.request('GET', pathOf('grapes', 'v2', 'a')));
  expect(after).toMatchObject({ spec: { amount: 5, color: 'red' }, metadata: { generation: 2 } });
  expect(after.metadata.managedFields).toMatchObject([
    { manager: 'me', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:color': {} } } },
    { manager: 'you', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:amount': {} } } },
  ]);
  const { json: first } = await expectCode(200, server.request('GET', pathOf('grapes', 'v1', 'a/scale')));
  expect(first.spec.replicas).toBe(5);
  const config = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'a' },
    spec: { replicas: 5 },
  };
  await expectCode(200, server.request('PATCH', `${scale}?fieldManager=they`, config, APPLY));
  const conflict = await expectCode(
    409,
    server.request('PATCH', `${scale}?fieldManager=they`, { ...config, spec: { replicas: 6 } }, APPLY),
  );
  expect(conflict.json.details.causes).toHaveLength(1);
});

const ownersOf = (json: JsonObject): unknown =>
  ((json.metadata as JsonObject).managedFields as JsonObject[]).map(({ manager, apiVersion, fieldsV1 }) => [
    manager,
    String(apiVersion).replace(`${GROUP}/`, ''),
    fieldsV1,
  ]);
const spec = (...names: string[]): JsonObject => ({
  'f:spec': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});

test('owners keep and lose their fields in the words of their own version, as the webhook translates them', async () => {
  await serve(definitionOf('medlars', 'Medlar'));
  const of = (version: string, fields: object): object => objectOf('Medlar', version, 'a', fields);
  const path = (version: string, query: string): string => `${pathOf('medlars', version, 'a')}?${query}`;
  const apply = (code: number, version: string, query: string, fields: object): Promise<Answer> =>
    expectCode(code, server.request('PATCH', path(version, query), of(version, fields), APPLY));

  await apply(201, 'v1', 'fieldManager=first', { size: 1, color: 'red' });
  const { json: refused } = await apply(409, 'v2', 'fieldManager=second', { amount: 2 });
  expect(refused.message).toBe('Apply failed with 1 conflict: conflict with "first": .spec.size');
  const { json: taken } = await apply(200, 'v2', 'fieldManager=second&force=true', { amount: 2 });
  expect(taken.spec).toEqual({ amount: 2, color: 'red' });
  expect(ownersOf(taken)).toEqual([
    ['first', 'v1', spec('color')],
    ['second', 'v2', spec('amount')],
  ]);

  const merged = { spec: { size: 3 } };
  const { json: updated } = await expectCode(
    200,
    server.request('PATCH', path('v1', 'fieldManager=third'), merged, MERGE),
  );
  expect(ownersOf(updated)).toEqual([
    ['first', 'v1', spec('color')],
    ['third', 'v1', spec('size')],
  ]);
});

test('what a manager leaves out goes in the version of its last configuration, unless an owner in another version has it', async () => {
  await serve(definitionOf('nectarines', 'Nectarine'));
  const apply = async (version: string, manager: string, fields: object): Promise<JsonObject> => {
    const query = `fieldManager=${manager}&force=true`;
    const path = `${pathOf('nectarines', version, 'a')}?${query}`;
    const { json, code, text } = await server.request(
      'PATCH',
      path,
      objectOf('Nectarine', version, 'a', fields),
      APPLY,
    );
    expect([200, 201], text).toContain(code);
    return json;
  };
  await apply('v1', 'first', { size: 1, color: 'red' });
  await apply('v2', 'second', { amount: 1 });
  const { spec: kept } = await apply('v2', 'first', { color: 'red' });
  expect(kept).toEqual({ amount: 1, color: 'red' });
  await apply('v1', 'third', { size: 1 });
  const { spec: owned } = await apply('v2', 'second', { color: 'red' });
  expect(owned).toEqual({ amount: 1, color: 'red' });
  const { spec: left } = await apply('v2', 'third', { color: 'red' });
  expect(left).toEqual({ color: 'red' });
});

test('a manager of labels, annotations, finalizers and fields applies in either version what it keeps and what it leaves out', async () => {
  await serve(definitionOf('quinces', 'Quince'));
  const metadata = {
    labels: { a: 'b' },
    annotations: { c: 'd' },
    finalizers: ['example.com/f'],
  };
  type Meta = keyof typeof metadata;
  for (const [at, [owned, kept]] of (
    [
      [['labels'], []],
      [['annotations'], []],
      [['finalizers'], []],
      [['labels'], ['labels']],
      [
        ['labels', 'annotations', 'finalizers'],
        ['labels', 'annotations', 'finalizers'],
      ],
      [['labels', 'annotations', 'finalizers'], ['finalizers']],
      [['labels', 'annotations', 'finalizers'], []],
    ] satisfies [Meta[], Meta[]][]
  ).entries()) {
    const parts = (names: readonly Meta[]): object =>
      Object.fromEntries(names.map((name) => [name, metadata[name]]));
    const apply = async (code: number, version: string, body: object): Promise<JsonObject> => {
      const path = `${pathOf('quinces', version, `q-${at}`)}?fieldManager=one`;
      return (await expectCode(code, server.request('PATCH', path, body, APPLY))).json;
    };
    const of = (version: string, names: readonly Meta[], named: boolean): object => ({
      ...objectOf('Quince', version, '', version === 'v1' ? { size: 1 } : { amount: 1 }),
      metadata: { ...(named ? { name: `q-${at}` } : {}), ...parts(names) },
    });
    const first = await apply(201, 'v1', of('v1', owned, true));
    for (const [version, named] of [
      ['v2', true],
      ['v1', true],
      ['v2', false],
    ] as const) {
      const next = await apply(200, version, of(version, kept, named));
      expect(next.metadata).toMatchObject({
        name: `q-${at}`,
        uid: (first.metadata as JsonObject).uid,
        ...parts(kept),
      });
      for (const name of owned)
        if (!(kept as Meta[]).includes(name)) expect(next.metadata).not.toHaveProperty(name);
      expect(next.spec).toEqual(version === 'v1' ? { size: 1 } : { amount: 1 });
    }
  }
});

test('a struct that is left without the fields of its last configuration is null, in the same version and in another', async () => {
  const { spec, ...definition } = definitionOf('rowans', 'Rowan');
  await serve({ ...definition, spec: { ...spec, conversion: { strategy: 'None' } } });
  for (const version of ['v1', 'v2']) {
    const path = (of: string): string => `${pathOf('rowans', of, version)}?fieldManager=one`;
    const first = objectOf('Rowan', 'v1', version, { color: 'red' });
    await expectCode(201, server.request('PATCH', path('v1'), first, APPLY));
    const next = objectOf('Rowan', version, version, {});
    const { json } = await expectCode(422, server.request('PATCH', path(version), next, APPLY));
    expect(json.message).toBe(
      `Rowan.${GROUP} "${version}" is invalid: spec: Invalid value: "null": spec in body must be of type object: "null"`,
    );
  }
});

test('an apply that needs a webhook which fails is refused, and an update leaves an object without owners', async () => {
  await serve(definitionOf('olives', 'Olive'));
  const path = (version: string, manager: string): string =>
    `${pathOf('olives', version, 'a')}?fieldManager=${manager}`;
  const object = (version: string, fields: object): object => objectOf('Olive', version, 'a', fields);
  await expectCode(201, server.request('PATCH', path('v2', 'first'), object('v2', { amount: 1 }), APPLY));
  webhook.respond = (_request, response) => void response.writeHead(500).end();
  const { json } = await expectCode(
    500,
    server.request('PATCH', path('v1', 'second'), object('v1', { color: 'red' }), APPLY),
  );
  expect(json.message).toMatch(/^failed to convert old object: conversion webhook for .* failed: /);
  const update = { spec: { color: 'blue' } };
  const { json: updated } = await expectCode(
    200,
    server.request('PATCH', path('v1', 'second'), update, MERGE),
  );
  expect(updated.spec).toEqual({ size: 1, color: 'blue' });
  expect(updated.metadata.managedFields).toBeUndefined();
});

/** Calls of one webhook that are under way at once, of all threads together. */
const AT_ONCE = Math.ceil(16 / SERVING_THREADS) * SERVING_THREADS;

test('a webhook that hangs delays few of the requests that need it, and no other', {
  tags: 'long',
}, async () => {
  await serve(definitionOf('hazels', 'Hazel'));
  await expectCode(
    201,
    server.request('POST', pathOf('hazels', 'v1'), objectOf('Hazel', 'v1', 'a', { size: 1 })),
  );
  webhook.respond = () => {};
  const codes: number[] = [];
  const put = { ...objectOf('Hazel', 'v2', 'x', { amount: 1 }) };
  const asked = Array.from({ length: 40 }, () =>
    server.request('POST', pathOf('hazels', 'v2'), put).then(({ code }) => codes.push(code)),
  );
  await vi.waitFor(() => expect(webhook.requests).toHaveLength(AT_ONCE), PATIENCE);
  await expectCode(200, server.request('GET', pathOf('hazels', 'v1', 'a')));
  // Requests that wait for their turn get 429.
  await vi.waitFor(() => expect(codes).toEqual(Array(40 - AT_ONCE).fill(429)), PATIENCE);
  expect(webhook.requests).toHaveLength(AT_ONCE);
  await webhook.stop();
  await Promise.all(asked);
  expect(codes.slice(40 - AT_ONCE)).toEqual(Array(AT_ONCE).fill(500));
  await webhook.start();
});
