import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { createDiscovery } from '../../src/discovery/discovery.ts';
import { parseRuntimeConfig } from '../../src/options/runtime-config.ts';
import { toPageHandler } from '../../src/pages/pages.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import { versionInfoOf } from '../../src/version.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { expectWithin } from '../kit/expect-within.ts';
import { threadMs } from '../kit/thread-time.ts';
import { customDefinition } from './custom-definition.ts';

interface Answered {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
  readonly json: any;
}

type Ask = (path: string, headers?: Record<string, string>) => Promise<Answered>;

function createServer(...runtimeConfig: string[]): { registry: Registry; ask: Ask } {
  const registry = new Registry();
  const { isEnabled } = parseRuntimeConfig(['api/all=true', ...runtimeConfig], '--runtime-config');
  for (const definition of BUILT_IN_RESOURCES)
    registry.add(definition, (version, { enabledByDefault }) => isEnabled(version, enabledByDefault));
  const version = versionInfoOf(31);
  const domains = ['k8s.io', 'cluster.io'] as const;
  const handle = toPageHandler(
    createDiscovery({
      ...{ registry, types: loadTypes(), domains, serverAddress: 'localhost:6443', version },
      published: { issuer: true, logs: true },
    }),
  );
  const ask: Ask = async (url, headers = {}) => {
    const [path = '', query = ''] = url.split('?');
    const request = { method: 'GET', path, query: new URLSearchParams(query), headers, knowsCbor: true };
    const signal = new AbortController().signal;
    const response = await handle({ ...request, userAgent: '', signal } as unknown as ApiRequest);
    if (response?.kind !== 'bytes') throw new Error(`${path} has no page`);
    const bytes = Buffer.concat([
      ...response.chunks,
      ...[...(response.rest ?? [])].map((one) => Buffer.from(one)),
    ]);
    const isJson = response.contentType.startsWith('application/json') && bytes.length > 0;
    const json = isJson ? JSON.parse(bytes.toString()) : undefined;
    return { code: response.code, headers: response.headers ?? {}, bytes, json };
  };
  return { registry, ask };
}

