import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { OpenApi } from '../../src/discovery/openapi.ts';
import type { DocumentKey } from '../../src/discovery/openapi-document.ts';
import type { DocumentForm } from '../../src/discovery/openapi-v2.ts';
import { Registry } from '../../src/registry/registry.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { expectWithin } from '../kit/expect-within.ts';
import { threadMs } from '../kit/thread-time.ts';
import { gather } from './custom-definition.ts';

function createOpenApi(cbor = false): { openApi: OpenApi; keys: DocumentKey[] } {
  const registry = new Registry();
  for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);
  const keys = registry.groups().flatMap(({ group, versions }) =>
    versions.map((version): DocumentKey => {
      const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
      return { path, group, version, dialect: 'k8s.io' };
    }),
  );
  const pages = { versionFields: ['major', 'minor', 'emulationMinor'], issuer: true, logs: true };
  return { openApi: new OpenApi({ registry, types: loadTypes(), gitVersion: 'v1', pages, cbor }), keys };
}

/** For tests that only read: a document of all types takes long to make. */
const builtIn = createOpenApi();

const whole = async (openApi: OpenApi, keys: DocumentKey[], form: DocumentForm = 'json'): Promise<Buffer> =>
  gather(await openApi.whole(keys, form));

const parse = (bytes: Buffer): JsonValue => JSON.parse(bytes.toString()) as JsonValue;

/** Schemas may be empty, and mean anything then; defaults and extensions are values; requirements name no scopes. */
const MAY_BE_EMPTY = new Set(['schema', 'items', 'additionalProperties', 'default', 'enum', 'security']);

/** What Go's types would leave out when they write what they have read: their fields are omitempty. */
function* lostIn(value: JsonValue | undefined, path: string, name = ''): Iterable<string> {
  if (MAY_BE_EMPTY.has(name) || name.startsWith('x-')) return;
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (isEmpty || value === false || value === '' || value === null || value === 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) yield* lostIn(item, `${path}.${key}`, key);
}

test('no document has an empty member, which Go would lose', async () => {
  const { openApi, keys } = builtIn;
  expect(keys.length).toBeGreaterThan(20);
  for (const key of keys) {
    const { make } = await openApi.groupVersion(key);
    expect([...lostIn(parse(await make()), key.path)]).toEqual([]);
  }
  for (const [path, pages] of openApi.pages(keys)) {
    const { make } = await openApi.page(path, pages);
    expect([...lostIn(parse(await make()), path)]).toEqual([]);
  }
  expect([...lostIn(parse(await whole(openApi, keys)), 'v2')]).toEqual([]);
});

test.each([true, false])('CBOR is among the media types where the server knows it: %s', async (cbor) => {
  const { openApi, keys } = createOpenApi(cbor);
  const key = keys.find(({ path }) => path === 'apis/apps/v1');
  if (key === undefined) throw new Error('apps/v1 is not served');
  const v3 = JSON.stringify(parse(await (await openApi.groupVersion(key)).make()));
  const v2 = (await whole(openApi, [key])).toString();
  for (const document of [v2, v3])
    expect(
      ['"application/cbor"', '"application/cbor-seq"', '"application/apply-patch+cbor"'].map((type) =>
        document.includes(type),
      ),
    ).toEqual([cbor, cbor, cbor]);
});

interface Named {
  readonly name?: string;
  readonly $ref?: string;
  readonly description?: string;
}

/** Of a parameter, or of a reference to one. */
const nameOf = ({ name, $ref = '' }: Named): string => name ?? $ref.slice($ref.search(/[^/.]*$/));

interface Operation {
  readonly operationId?: string;
  readonly parameters?: Named[];
  readonly tags?: string[];
  readonly produces?: string[];
  readonly responses?: Record<string, Response>;
}
interface Response {
  readonly schema?: Named;
  readonly content?: Record<string, { readonly schema: Named }>;
}
type Paths = Record<string, Record<string, Operation> & { parameters?: Named[] }>;

const parametersIn = (paths: Paths): Named[] =>
  Object.values(paths).flatMap(({ parameters = [], ...operations }) => [
    ...parameters,
    ...Object.values(operations).flatMap((operation) => operation.parameters ?? []),
  ]);

test('every parameter and the items of every list are described, in both versions', async () => {
  const { openApi, keys } = builtIn;
  const v2 = parse(await whole(openApi, keys)) as {
    paths: Paths;
    parameters: Record<string, Named>;
  } & object;
  const described = parametersIn(v2.paths).map(({ $ref, ...own }) =>
    $ref === undefined ? own : (v2.parameters[$ref.slice('#/parameters/'.length)] ?? {}),
  );
  expect(described.length).toBeGreaterThan(2000);
  expect(described.filter(({ description = '' }) => description.length < 10)).toEqual([]);
  expect(JSON.stringify(v2)).not.toContain('The objects."');
  for (const key of keys) {
    const { make } = await openApi.groupVersion(key);
    const { paths } = parse(await make()) as unknown as { paths: Paths };
    const plain = parametersIn(paths).filter(({ description = '' }) => description.length < 10);
    expect(plain, key.path).toEqual([]);
  }
});

