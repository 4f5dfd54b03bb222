import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { KnownDocuments } from '../../src/aggregation/known-documents.ts';
import { API_SERVICES } from '../../src/aggregation/managed-api-services.ts';
import { RemoteDocuments } from '../../src/aggregation/remote-documents.ts';
import { RemoteVersions } from '../../src/aggregation/remote-versions.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import type { RemoteApi } from '../../src/registry/remote-apis.ts';
import type { Backend, BackendMessage, BackendTransport } from '../../src/request/backend.ts';
import type { Entry } from '../../src/storage/store.ts';
import { LaggingStore } from '../kit/client.ts';

/** What other servers say of themselves, and what becomes of it when they lie. */

interface Said {
  readonly code?: number;
  readonly type?: string;
  readonly etag?: string;
  readonly body: string | Readable;
}

/** Servers by the names of their services, and what each of them says at a path. */
type Servers = Record<string, (path: string, headers: readonly string[]) => Said | Promise<Said>>;

const NOT_FOUND: Said = { code: 404, body: '' };

async function entryOf(object: ApiObject): Promise<Entry> {
  const store = new LaggingStore();
  store.put(API_SERVICES.group, API_SERVICES.resource, object);
  const key = { ...API_SERVICES, namespace: '', name: object.metadata.name ?? '' };
  const entry = await store.get(key, { kind: 'latest' });
  if (entry === undefined) throw new Error('it was just put there');
  return entry;
}

const apiService = (service: string, version: string, available = 'True') => ({
  ...{ kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1' },
  metadata: { name: `${version}.${service}.example.com` },
  spec: {
    ...{ group: `${service}.example.com`, version, groupPriorityMinimum: 2000, versionPriority: 10 },
    service: { namespace: 'default', name: service, port: 443 },
  },
  status: { conditions: [{ type: 'Available', status: available }] },
});

async function start(
  servers: Servers,
  objects: readonly ApiObject[],
): Promise<
  {
    documents: KnownDocuments;
    reader: RemoteDocuments;
    remote: RemoteVersions;
    errors: string[];
  } & AsyncDisposable
> {
  const transport: BackendTransport = {
    send: async (backend: Backend, { headers }: BackendMessage) => {
      const {
        code = 200,
        type = 'application/json',
        etag,
        body,
      } = (await servers[backend.host]?.(backend.path, headers)) ?? NOT_FOUND;
      return {
        kind: 'answer',
        ...{ code, message: '', rawHeaders: [] },
        headers: { 'content-type': type, ...(etag === undefined ? {} : { etag }) },
        body: typeof body === 'string' ? Readable.from([Buffer.from(body)]) : body,
      };
    },
    upgrade: () => Promise.reject(new Error('no upgrade is expected here')),
  };
  const remote = new RemoteVersions();
  remote.replace(await Promise.all(objects.map(entryOf)));
  const errors: string[] = [];
  const documents = new KnownDocuments(remote);
  const reader = new RemoteDocuments({
    ...{ remote, transport, known: documents },
    resolver: { resolve: async ({ name }) => ({ host: name, port: 443 }) },
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
  });
  const stop = new AbortController();
  const ended = reader.run(stop.signal);
  return {
    ...{ documents, reader, remote, errors },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
    },
  };
}

const named = (documents: KnownDocuments, service: string): RemoteApi | undefined =>
  documents.all().find(({ group }) => group === `${service}.example.com`);

const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const THING = {
  ...{ resource: 'things', scope: 'Namespaced', singularResource: 'thing', verbs: ['get', 'list'] },
  responseKind: { group: 'good.example.com', version: 'v1', kind: 'Thing' },
  subresources: [
    {
      subresource: 'status',
      responseKind: { group: 'good.example.com', version: 'v1', kind: 'Thing' },
      verbs: ['get'],
    },
  ],
};

const aggregated = (group: string, resources: readonly object[]): string =>
  JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    items: [{ metadata: { name: group }, versions: [{ version: 'v1', resources }] }],
  });

const good: Servers[string] = (path) =>
  path === '/apis'
    ? { type: AGGREGATED_TYPE, etag: '"1"', body: aggregated('good.example.com', [THING]) }
    : NOT_FOUND;