const aggregatedAs = (version: string): Record<string, string> => ({
  accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`,
});

interface Item {
  readonly metadata: { readonly name: string };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
const itemOf = ({ json }: Pick<Answered, 'json'>, name = 'stable.example.com'): any =>
  json.items.find(({ metadata }: Item) => metadata.name === name);

test('the resources of a version are listed in CBOR where they are built in', async () => {
  const { registry, ask } = createServer();
  registry.put('crons.stable.example.com', [customDefinition(CRON)]);
  const isCbor = async (path: string): Promise<boolean> => {
    const { code, bytes } = await ask(path, { accept: 'application/cbor, */*' });
    expect(code).toBe(200);
    return bytes.subarray(0, 3).toString('hex') === 'd9d9f7';
  };
  for (const path of ['/api/v1', '/apis/apps/v1']) expect(await isCbor(path)).toBe(true);
  for (const path of ['/apis/stable.example.com/v1', '/apis/stable.example.com', '/apis', '/api', '/version'])
    expect(await isCbor(path)).toBe(false);
});

const CRON = { kind: 'Cron', shortNames: ['ct'], categories: ['all'] } as const;

test('caches may keep the aggregated form, and the states of components are not stored', async () => {
  const { ask } = createServer();
  expect((await ask('/apis', aggregatedAs('v2'))).headers['cache-control']).toBe('public');
  expect((await ask('/apis')).headers['cache-control']).toBeUndefined();
  const { resources } = (await ask('/api/v1')).json;
  const hashed = (of: string): boolean =>
    'storageVersionHash' in resources.find(({ name }: { name: string }) => name === of);
  expect([hashed('configmaps'), hashed('componentstatuses')]).toEqual([true, false]);
  expect((await ask('/index.html')).json).toEqual((await ask('/')).json);
  // Both are for people.
  for (const path of ['/', '/version']) expect((await ask(path)).bytes.toString()).toMatch(/^\{\n {2}"/);
  expect((await ask('/apis')).bytes.toString()).toMatch(/^\{"/);
});

test('what --runtime-config leaves out is in no document of discovery, the core group too', async () => {
  const { ask } = createServer('v1=false', 'batch/v1=false', 'autoscaling/v1=false', 'api/alpha=false');
  const { groups } = (await ask('/apis')).json;
  const versionsOf = (name: string): unknown =>
    groups
      .find((group: { name: string }) => group.name === name)
      ?.versions.map(({ version }: { version: string }) => version);
  expect(['batch', 'autoscaling', 'storage.k8s.io'].map(versionsOf)).toEqual([
    undefined,
    ['v2'],
    ['v1', 'v1beta1'],
  ]);
  expect((await ask('/api')).json.versions).toEqual([]);
  expect((await ask('/api', aggregatedAs('v2'))).json.items).toEqual([]);
  for (const path of ['/api/v1', '/apis/batch', '/apis/autoscaling/v1'])
    await expect(ask(path), path).rejects.toThrow(/has no page|could not find/);
  const documents = Object.keys((await ask('/openapi/v3')).json.paths);
  expect(documents).toContain('apis/autoscaling/v2');
  expect(documents).toContain('apis/autoscaling');
  for (const path of ['api', 'api/v1', 'apis/batch', 'apis/batch/v1', 'apis/autoscaling/v1'])
    expect(documents).not.toContain(path);
});

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** For tests that only ask: a document of all types takes long to make. */
const builtIn = createServer();

test.each([
  ['/api/', 'api', 'getCoreAPIVersions', `${META}.APIVersions`],
  ['/api/v1/', 'api/v1', 'getCoreV1APIResources', `${META}.APIResourceList`],
  ['/apis/', 'apis', 'getAPIVersions', `${META}.APIGroupList`],
  ['/apis/apps/', 'apis/apps', 'getAppsAPIGroup', `${META}.APIGroup`],
  ['/apis/apps/v1/', 'apis/apps/v1', 'getAppsV1APIResources', `${META}.APIResourceList`],
  [
    '/apis/rbac.authorization.k8s.io/',
    'apis/rbac.authorization.k8s.io',
    'getRbacAuthorizationAPIGroup',
    `${META}.APIGroup`,
  ],
  ['/version/', 'version', 'getCodeVersion', 'io.k8s.apimachinery.pkg.version.Info'],
  [
    '/.well-known/openid-configuration/',
    '.well-known/openid-configuration',
    'getServiceAccountIssuerOpenIDConfiguration',
    undefined,
  ],
  ['/openid/v1/jwks/', 'openid/v1/jwks', 'getServiceAccountIssuerOpenIDKeyset', undefined],
  ['/logs/', 'logs', 'logFileListHandler', undefined],
  ['/logs/{logpath}', 'logs', 'logFileHandler', undefined],
])('OpenAPI describes %s in both versions', async (path, document, operationId, answer) => {
  const { ask } = builtIn;
  const old = (await ask('/openapi/v2')).json;
  expect(old.paths[path].get.operationId).toBe(operationId);
  const { serverRelativeURL } = (await ask('/openapi/v3')).json.paths[document];
  const { json, headers } = await ask(serverRelativeURL);
  expect(json.paths[path].get.operationId).toBe(operationId);
  expect(headers['cache-control']).toBe('public, immutable');
  if (answer === undefined) return;
  expect(old.paths[path].get.responses[200].schema).toEqual({ $ref: `#/definitions/${answer}` });
  expect(old.definitions[answer]).toMatchObject({ type: 'object' });
  expect(json.paths[path].get.responses[200].content['application/json'].schema).toEqual({
    $ref: `#/components/schemas/${answer}`,
  });
  expect(json.components.schemas[answer]).toMatchObject({ type: 'object' });
});