test('the old way to watch has the names that generated clients know, in both versions', async () => {
  const { openApi, keys } = builtIn;
  const [core] = keys.filter(({ path }) => path === 'api/v1');
  if (core === undefined) throw new Error('the core group is not served');
  const { make } = await openApi.groupVersion(core);
  for (const document of [parse(await whole(openApi, keys)), parse(await make())]) {
    const { paths } = document as unknown as { paths: Paths };
    const watches = (path: string): string | undefined => paths[`/api/v1/watch/${path}`]?.get?.operationId;
    expect(watches('pods')).toBe('watchCoreV1PodListForAllNamespaces');
    expect(watches('namespaces/{namespace}/pods')).toBe('watchCoreV1NamespacedPodList');
    expect(watches('namespaces/{namespace}/pods/{name}')).toBe('watchCoreV1NamespacedPod');
    expect(watches('nodes')).toBe('watchCoreV1NodeList');
    expect(watches('nodes/{name}')).toBe('watchCoreV1Node');
    expect(watches('componentstatuses')).toBeUndefined();
    const named = paths['/api/v1/watch/namespaces/{namespace}/pods/{name}']?.parameters ?? [];
    expect(named.map(nameOf).toSorted()).toEqual([...WATCH_PARAMETERS, 'name', 'namespace'].toSorted());
  }
});

const WATCH_PARAMETERS = [
  ...['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit', 'pretty'],
  ...['resourceVersion', 'resourceVersionMatch', 'sendInitialEvents', 'timeoutSeconds', 'watch'],
];

async function bothVersions(group: string, version: string): Promise<Documented[]> {
  const { openApi, keys } = builtIn;
  const key = keys.find((one) => one.group === group && one.version === version);
  if (key === undefined) throw new Error(`${group}/${version} is not served`);
  const { make } = await openApi.groupVersion(key);
  return [parse(await whole(openApi, keys)), parse(await make())].map((one) => one as unknown as Documented);
}

interface Documented {
  readonly paths: Paths;
  readonly definitions?: Record<string, Schema>;
  readonly components?: { readonly schemas: Record<string, Schema> };
}
interface Schema {
  readonly required?: string[];
  readonly properties?: Record<string, Record<string, unknown>>;
}

/** The media types of the first answer; version 2 gives them for all. */
const typesOf = ({ produces, responses = {} }: Operation): string[] =>
  produces ?? Object.keys(responses[200]?.content ?? {});

/** The type of the answer. */
const answeredBy = ({ responses = {} }: Operation): string => {
  const { schema, content } = responses[200] ?? {};
  return (schema ?? content?.['application/json']?.schema)?.$ref?.replace(/^.*[/]/, '') ?? '';
};

test.each([
  ['pods', 'get', '200 401', 'PodList', 'streams'],
  ['pods', 'post', '200 201 202 401', 'Pod', 'objects'],
  ['pods', 'delete', '200 401', 'Status', 'objects'],
  ['pods/{name}', 'put', '200 201 401', 'Pod', 'objects'],
  ['pods/{name}', 'patch', '200 201 401', 'Pod', 'objects'],
  ['pods/{name}', 'delete', '200 202 401', 'Pod', 'objects'],
  ['configmaps/{name}', 'delete', '200 202 401', 'Status', 'objects'],
])('%s %s has the answers that Kubernetes documents', async (path, method, codes, type, media) => {
  const objects = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
  const streams = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
  for (const { paths } of await bothVersions('', 'v1')) {
    const operation = paths[`/api/v1/namespaces/{namespace}/${path}`]?.[method];
    expect(operation?.tags).toEqual(['core_v1']);
    expect(Object.keys(operation?.responses ?? {})).toEqual(codes.split(' '));
    expect(
      answeredBy(operation ?? {})
        .split('.')
        .at(-1),
    ).toBe(type);
    expect(typesOf(operation ?? {})).toEqual(media === 'objects' ? objects : [...objects, ...streams]);
  }
});

test('a parameter of all operations of a path is beside them, and parameters are sorted by name', async () => {
  for (const { paths } of await bothVersions('', 'v1')) {
    const pods = paths['/api/v1/namespaces/{namespace}/pods'];
    expect(pods?.parameters?.map(nameOf)).toEqual(['namespace', 'pretty']);
    const own = (method: string) =>
      (pods?.[method]?.parameters ?? []).map(nameOf).filter((name) => name !== 'body');
    expect(own('post')).toEqual(['dryRun', 'fieldManager', 'fieldValidation']);
    expect(own('delete')).toEqual(own('delete').toSorted());
    expect(own('delete')).not.toContain('allowWatchBookmarks');
    // All parameters of a path with one operation are.
    const all = paths['/api/v1/pods'];
    expect(all?.get?.parameters).toBeUndefined();
    expect(all?.parameters?.map(nameOf)).toContain('labelSelector');
  }
});

