// @module-tag long
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import type { CustomResourceDefinition } from '../../../src/api/types/apiextensions/v1.ts';
import { answering, answerTo, type Review } from '../../custom-resources/conversion/converter-kit.ts';
import { allow, base64, deny, patched, respondWith } from '../../kit/admission-webhook.ts';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { settle } from '../../kit/settle.ts';
import { type RemoteWebhook, startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Custom resources are resources like any other: quotas, tables, metadata alone, webhooks and policies of admission. */

let database: TestDatabase;
let server: Cluster;
let hook: RemoteWebhook;
let converter: RemoteWebhook;

beforeAll(async () => {
  database = await createTestDatabase();
  server = await startCluster(database.url, ['--disable-admission-plugins=ServiceAccount']);
  hook = await startWebhook();
  converter = await startWebhook();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
  await converter[Symbol.asyncDispose]();
  await database.drop();
});

beforeEach(() => {
  hook.received.length = 0;
  hook.respond = allow;
  converter.received.length = 0;
  converter.respond = answering(renaming);
});

const HOOKS = ['validating', 'mutating'].map(
  (kind) => `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`,
);

afterEach(async () => {
  for (const path of HOOKS) {
    await server.request('DELETE', path);
    await settle(server, path);
  }
});

const GROUP = 'platform.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const pathOf = (plural: string, version: string, name = ''): string =>
  `/apis/${GROUP}/${version}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;

async function expectCode(code: number, answer: Promise<Answer>): Promise<Answer> {
  const given = await answer;
  expect(given.code, given.text).toBe(code);
  return given;
}

/** v1 has spec.size, v2 has spec.amount. */
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

const versionOf = (name: string, field: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  subresources: {
    status: {},
    scale: { specReplicasPath: `.spec.${field}`, statusReplicasPath: '.status.n' },
  },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            [field]: { type: 'integer' },
            color: { type: 'string' },
            finish: { type: 'string', default: 'matt' },
          },
        },
        status: { type: 'object', properties: { n: { type: 'integer' } } },
      },
    },
  },
});

function definitionOf(plural: string, kind: string, strategy: 'None' | 'Webhook'): CustomResourceDefinition {
  const clientConfig = { url: converter.url, caBundle: base64(converter.ca) };
  const webhook = { conversionReviewVersions: ['v1'], clientConfig };
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        versionOf('v1', 'size', true),
        versionOf('v2', strategy === 'None' ? 'size' : 'amount', false),
      ],
      conversion: strategy === 'None' ? { strategy } : { strategy, webhook },
    },
  } as CustomResourceDefinition;
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

async function configure(kind: 'Validating' | 'Mutating', version: string, plural: string, more = {}) {
  const path = HOOKS[kind === 'Validating' ? 0 : 1] ?? '';
  const rule = {
    apiGroups: [GROUP],
    apiVersions: [version],
    resources: [plural, `${plural}/*`],
    operations: ['*'],
  };
  const webhook = {
    name: 'hook.example.com',
    clientConfig: { url: hook.url, caBundle: base64(hook.ca) },
    rules: [rule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  };
  await expectCode(201, server.request('POST', path, { metadata: { name: 'hooks' }, webhooks: [webhook] }));
  await settle(server, path);
}

test('a quota counts objects of a definition that came after it, holds them to its limit, and gets back what is deleted', async () => {
  const quotas = '/api/v1/namespaces/default/resourcequotas';
  const hard = { [`count/apples.${GROUP}`]: '2' };
  await expectCode(201, server.request('POST', quotas, { metadata: { name: 'few' }, spec: { hard } }));
  const used = async (): Promise<object> =>
    (await server.request('GET', `${quotas}/few`)).json.status?.used ?? {};
  await serve(definitionOf('apples', 'Apple', 'None'));
  await vi.waitFor(async () => expect(await used()).toEqual({ [`count/apples.${GROUP}`]: '0' }), PATIENCE);
  await settle(server, quotas);
  for (const name of ['a', 'b'])
    await expectCode(201, server.request('POST', pathOf('apples', 'v2'), objectOf('Apple', 'v2', name, {})));
  const refused = await expectCode(
    403,
    server.request('POST', pathOf('apples', 'v1'), objectOf('Apple', 'v1', 'c', {})),
  );
  expect(refused.json.message).toBe(
    `apples.${GROUP} "c" is forbidden: exceeded quota: few, requested: count/apples.${GROUP}=1, used: count/apples.${GROUP}=2, limited: count/apples.${GROUP}=2`,
  );
  await expectCode(200, server.request('DELETE', pathOf('apples', 'v2', 'a')));
  await vi.waitFor(async () => expect(await used()).toEqual({ [`count/apples.${GROUP}`]: '1' }), PATIENCE);
  await expectCode(200, server.request('DELETE', `${quotas}/few`));
});

test('metadata alone, and rows with whole objects or parts of them, are those of the version asked for', async () => {
  await serve(definitionOf('berries', 'Berry', 'Webhook'));
  await expectCode(
    201,
    server.request('POST', pathOf('berries', 'v1'), objectOf('Berry', 'v1', 'a', { size: 3 })),
  );
  const as = (kind: string) => ({ accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` });
  for (const version of ['v1', 'v2']) {
    const path = pathOf('berries', version);
    const one = await expectCode(
      200,
      server.request('GET', `${path}/a`, undefined, as('PartialObjectMetadata')),
    );
    expect(one.json).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a' },
    });
    expect(one.json.spec).toBeUndefined();
    const many = await expectCode(
      200,
      server.request('GET', path, undefined, as('PartialObjectMetadataList')),
    );
    expect(many.json).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
    });
    const whole = await expectCode(
      200,
      server.request('GET', `${path}?includeObject=Object`, undefined, as('Table')),
    );
    const spec = version === 'v1' ? { size: 3, finish: 'matt' } : { amount: 3, finish: 'matt' };
    expect(whole.json.rows).toMatchObject([
      {
        cells: ['a', expect.any(String)],
        object: { kind: 'Berry', apiVersion: `${GROUP}/${version}`, spec },
      },
    ]);
    const part = await expectCode(200, server.request('GET', path, undefined, as('Table')));
    expect(part.json.rows[0].object).toMatchObject({
      kind: 'PartialObjectMetadata',
      metadata: { name: 'a' },
    });
    expect(part.json.rows[0].object.spec).toBeUndefined();
    const none = await expectCode(
      200,
      server.request('GET', `${path}?includeObject=None`, undefined, as('Table')),
    );
    expect(none.json.rows[0].object ?? null).toBeNull();
  }
});

test('rows of a watch hold cells and whole objects of the version asked for', async () => {
  await serve(definitionOf('cherries', 'Cherry', 'Webhook'));
  await expectCode(
    201,
    server.request('POST', pathOf('cherries', 'v1'), objectOf('Cherry', 'v1', 'a', { size: 3 })),
  );
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const query = 'watch=true&timeoutSeconds=1&resourceVersion=0&includeObject=Object';
  const { text } = await server.request('GET', `${pathOf('cherries', 'v2')}?${query}`, undefined, { accept });
  const [first] = text
    .split('\n')
    .slice(0, 1)
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    type: 'ADDED',
    object: {
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: 'Age' }],
      rows: [
        { cells: ['a', expect.any(String)], object: { apiVersion: `${GROUP}/v2`, spec: { amount: 3 } } },
      ],
    },
  });
});

test.each(['None', 'Webhook'] as const)(
  'a webhook for one version is asked about writes in another, and sees them as its own: conversion %s',
  async (strategy) => {
    const plural = `dates${strategy.toLowerCase()}`;
    const kind = `Date${strategy}`;
    await serve(definitionOf(plural, kind, strategy));
    await configure('Validating', 'v1', plural);
    const field = strategy === 'None' ? 'size' : 'amount';
    await expectCode(
      201,
      server.request('POST', pathOf(plural, 'v2'), objectOf(kind, 'v2', 'a', { [field]: 3 })),
    );
    expect(hook.received).toHaveLength(1);
    expect(hook.received[0].request).toMatchObject({
      kind: { group: GROUP, version: 'v1', kind },
      resource: { group: GROUP, version: 'v1', resource: plural },
      requestKind: { group: GROUP, version: 'v2', kind },
      requestResource: { group: GROUP, version: 'v2', resource: plural },
      object: { apiVersion: `${GROUP}/v1`, kind, spec: { size: 3, finish: 'matt' } },
      oldObject: null,
    });
    await expectCode(
      200,
      server.request('PATCH', pathOf(plural, 'v2', 'a'), { spec: { [field]: 4 } }, MERGE),
    );
    expect(hook.received[1].request).toMatchObject({
      object: { apiVersion: `${GROUP}/v1`, spec: { size: 4 } },
      oldObject: { apiVersion: `${GROUP}/v1`, spec: { size: 3 } },
    });
    await expectCode(200, server.request('DELETE', pathOf(plural, 'v2', 'a')));
    expect(hook.received.at(-1).request).toMatchObject({
      operation: 'DELETE',
      object: null,
      oldObject: { apiVersion: `${GROUP}/v1`, spec: { size: 4 } },
    });
  },
);

test('a webhook that wants its own version alone is not asked about another', async () => {
  await serve(definitionOf('elders', 'Elder', 'None'));
  await configure('Validating', 'v1', 'elders', { matchPolicy: 'Exact' });
  hook.respond = deny();
  await expectCode(201, server.request('POST', pathOf('elders', 'v2'), objectOf('Elder', 'v2', 'a', {})));
  await expectCode(400, server.request('POST', pathOf('elders', 'v1'), objectOf('Elder', 'v1', 'b', {})));
  expect(hook.received).toHaveLength(1);
});

test('what a webhook changes in its version is in the object of the request, without what the schema does not have', async () => {
  await serve(definitionOf('figs', 'Fig', 'Webhook'));
  await configure('Mutating', 'v1', 'figs');
  hook.respond = respondWith(({ object }) =>
    patched([
      { op: 'add', path: '/spec/size', value: object.spec.size + 1 },
      { op: 'add', path: '/spec/unknown', value: 'x' },
      { op: 'remove', path: '/spec/finish' },
      { op: 'add', path: '/metadata/labels', value: { seen: 'yes' } },
    ]),
  );
  const { json } = await expectCode(
    201,
    server.request('POST', pathOf('figs', 'v2'), objectOf('Fig', 'v2', 'a', { amount: 3 })),
  );
  expect(json).toMatchObject({
    apiVersion: `${GROUP}/v2`,
    metadata: { labels: { seen: 'yes' } },
    spec: { amount: 4, finish: 'matt' },
  });
  expect(json.spec.unknown).toBeUndefined();
  const { json: stored } = await server.request('GET', pathOf('figs', 'v1', 'a'));
  expect(stored.spec).toEqual({ size: 4, finish: 'matt' });
});

test('a conversion that fails stops the write that admission needs it for', async () => {
  await serve(definitionOf('grapes', 'Grape', 'Webhook'));
  await configure('Validating', 'v1', 'grapes');
  converter.respond = answering((review) => ({
    ...answerTo(review),
    response: { uid: review.request.uid, result: { status: 'Failure', message: 'out of paint' } },
  }));
  const { json } = await expectCode(
    500,
    server.request('POST', pathOf('grapes', 'v2'), objectOf('Grape', 'v2', 'a', { amount: 1 })),
  );
  expect(json).toMatchObject({
    reason: 'InternalError',
    message: `Internal error occurred: conversion webhook for ${GROUP}/v2, Kind=Grape failed: out of paint`,
  });
  expect(hook.received).toHaveLength(0);
});

test('a webhook sees the scale of a custom resource as a Scale, and can change it', async () => {
  await serve(definitionOf('hazels', 'Hazel', 'Webhook'));
  await expectCode(
    201,
    server.request('POST', pathOf('hazels', 'v2'), objectOf('Hazel', 'v2', 'a', { amount: 1 })),
  );
  await configure('Mutating', 'v1', 'hazels');
  hook.respond = respondWith(() => patched([{ op: 'replace', path: '/spec/replicas', value: 7 }]));
  const { json } = await expectCode(
    200,
    server.request('PATCH', pathOf('hazels', 'v2', 'a/scale'), { spec: { replicas: 5 } }, MERGE),
  );
  expect(hook.received[0].request).toMatchObject({
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    subResource: 'scale',
    object: { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 5 } },
    oldObject: { kind: 'Scale', spec: { replicas: 1 } },
  });
  expect(json).toMatchObject({ kind: 'Scale', spec: { replicas: 7 } });
  const { json: after } = await server.request('GET', pathOf('hazels', 'v2', 'a'));
  expect(after.spec.amount).toBe(7);
});

test('a policy for one version judges writes in another, as its own', async () => {
  await serve(definitionOf('irises', 'Iris', 'Webhook'));
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const bindings = `${policies.replace(/ies$/, 'y')}bindings`;
  const rule = { apiGroups: [GROUP], apiVersions: ['v1'], resources: ['irises'], operations: ['*'] };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'object.spec.size < 10', message: 'too large' }],
  };
  await expectCode(201, server.request('POST', policies, { metadata: { name: 'small' }, spec }));
  const binding = { metadata: { name: 'small' }, spec: { policyName: 'small', validationActions: ['Deny'] } };
  await expectCode(201, server.request('POST', bindings, binding));
  await settle(server, policies);
  await settle(server, bindings);
  await expectCode(
    201,
    server.request('POST', pathOf('irises', 'v2'), objectOf('Iris', 'v2', 'a', { amount: 9 })),
  );
  const refused = await expectCode(
    422,
    server.request('POST', pathOf('irises', 'v2'), objectOf('Iris', 'v2', 'b', { amount: 10 })),
  );
  expect(refused.json.message).toContain('denied request: too large');
  await server.request('DELETE', `${bindings}/small`);
  await server.request('DELETE', `${policies}/small`);
});
