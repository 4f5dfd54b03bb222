import { ApiextensionsV1Api, ApisApi, KubeConfig, KubernetesObjectApi } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import type { Cluster } from '../../kit/cluster.ts';
import { CRON_V1 } from '../../kit/cron-definition.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';
import type { ToolResult } from '../../kit/tools.ts';

/** Clients learn of custom resources: discovery, OpenAPI, and what kubectl makes of them. */

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

interface Outline {
  readonly kind: string;
  readonly group?: string;
  readonly versions?: readonly object[];
  readonly names?: object;
}

function definition({
  kind,
  group = 'stable.example.com',
  versions = [CRON_V1],
  names = {},
}: Outline): object {
  const plural = `${kind.toLowerCase()}s`;
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind, ...names }, versions },
  };
}

const versionOf = (name: string, schema: JSONSchemaProps, storage = true): object => ({
  ...{ name, storage, served: true },
  schema: { openAPIV3Schema: schema },
});

async function install(outline: Outline): Promise<void> {
  const { code, stderr } = await cluster.kubectl('apply -f -', JSON.stringify(definition(outline)));
  expect(code, stderr).toBe(0);
  await ok(
    `wait --for=condition=Established crd/${outline.kind.toLowerCase()}s.${outline.group ?? 'stable.example.com'}`,
  );
}

async function ok(args: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args, input);
  expect(code, `${args}: ${stderr}`).toBe(0);
  return stdout;
}

test('a definition and its first object in one file are applied as kubectl applies them: the second time at the latest', {
  tags: 'long',
}, async () => {
  const file = [
    definition({ kind: 'Together' }),
    {
      kind: 'Together',
      apiVersion: 'stable.example.com/v1',
      metadata: { name: 'first' },
      spec: { color: 'red' },
    },
  ]
    .map((document) => JSON.stringify(document))
    .join('\n');
  const first = await cluster.kubectl('apply -f -', file);
  expect(first.stdout).toContain(
    'customresourcedefinition.apiextensions.k8s.io/togethers.stable.example.com created',
  );
  if (first.code !== 0) expect(first.stderr).toContain('ensure CRDs are installed first');
  const again = (): Promise<ToolResult> => cluster.kubectl('apply -f -', file);
  await vi.waitFor(async () => expect((await again()).code).toBe(0), PATIENCE);
  expect(await ok('get togethers')).toContain('first');
});

test('kubectl api-resources, short names and categories know a definition as soon as it is established', {
  tags: 'long',
}, async () => {
  await install({ kind: 'Known', names: { shortNames: ['kn'], categories: ['all', 'mine'] } });
  const resources = await ok('api-resources --api-group=stable.example.com -o wide');
  expect(resources).toMatch(
    /knowns\s+kn\s+stable\.example\.com\/v1\s+true\s+Known\s+\S*create\S*\s+all,mine/,
  );
  await ok(
    'create -f -',
    JSON.stringify({ kind: 'Known', apiVersion: 'stable.example.com/v1', metadata: { name: 'k' }, spec: {} }),
  );
  for (const name of ['kn', 'known', 'knowns.stable.example.com', 'mine', 'all']) {
    expect(await ok(`get ${name} -o name`)).toContain('known.stable.example.com/k');
  }
  expect(await ok('api-versions')).toContain('stable.example.com/v1');
  await ok('delete crd knowns.stable.example.com');
  await vi.waitFor(
    async () => expect(await ok('api-resources --cached=false')).not.toContain('Known'),
    PATIENCE,
  );
});