test('a status is documented in the version that is served, which may not be the stored one', async () => {
  for (const { paths } of await bothVersions('autoscaling', 'v1')) {
    const path = '/apis/autoscaling/v1/namespaces/{namespace}/horizontalpodautoscalers/{name}/status';
    const read = paths[path]?.get as Operation & { 'x-kubernetes-group-version-kind': { version: string } };
    expect(answeredBy(read)).toBe('io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler');
    expect(read['x-kubernetes-group-version-kind'].version).toBe('v1');
  }
});

test('version 3 tells the defaults that Kubernetes publishes, and version 2 none', async () => {
  const [v2, v3] = await bothVersions('', 'v1');
  const properties = Object.values(v2?.definitions ?? {}).flatMap((one) =>
    Object.values(one.properties ?? {}),
  );
  expect(properties.length).toBeGreaterThan(2000);
  expect(properties.filter((one) => 'default' in one)).toEqual([]);
  const of = (type: string, field: string) =>
    v3?.components?.schemas[`io.k8s.api.core.v1.${type}`]?.properties?.[field];
  expect(of('ContainerPort', 'protocol')?.default).toBe('TCP');
  expect(of('LocalObjectReference', 'name')?.default).toBe('');
  // What Go never leaves out has its zero value.
  expect(of('ContainerPort', 'containerPort')?.default).toBe(0);
  expect(of('Pod', 'spec')).toMatchObject({ default: {}, allOf: [{}] });
  // Applied, and not published.
  expect(of('PodSpec', 'restartPolicy')).not.toHaveProperty('default');
  expect(of('Probe', 'httpGet')).not.toHaveProperty('default');
});

test('required fields are in the order of their declaration', async () => {
  for (const { definitions, components } of await bothVersions('', 'v1')) {
    const { required } = (definitions ?? components?.schemas)?.['io.k8s.api.core.v1.AttachedVolume'] ?? {};
    expect(required).toEqual(['name', 'devicePath']);
  }
});

test('documents say how clients authenticate, and what any JSON is called', async () => {
  const [v2, v3] = await bothVersions('apiextensions.k8s.io', 'v1');
  const scheme = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };
  expect(v2).toMatchObject({ securityDefinitions: scheme, security: [{ BearerToken: [] }] });
  expect(v3).toMatchObject({ components: { securitySchemes: scheme } });
  const prefix = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
  for (const schemas of [v2?.definitions, v3?.components?.schemas])
    expect(JSON.stringify(schemas?.[`${prefix}.JSONSchemaProps`]?.properties?.enum)).toContain(
      `${prefix}.JSON"`,
    );
});

test('what a read of history takes in its query is in the documents', async () => {
  const { openApi, keys } = builtIn;
  const key = keys.find(({ group }) => group === 'history.cluster.io');
  if (key === undefined) throw new Error('history.cluster.io is not served');
  const { make } = await openApi.groupVersion(key);
  for (const document of [parse(await make()), parse(await whole(openApi, keys))]) {
    const { paths } = document as unknown as { paths: Record<string, { parameters?: Named[] }> };
    const asked = (path: string) =>
      (paths[`/apis/history.cluster.io/v1alpha1/${path}`]?.parameters ?? []).map(nameOf);
    expect(asked('revisions')).toEqual(expect.arrayContaining(['fieldSelector', 'since', 'until']));
    const own = ['name', 'pretty'];
    expect(asked('timelines/{name}')).toEqual(['continue', 'limit', ...own, 'since', 'until']);
    expect(asked('blames/{name}')).toEqual(['asOf', ...own]);
    expect(asked('revisions/{name}/why')).toEqual(own);
  }
});

test('requests during the making of a document share it, and the event loop is not blocked', async () => {
  for (const form of ['json', 'protobuf'] as const) {
    const { openApi, keys } = createOpenApi();
    let turns = 0;
    let isDone = false;
    const other = (): void => {
      turns += 1;
      if (!isDone) setImmediate(other);
    };
    setImmediate(other);
    const [first, second] = await Promise.all([openApi.whole(keys, form), openApi.whole(keys, form)]);
    isDone = true;
    const [head] = first.pieces();
    const [same] = second.pieces();
    expect(head).toBe(same);
    expect(turns).toBeGreaterThan(0);
  }
});

/** The longest that the event loop stood still while something was made. */
async function longestTurn(make: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = threadMs();
  let isDone = false;
  const tick = (): void => {
    longest = Math.max(longest, threadMs() - last);
    last = threadMs();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await make();
  isDone = true;
  return Math.max(longest, threadMs() - last);
}

test('no turn of making a document is longer than others can wait', async () => {
  for (const form of ['json', 'protobuf'] as const) {
    const turns: number[] = [];
    // The first run executes code that is not compiled yet.
    for (let round = 0; round < 3 && !turns.some((ms) => ms < 50); round += 1) {
      const { openApi, keys } = createOpenApi();
      turns.push(await longestTurn(() => whole(openApi, keys, form)));
    }
    expectWithin(50, Math.min(...turns), form);
  }
});

test('in turns it is the JSON that it is at once', async () => {
  const { openApi, keys } = builtIn;
  const text = (await whole(openApi, keys)).toString();
  expect(text).toBe(JSON.stringify(JSON.parse(text)));
});