test('types of meta name the kinds that they have', async () => {
  const { definitions } = (await builtIn.ask('/openapi/v2')).json;
  const kindsOf = (kind: string): unknown =>
    definitions[`${META}.${kind}`]['x-kubernetes-group-version-kind'];
  for (const kind of ['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'])
    expect(kindsOf(kind)).toEqual([{ group: '', version: 'v1', kind }]);
  for (const kind of ['DeleteOptions', 'WatchEvent'])
    for (const of of [
      { group: '', version: 'v1' },
      { group: 'apps', version: 'v1' },
    ])
      expect(kindsOf(kind)).toContainEqual({ ...of, kind });
});

test('a definition is in the answer to the next request, and gone from the one after its end', async () => {
  const { registry, ask } = createServer();
  const group = '/apis/stable.example.com';
  const seen = async (): Promise<unknown> => {
    const groups = (await ask('/apis')).json.groups.map(({ name }: { name: string }) => name);
    const items = (await ask('/apis', aggregatedAs('v2'))).json.items;
    const [plain, versions] = await Promise.all(
      [group, `${group}/v1`].map((path) =>
        ask(path).then(
          () => true,
          () => false,
        ),
      ),
    );
    return {
      listed: groups.includes('stable.example.com'),
      aggregated: items.some(
        ({ metadata }: { metadata: { name: string } }) => metadata.name === 'stable.example.com',
      ),
      ...{ plain, versions },
      published: (await ask('/openapi/v3')).json.paths['apis/stable.example.com/v1'] !== undefined,
      v2: (await ask('/openapi/v2')).json.definitions['com.example.stable.v1.Cron'] !== undefined,
    };
  };
  const all = (value: boolean): unknown =>
    Object.fromEntries(
      ['listed', 'aggregated', 'plain', 'versions', 'published', 'v2'].map((key) => [key, value]),
    );
  expect(await seen()).toEqual(all(false));
  registry.put('crons.stable.example.com', [customDefinition(CRON)]);
  expect(await seen()).toEqual(all(true));
  registry.remove('crons.stable.example.com');
  expect(await seen()).toEqual(all(false));
});

test('a built-in group shows its own resources alone, in versions that it has and has not', async () => {
  const { registry, ask } = createServer();
  const group = 'networking.k8s.io';
  const before = (await ask('/apis', aggregatedAs('v2'))).bytes;
  registry.put(`crons.${group}`, [
    customDefinition({ ...CRON, group, version: 'v1' }),
    customDefinition({ ...CRON, group, version: 'v7' }),
  ]);
  expect((await ask('/apis', aggregatedAs('v2'))).bytes.equals(before)).toBe(true);
  expect(registry.versions(group)).not.toContain('v7');
  expect(registry.find(group, 'v1', 'crons')).toBeUndefined();
});

test('the plain list of a group version says what Kubernetes says', async () => {
  const { registry, ask } = createServer();
  const both = { ...CRON, storageVersion: 'v1', subresources: ['status', 'scale'] } as const;
  registry.put('crons.stable.example.com', [
    customDefinition({ ...both, version: 'v1' }),
    customDefinition({ ...both, version: 'v2beta1' }),
  ]);
  const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
  for (const version of ['v1', 'v2beta1']) {
    const { json } = await ask(`/apis/stable.example.com/${version}`);
    expect(json).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `stable.example.com/${version}`,
      resources: [
        {
          ...{ name: 'crons', singularName: 'cron', namespaced: true, kind: 'Cron', verbs },
          ...{ shortNames: ['ct'], categories: ['all'] },
          // Of the stored version, in each of them: sha256('stable.example.com/v1/Cron'), eight bytes of it.
          storageVersionHash: 'MeTHkw/WGjk=',
        },
        {
          ...{ name: 'crons/status', singularName: '', namespaced: true, kind: 'Cron' },
          verbs: ['get', 'patch', 'update'],
        },
        {
          ...{ name: 'crons/scale', singularName: '', namespaced: true, kind: 'Scale' },
          ...{ group: 'autoscaling', version: 'v1' },
          verbs: ['get', 'patch', 'update'],
        },
      ],
    });
  }
  expect((await ask('/apis/stable.example.com')).json).toEqual({
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: 'stable.example.com',
    versions: [
      { groupVersion: 'stable.example.com/v1', version: 'v1' },
      { groupVersion: 'stable.example.com/v2beta1', version: 'v2beta1' },
    ],
    preferredVersion: { groupVersion: 'stable.example.com/v1', version: 'v1' },
  });
});

