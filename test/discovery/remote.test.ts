import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { createDiscovery } from '../../src/discovery/discovery.ts';
import { toPageHandler } from '../../src/pages/pages.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { RemoteApi, RemoteDocument } from '../../src/registry/remote-apis.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import { versionInfoOf } from '../../src/version.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { customDefinition } from './custom-definition.ts';

/** Group versions of other servers in the documents of this one. */

const RESOURCE: JsonObject = {
  ...{ resource: 'things', scope: 'Namespaced', singularResource: 'thing', verbs: ['get'] },
  responseKind: { group: 'far.example.com', version: 'v1', kind: 'Thing' },
};

const far = (changes: Partial<RemoteApi> = {}): RemoteApi => ({
  ...{ group: 'far.example.com', version: 'v1', groupPriority: 2000, versionPriority: 10 },
  ...{ resources: [RESOURCE], isFresh: true },
  ...changes,
});

function createServer() {
  const registry = new Registry();
  for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);
  const listeners = new Set<() => void>();
  let said: readonly RemoteApi[] = [];
  let documents: readonly RemoteDocument[] = [];
  const remote = {
    all: () => said,
    openApiV3: () =>
      new Map(
        said.map(({ group, version }) => [
          `apis/${group}/${version}`,
          `/openapi/v3/apis/${group}/${version}?hash=F`,
        ]),
      ),
    openApiV2: () => documents,
    withdrawn: () => new Set<string>(),
    onChange: (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const version = versionInfoOf(31);
  const domains = ['k8s.io', 'cluster.io'] as const;
  const serverAddress = 'localhost:6443';
  const discovery = createDiscovery({
    registry,
    types: loadTypes(),
    remote,
    domains,
    serverAddress,
    version,
  });
  const handle = toPageHandler(discovery);
  return {
    registry,
    says: (apis: readonly RemoteApi[], some: readonly RemoteDocument[] = []): void => {
      said = apis;
      documents = some;
      for (const listener of listeners) listener();
    },
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
    ask: async (path: string, accept = 'application/json'): Promise<{ etag: string; json: any }> => {
      const request = { method: 'GET', path, query: new URLSearchParams(), headers: { accept } };
      const signal = new AbortController().signal;
      const answer = await handle({ ...request, userAgent: '', signal } as unknown as ApiRequest);
      if (answer?.kind !== 'bytes') throw new Error(`${path} has no page`);
      const rest = [...(answer.rest ?? [])].map((piece) => Buffer.from(piece));
      const text = Buffer.concat([...answer.chunks, ...rest]).toString();
      return { etag: String(answer.headers?.etag ?? ''), json: JSON.parse(text) };
    },
  };
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Named {
  readonly name: string;
}

test('their groups stand where their priorities put them, beside our own', async () => {
  const { registry, says, ask } = createServer();
  const names = async (): Promise<string[]> =>
    (await ask('/apis')).json.groups.map(({ name }: Named) => name);
  registry.put('crons.stable.example.com', [customDefinition({ kind: 'Cron' })]);
  const own = await names();
  says([
    far(),
    far({ group: 'first.example.com', groupPriority: 17_750 }),
    far({ group: 'last.example.com', groupPriority: 1 }),
    far({ group: 'same.example.com', groupPriority: 1000 }),
  ]);
  const all = await names();
  expect(all.filter((name) => own.includes(name))).toEqual(own);
  const custom = own.indexOf('stable.example.com');
  const others = all.filter((name) => name.endsWith('.example.com'));
  expect(custom).toBeGreaterThan(0);
  expect(others).toEqual([
    'first.example.com',
    'far.example.com',
    'same.example.com',
    'stable.example.com',
    'last.example.com',
  ]);
  expect(all.indexOf('first.example.com')).toBe(all.indexOf('events.k8s.io') + 1);
  says([]);
  expect(await names()).toEqual(own);
});

test('their versions stand beside ours of the same group, and take the place of one that is ours', async () => {
  const { registry, says, ask } = createServer();
  registry.put('crons.stable.example.com', [customDefinition({ kind: 'Cron', version: 'v1' })]);
  const group = 'stable.example.com';
  says([far({ group, version: 'v2', versionPriority: 200 }), far({ group, version: 'v1beta1' })]);
  expect((await ask(`/apis/${group}`)).json).toMatchObject({
    versions: [{ version: 'v2' }, { version: 'v1' }, { version: 'v1beta1' }],
    preferredVersion: { version: 'v2' },
  });
  const itemOf = async (): Promise<JsonObject> =>
    (await ask('/apis', AGGREGATED)).json.items.find(
      ({ metadata }: { metadata: Named }) => metadata.name === group,
    );
  expect(await itemOf()).toMatchObject({
    versions: [
      { version: 'v2', resources: [RESOURCE], freshness: 'Current' },
      { version: 'v1', resources: [{ resource: 'crons' }], freshness: 'Current' },
      { version: 'v1beta1', resources: [RESOURCE], freshness: 'Current' },
    ],
  });
  says([far({ group, version: 'v1' })]);
  expect(await itemOf()).toMatchObject({ versions: [{ version: 'v1', resources: [RESOURCE] }] });
});

test('one that is stale says so, and the hash changes with what they say', async () => {
  const { says, ask } = createServer();
  const item = async (): Promise<unknown> => {
    const { etag, json } = await ask('/apis', AGGREGATED);
    const found = json.items.find(({ metadata }: { metadata: Named }) => metadata.name === 'far.example.com');
    return { etag, version: found?.versions[0] };
  };
  const seen = [await item()];
  for (const changes of [{ isFresh: false, resources: [] }, {}, { isFresh: false }]) {
    says([far(changes)]);
    seen.push(await item());
  }
  expect(seen.map((one) => (one as { version?: unknown }).version)).toEqual([
    undefined,
    { version: 'v1', freshness: 'Stale' },
    { version: 'v1', resources: [RESOURCE], freshness: 'Current' },
    { version: 'v1', resources: [RESOURCE], freshness: 'Stale' },
  ]);
  expect(new Set(seen.map((one) => (one as { etag: string }).etag)).size).toBe(4);
  says([]);
  expect(await item()).toEqual(seen[0]);
});

test('their paths and OpenAPI documents are listed, and definitions of the same name are those of this server', async () => {
  const { says, ask } = createServer();
  const before = await ask('/openapi/v2');
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
  const document = {
    etag: 'F',
    paths: { '/apis/far.example.com/v1/things': { get: { responses: {} } } },
    definitions: { 'com.example.Thing': { type: 'object' }, [meta]: { type: 'string' } },
  };
  says([far()], [document]);
  const { json, etag } = await ask('/openapi/v2');
  expect(etag).not.toBe(before.etag);
  expect(json.paths).toEqual({ ...before.json.paths, ...document.paths });
  expect(json.definitions).toEqual({ ...before.json.definitions, 'com.example.Thing': { type: 'object' } });
  // Neither has members of its own to add to one of the two.
  const path = '/apis/far.example.com/v1/';
  says(
    [far()],
    [
      { etag: 'P', paths: {}, definitions: { 'com.example.Thing': { type: 'object' } } },
      { etag: 'D', paths: { [path]: {} }, definitions: { [meta]: { type: 'string' } } },
    ],
  );
  const sparse = (await ask('/openapi/v2')).json;
  expect(sparse.paths).toEqual({ ...before.json.paths, [path]: {} });
  expect(sparse.definitions).toEqual(json.definitions);
  expect((await ask('/openapi/v3')).json.paths['apis/far.example.com/v1']).toEqual({
    serverRelativeURL: '/openapi/v3/apis/far.example.com/v1?hash=F',
  });
  expect((await ask('/')).json.paths).toEqual(
    expect.arrayContaining(['/apis/far.example.com', '/apis/far.example.com/v1']),
  );
});

test('a document of theirs that cannot be written is left out of ours', async () => {
  const { says, ask } = createServer();
  const before = (await ask('/openapi/v2')).json;
  const deep = JSON.parse(`${'{"items":'.repeat(50_000)}{}${'}'.repeat(50_000)}`);
  says([far()], [{ etag: 'F', paths: {}, definitions: { 'com.example.Deep': deep } }]);
  expect((await ask('/openapi/v2')).json).toEqual(before);
});