const plain = (groupVersion: string): string =>
  JSON.stringify({
    kind: 'APIResourceList',
    groupVersion,
    resources: [
      { name: 'things/status', namespaced: true, kind: 'Thing', verbs: ['get'] },
      { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get', 'list'] },
    ],
  });

test('resources are read from aggregated discovery, and from plain lists where there is no other', async () => {
  const old: Servers[string] = (path) =>
    path === '/apis/old.example.com/v1' ? { body: plain('old.example.com/v1') } : NOT_FOUND;
  await using started = await start({ good, old }, [apiService('good', 'v1'), apiService('old', 'v1')]);
  const { documents, reader } = started;
  await reader.asked();
  expect(named(documents, 'good')?.resources).toEqual([THING]);
  const inGroup = JSON.stringify(THING).replaceAll('good.example.com', 'old.example.com');
  expect(named(documents, 'old')?.resources).toEqual([JSON.parse(inGroup)]);
});

test('what a server does not say of its resources is not said for it', async () => {
  const terse: Servers[string] = (path) =>
    path === '/apis'
      ? { type: AGGREGATED_TYPE, body: aggregated('terse.example.com', [{ resource: 'things' }]) }
      : NOT_FOUND;
  await using started = await start({ terse }, [apiService('terse', 'v1')]);
  await started.reader.asked();
  expect(named(started.documents, 'terse')?.resources).toEqual([
    {
      ...{ resource: 'things', singularResource: '', verbs: [] },
      responseKind: { group: '', version: '', kind: '' },
    },
  ]);
});

test.each<[lie: string, Servers[string], why: RegExp]>([
  ['no JSON', () => ({ type: AGGREGATED_TYPE, body: '{"kind":' }), /^default\/bad: \/apis: /],
  ['another kind', () => ({ type: AGGREGATED_TYPE, body: '{"kind":"Secret"}' }), /its kind is "Secret"/],
  [
    'texts where objects belong',
    () => ({ type: AGGREGATED_TYPE, body: aggregated('bad.example.com', ['x' as never]) }),
    /something else where an object belongs/,
  ],
  [
    'another group',
    (path) => (path === '/apis' ? NOT_FOUND : { body: plain('apps/v1') }),
    /it is of "apps\/v1", not of bad\.example\.com\/v1/,
  ],
  [
    'more than the limit of a document',
    () => ({ type: AGGREGATED_TYPE, body: Readable.from(large()) }),
    /more than 4194304 bytes/,
  ],
  ['nothing that ends well', () => ({ code: 503, body: '' }), /answered with 503/],
])('a server that says %s is stale, and other servers stay fresh', async (_, bad, why) => {
  await using started = await start({ good, bad }, [apiService('bad', 'v1'), apiService('good', 'v1')]);
  const { documents, errors } = started;
  await expect.poll(() => errors.some((error) => why.test(error))).toBe(true);
  expect(named(documents, 'bad')).toMatchObject({ resources: [], isFresh: false });
  await expect.poll(() => named(documents, 'good')).toMatchObject({ resources: [THING], isFresh: true });
});

/** Not endless, so that a server that reads all of it fails and does not go on for ever. */
function* large(): Generator<Buffer> {
  for (let at = 0; at < 160; at += 1) yield Buffer.alloc(64 * 1024, ' ');
}

test('other servers do not wait for one that says nothing', async () => {
  const silent: Servers[string] = () => new Promise(() => {});
  await using started = await start({ good, silent }, [apiService('silent', 'v1'), apiService('good', 'v1')]);
  const { documents } = started;
  await expect.poll(() => named(documents, 'good')?.isFresh).toBe(true);
  expect(named(documents, 'silent')).toMatchObject({ resources: [], isFresh: false });
});

test('what an unavailable server said before stays, and is said to be stale', async () => {
  await using started = await start({ good }, [apiService('good', 'v1')]);
  const { documents, remote } = started;
  await expect.poll(() => named(documents, 'good')?.isFresh).toBe(true);
  let changes = 0;
  documents.onChange(() => {
    changes += 1;
  });
  remote.replace([await entryOf(apiService('good', 'v1', 'False'))]);
  expect(named(documents, 'good')).toMatchObject({ resources: [THING], isFresh: false });
  expect(changes).toBe(1);
  remote.replace([]);
  expect(documents.all()).toEqual([]);
  expect(changes).toBe(2);
});

test('a part of an OpenAPI document that is too large to stand in ours is not taken', async () => {
  const paths = Object.fromEntries(
    Array.from({ length: 3000 }, (_, at) => [`/apis/good.example.com/v1/${at}${'x'.repeat(800)}`, {}]),
  );
  const large: Servers[string] = (path, headers) =>
    path === '/openapi/v2' ? { body: JSON.stringify({ paths }) } : good(path, headers);
  await using started = await start({ good: large }, [apiService('good', 'v1')]);
  const { documents, errors } = started;
  await expect
    .poll(() => errors)
    .toEqual(['default/good: /openapi/v2: its part for us has more than 2097152 characters']);
  expect(documents.openApiV2()).toEqual([]);
});

test('of OpenAPI documents only what is about the group versions of the server is taken', async () => {
  const reference = { $ref: '#/definitions/com.example.Thing' };
  const document = {
    paths: {
      '/apis/good.example.com/v1/things': { get: { responses: { 200: { schema: reference } } } },
      '/apis/apps/v1/deployments': { get: {} },
      '/api/v1/secrets': { get: {} },
    },
    definitions: {
      'com.example.Thing': { properties: { part: { $ref: '#/definitions/com.example.Part' } } },
      'com.example.Part': { properties: { whole: reference } },
      'com.example.Other': {},
    },
  };
  const index = {
    paths: {
      'apis/good.example.com/v1': { serverRelativeURL: '/openapi/v3/apis/good.example.com/v1?hash=A' },
      'apis/apps/v1': { serverRelativeURL: '/openapi/v3/apis/apps/v1?hash=A' },
    },
  };
  const says: Record<string, object> = { '/openapi/v2': document, '/openapi/v3': index };
  const open: Servers[string] = (path, headers) =>
    says[path] === undefined ? good(path, headers) : { body: JSON.stringify(says[path]) };
  await using started = await start({ good: open }, [apiService('good', 'v1')]);
  const { documents } = started;
  await expect
    .poll(() => [...documents.openApiV3()])
    .toEqual([['apis/good.example.com/v1', '/openapi/v3/apis/good.example.com/v1?hash=A']]);
  await expect
    .poll(() => documents.openApiV2())
    .toMatchObject([
      {
        paths: { '/apis/good.example.com/v1/things': document.paths['/apis/good.example.com/v1/things'] },
        definitions: {
          'com.example.Thing': document.definitions['com.example.Thing'],
          'com.example.Part': document.definitions['com.example.Part'],
        },
      },
    ]);
  const [one] = documents.openApiV2();
  expect(Object.keys(one?.paths ?? {})).toHaveLength(1);
  expect(Object.keys(one?.definitions ?? {})).toHaveLength(2);
});