test('the list of the core group has no apiVersion, and subresources are in the order of their names', async () => {
  const { ask } = createServer();
  const { json } = await ask('/api/v1');
  expect(json).not.toHaveProperty('apiVersion');
  const names: string[] = json.resources.map(({ name }: { name: string }) => name);
  expect(names.filter((name) => name.startsWith('namespaces'))).toEqual([
    'namespaces',
    'namespaces/finalize',
    'namespaces/status',
  ]);
});

test('without a served stored version there is no hash of it, and what ends takes no more writes', async () => {
  const { registry, ask } = createServer();
  registry.put('crons.stable.example.com', [customDefinition({ storageVersion: '', isEnding: true })]);
  const [cron] = (await ask('/apis/stable.example.com/v1')).json.resources;
  expect(cron).not.toHaveProperty('storageVersionHash');
  expect(cron.verbs).toEqual(['delete', 'deletecollection', 'get', 'list', 'watch']);
});

test('what begins to end is listed anew, in every list', async () => {
  const { registry, ask } = createServer();
  const { custom, ...definition } = customDefinition(CRON);
  if (custom === undefined) throw new Error('the definition is not custom');
  let isEnding = false;
  const changing = Object.defineProperty({ ...custom }, 'isEnding', { get: () => isEnding });
  registry.put('crons.stable.example.com', [{ ...definition, custom: changing }]);
  const verbs = async (): Promise<number[]> => {
    const [plain] = (await ask('/apis/stable.example.com/v1')).json.resources;
    const item = itemOf(await ask('/apis', aggregatedAs('v2')));
    return [plain, item.versions[0].resources[0]].map((one: { verbs: string[] }) => one.verbs.length);
  };
  expect(await verbs()).toEqual([8, 8]);
  isEnding = true;
  registry.relist('crons.stable.example.com');
  expect(await verbs()).toEqual([5, 5]);
});

test('a subresource of the kind of its resource is in each version of it', async () => {
  const { ask } = createServer();
  const { json } = await ask('/apis', aggregatedAs('v2'));
  const { versions } = itemOf({ json }, 'autoscaling');
  const kinds = [0, 1].map((at) => versions[at].resources[0].subresources[0].responseKind);
  const kind = 'HorizontalPodAutoscaler';
  expect(kinds).toEqual([
    { group: 'autoscaling', version: 'v2', kind },
    { group: 'autoscaling', version: 'v1', kind },
  ]);
});

test('both versions of aggregated discovery show a custom resource with its subresources', async () => {
  const { registry, ask } = createServer();
  registry.put('crons.stable.example.com', [
    customDefinition({ ...CRON, subresources: ['status', 'scale'], namespaced: false }),
  ]);
  for (const version of ['v2', 'v2beta1']) {
    const { json, headers } = await ask('/apis', aggregatedAs(version));
    expect(json.apiVersion).toBe(`apidiscovery.k8s.io/${version}`);
    expect(headers.vary).toBe('Accept');
    const item = itemOf({ json });
    const own = { group: 'stable.example.com', version: 'v1', kind: 'Cron' };
    expect(item).toEqual({
      metadata: { name: 'stable.example.com', creationTimestamp: null },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              ...{ resource: 'crons', singularResource: 'cron', scope: 'Cluster', responseKind: own },
              ...{ shortNames: ['ct'], categories: ['all'] },
              verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
              subresources: [
                { subresource: 'status', responseKind: own, verbs: ['get', 'patch', 'update'] },
                {
                  subresource: 'scale',
                  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                  verbs: ['get', 'patch', 'update'],
                },
              ],
            },
          ],
        },
      ],
    });
  }
});