const DOCUMENTED: JSONSchemaProps = {
  type: 'object',
  description: 'A book is read.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      description: 'What the book is about.',
      required: ['title'],
      properties: {
        title: { type: 'string', description: 'What stands on its cover.', enum: ['one', 'two'] },
        pages: { 'x-kubernetes-int-or-string': true, description: 'How many.' },
        authors: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        extra: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
};

test('kubectl explain says what a definition says, by both versions of OpenAPI', {
  tags: 'long',
}, async () => {
  await install({
    kind: 'Book',
    versions: [versionOf('v1', DOCUMENTED), versionOf('v1beta1', { type: 'object' }, false)],
  });
  for (const output of ['plaintext', 'plaintext-openapiv2']) {
    const book = await ok(`explain books --output=${output}`);
    expect(book).toContain('A book is read.');
    expect(book).toContain('stable.example.com');
    expect(book).toContain('metadata');
    const title = await ok(`explain books.spec.title --output=${output}`);
    expect(title).toContain('What stands on its cover.');
    expect(title).toMatch(/FIELD:\s+title <string>/);
    const all = await ok(`explain books.spec --recursive --output=${output}`);
    expect(all).toMatch(/title\t<string>/);
    expect(all).toMatch(/authors\t<\[\](Object|object)>/);
    expect(all).toMatch(/extra\t<map\[string\]string>/);
  }
  expect(await ok('explain books.metadata.labels')).toContain('map[string]string');
  // What tests of Kubernetes itself look for.
  expect(await ok('explain books')).toMatch(/apiVersion\s+<string>\s+APIVersion defines/);
  const metadata = await ok('explain books.metadata');
  expect(metadata).toContain("Standard object's metadata");
  expect(metadata).toMatch(/creationTimestamp\s+<string>\s+CreationTimestamp is a timestamp/);
  expect(await ok('explain books --api-version=stable.example.com/v1beta1')).toContain('VERSION:    v1beta1');
  expect(await ok('explain books.spec.pages')).toContain('How many.');
});

test('documents are known by their hash: 304 for who has one, 301 for who has an old one', {
  tags: 'long',
}, async () => {
  await install({ kind: 'Hashed', group: 'hash.example.com' });
  const urlOf = async (): Promise<string> =>
    (await cluster.request('GET', '/openapi/v3')).json.paths['apis/hash.example.com/v1'].serverRelativeURL;
  const url = await urlOf();
  const answer = await cluster.request('GET', url);
  expect(answer.headers['cache-control']).toBe('public, immutable');
  expect(answer.json.components.schemas).toHaveProperty(['com.example.hash.v1.Hashed']);
  const etag = String(answer.headers.etag);
  const known = await cluster.request('GET', url, undefined, { 'if-none-match': etag });
  expect(known.code).toBe(304);
  await ok('label crd hasheds.hash.example.com a=b');
  expect(await urlOf()).toBe(url);
  await install({ kind: 'Hashed', group: 'hash.example.com', versions: [versionOf('v1', DOCUMENTED)] });
  const next = await urlOf();
  expect(next).not.toBe(url);
  const moved = await cluster.request('GET', url);
  expect([moved.code, moved.headers.location]).toEqual([301, next]);
  expect((await cluster.request('GET', next, undefined, { 'if-none-match': etag })).code).toBe(200);
});

test('kubectl finds in the document of a group version that the server validates fields, and downloads no other', {
  tags: 'long',
}, async () => {
  await install({ kind: 'Checked', versions: [versionOf('v1', DOCUMENTED)] });
  const object = {
    ...{ kind: 'Checked', apiVersion: 'stable.example.com/v1', metadata: { name: 'one' } },
    spec: { title: 'one' },
  };
  const file = JSON.stringify(object);
  const { code, stderr } = await cluster.kubectl('create --validate=strict -v=6 -f -', file);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('/openapi/v3/apis/stable.example.com/v1?hash=');
  expect(stderr).toContain('fieldValidation=Strict');
  expect(stderr).not.toContain('/openapi/v2');
  await ok('apply --validate=strict -f -', file);
  const unknown = JSON.stringify({ ...object, spec: { title: 'one', other: 1 } });
  const refused = await cluster.kubectl('apply --validate=strict -f -', unknown);
  expect(refused.stderr).toContain('strict decoding error: unknown field "spec.other"');
});

test('the official JavaScript client discovers custom resources', async () => {
  await install({ kind: 'Found', versions: [versionOf('v1', DOCUMENTED)] });
  const config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  const { groups } = await config.makeApiClient(ApisApi).getAPIVersions();
  expect(groups.map(({ name }) => name)).toContain('stable.example.com');
  const { items } = await config.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition();
  expect(items.map(({ metadata }) => metadata?.name)).toContain('founds.stable.example.com');
  const objects = KubernetesObjectApi.makeApiClient(config);
  const wanted = {
    kind: 'Found',
    apiVersion: 'stable.example.com/v1',
    metadata: { name: 'one', namespace: 'default' },
  };
  await objects.create({ ...wanted, spec: { title: 'one' } } as typeof wanted);
  expect(await objects.read(wanted)).toMatchObject({ spec: { title: 'one' } });
});