test('groups of definitions stand behind the built-in ones, by name; each is listed once, also with several dialects', async () => {
  const { registry, ask } = createServer();
  const groups = ['z.example.com', 'a.example.com', 'gateway.networking.k8s.io'];
  for (const group of groups) registry.put(`crons.${group}`, [customDefinition({ group })]);
  const builtIn = new Set(BUILT_IN_RESOURCES.map(({ group }) => group));
  const names = async (): Promise<string[]> =>
    (await ask('/apis', aggregatedAs('v2'))).json.items.map(
      ({ metadata }: { metadata: { name: string } }) => metadata.name,
    );
  const listed = (await names()).filter((name) => !name.endsWith('.cluster.io'));
  expect(listed.slice(-3)).toEqual(['a.example.com', 'gateway.networking.k8s.io', 'z.example.com']);
  expect(listed.slice(0, -3).every((name) => builtIn.has(name))).toBe(true);
  expect(new Set(await names()).size).toBe((await names()).length);
});

test('the tag of aggregated discovery changes with what it says, and only then', async () => {
  const { registry, ask } = createServer();
  const tag = async (version = 'v2'): Promise<string> =>
    String((await ask('/apis', aggregatedAs(version))).headers.etag);
  const before = await tag();
  expect(await tag('v2beta1')).not.toBe(before);
  registry.put('crons.stable.example.com', [customDefinition({ digest: '1' })]);
  const installed = await tag();
  expect(installed).not.toBe(before);
  // Another schema is no other resource.
  registry.put('crons.stable.example.com', [customDefinition({ digest: '2' })]);
  expect(await tag()).toBe(installed);
  registry.remove('crons.stable.example.com');
  expect(await tag()).toBe(before);
  const { code, bytes } = await ask('/apis', { ...aggregatedAs('v2'), 'if-none-match': before });
  expect([code, bytes.length]).toEqual([304, 0]);
});

test('in parts aggregated discovery is the JSON that it is at once', async () => {
  const { registry, ask } = createServer();
  registry.put('crons.stable.example.com', [customDefinition(CRON)]);
  const text = (await ask('/apis', aggregatedAs('v2'))).bytes.toString();
  expect(text).toBe(JSON.stringify(JSON.parse(text)));
});

const THOUSAND = 1000;

function installThousand(registry: Registry, schema: () => object): void {
  for (let at = 0; at < THOUSAND; at += 1) {
    const kind = `Kind${at}`;
    const group = `g${Math.floor(at / 10)}.example.com`;
    registry.put(`kind${at}s.${group}`, [
      customDefinition({ group, kind, schema, subresources: ['status'] }),
    ]);
  }
}

test('with a thousand definitions, one that changes costs aggregated discovery little, and asks no schema of any', async () => {
  const { registry, ask } = createServer();
  let asked = 0;
  installThousand(registry, () => {
    asked += 1;
    return {};
  });
  await ask('/apis', aggregatedAs('v2'));
  const took: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    registry.put('crons.stable.example.com', [customDefinition({ shortNames: [`s${round}`] })]);
    const start = threadMs();
    const { headers } = await ask('/apis', { ...aggregatedAs('v2'), 'if-none-match': '"other"' });
    await ask('/openapi/v3');
    took.push(threadMs() - start);
    expect(headers.etag).toBeDefined();
  }
  expect(asked).toBe(0);
  // 3 ms of it parse the answers, here.
  expectWithin(25, Math.min(...took));
});
