// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    ...['--emulated-version=1.36', '--disable-admission-plugins=ServiceAccount'],
    '--runtime-config=admissionregistration.k8s.io/v1beta1=true,admissionregistration.k8s.io/v1alpha1=true',
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const rule = (apiGroup: string, resource: string): JsonObject => ({
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [apiGroup],
  apiVersions: ['*'],
  resources: [resource],
});

/** The names of objects say which policy is for them, so that policies do not meet. */
const policy = (name: string, { resource = rule('', 'configmaps'), ...spec }: JsonObject): JsonObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [resource as JsonObject] },
    matchConditions: [{ name: 'ours', expression: `object.metadata.name.startsWith('${name.slice(0, 3)}')` }],
    reinvocationPolicy: 'Never',
    ...spec,
  },
});

const binding = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name: `${name}-binding` },
  spec: { policyName: name, ...spec },
});

const apply = (expression: string): JsonObject => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const jsonPatch = (expression: string): JsonObject => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const label = (key: string, value: string): JsonObject =>
  apply(`Object{metadata: Object.metadata{labels: {"${key}": ${value}}}}`);

async function applied(...items: JsonObject[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const { code, stderr } = await cluster.kubectl('apply -f -', list);
  expect(`${code}${stderr}`).toBe('0');
}

const read = async (what: string, path: string): Promise<string> =>
  (await cluster.kubectl(`get ${what} -o jsonpath={${path}}`)).stdout;

const pod = (name: string, spec: JsonObject = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
  });

/** Waits until a write in a dry run answers as expected: then the policies are in force. */
const inForce = (command: string, expected: RegExp, input?: string) =>
  expect
    .poll(async () => {
      const { stdout, stderr } = await cluster.kubectl(`${command} --dry-run=server -o yaml`, input);
      return stdout + stderr;
    })
    .toMatch(expected);

const SIDECAR = apply(`Object{spec: Object.spec{initContainers: [
  Object.spec.initContainers{name: "proxy", image: "proxy:1", restartPolicy: "Always"}
]}}`);

test('a pod gets its sidecar and a label when it is created, and keeps both in an update', async () => {
  await applied(
    policy('sid', { resource: rule('', 'pods'), mutations: [SIDECAR, label('injected', '"yes"')] }),
    binding('sid'),
  );
  await inForce('create -f -', /name: proxy/, pod('sid-0'));
  expect((await cluster.kubectl('create -f -', pod('sid-1'))).code).toBe(0);
  expect(await read('pod sid-1', '.spec.initContainers[*].image')).toBe('proxy:1');
  expect(await read('pod sid-1', '.spec.containers[*].name')).toBe('main');
  expect((await cluster.kubectl('label pod sid-1 injected=no --overwrite')).code).toBe(0);
  expect(await read('pod sid-1', '.metadata.labels.injected')).toBe('yes');
  expect(await read('pod sid-1', '.spec.initContainers[*].name')).toBe('proxy');
  const untouched = await cluster.kubectl('create -f -', pod('other'));
  expect(untouched.code).toBe(0);
  expect(await read('pod other', '.spec.initContainers')).toBe('');
});

test('a policy with IfNeeded sees what a later one adds', async () => {
  const count = (reinvocationPolicy: string, key: string): JsonObject => ({
    resource: rule('', 'pods'),
    reinvocationPolicy,
    mutations: [label(key, 'string(object.spec.containers.size())')],
  });
  const container = jsonPatch(
    '[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "late", image: "late:1"}}]',
  );
  const isFirst = [
    {
      name: 'first',
      expression: 'object.metadata.name.startsWith("rei") && object.spec.containers.size() == 1',
    },
  ];
  await applied(
    policy('rei-a', count('IfNeeded', 'seen-twice')),
    policy('rei-b', count('Never', 'seen-once')),
    policy('rei-c', { resource: rule('', 'pods'), mutations: [container], matchConditions: isFirst }),
    ...['rei-a', 'rei-b', 'rei-c'].map((name) => binding(name)),
  );
  await inForce('create -f -', /seen-twice: "2"/, pod('rei-0'));
  expect((await cluster.kubectl('create -f -', pod('rei-1'))).code).toBe(0);
  expect(await read('pod rei-1', '.metadata.labels')).toBe('{"seen-once":"1","seen-twice":"2"}');
});

test('an expression that fails refuses the write, or is passed over with Ignore', async () => {
  const failing = label('x', 'object.data.missing');
  await applied(
    policy('fai', { mutations: [failing] }),
    policy('ign', { failurePolicy: 'Ignore', mutations: [failing, label('after', '"yes"')] }),
    ...['fai', 'ign'].map((name) => binding(name)),
  );
  await inForce('create configmap ign-0 --from-literal=a=b', /after: "yes"/);
  await inForce('create configmap fai-0 --from-literal=a=b', /denied request/);
  const refused = await cluster.kubectl('create configmap fai-1 --from-literal=a=b');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("policy 'fai' with binding 'fai-binding' denied request: expression '");
  expect(refused.stderr).toContain('resulted in error: no such key: missing');
  expect((await cluster.kubectl('create configmap ign-1 --from-literal=a=b')).code).toBe(0);
  expect(await read('configmap ign-1', '.metadata.labels')).toBe('{"after":"yes"}');
});

test('a parameter is what the binding refers to, as it is now', async () => {
  expect((await cluster.kubectl('create configmap team --from-literal=name=blue')).code).toBe(0);
  await applied(
    policy('par', {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      mutations: [label('team', 'params.data.name')],
    }),
    binding('par', { paramRef: { name: 'team', parameterNotFoundAction: 'Deny' } }),
  );
  await inForce('create configmap par-0', /team: blue/);
  await cluster.kubectl('patch configmap team -p {"data":{"name":"red"}}');
  await inForce('create configmap par-1', /team: red/);
  await cluster.kubectl('delete configmap team');
  await inForce('create configmap par-2', /failed to configure binding: no params found for policy binding/);
});

test('custom resources are changed by their schemas', async () => {
  await applied({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: {
                    size: { type: 'integer' },
                    parts: {
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['name'],
                      items: {
                        type: 'object',
                        required: ['name'],
                        properties: { name: { type: 'string' }, color: { type: 'string', default: 'grey' } },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  });
  const widgets = rule('example.com', 'widgets');
  await applied(
    policy('cus', {
      resource: widgets,
      mutations: [
        apply('Object{spec: Object.spec{size: object.spec.size + 1, parts: [Object.spec.parts{name: "b"}]}}'),
      ],
    }),
    policy('wro', { resource: widgets, mutations: [apply('Object{spec: Object.spec{sized: 1}}')] }),
    ...['cus', 'wro'].map((name) => binding(name)),
  );
  const widget = (name: string): string =>
    JSON.stringify({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name },
      spec: { size: 1, parts: [{ name: 'a', color: 'red' }] },
    });
  await inForce('create -f -', /\.spec\.sized: field not declared in schema/, widget('wro-0'));
  expect((await cluster.kubectl('create -f -', widget('cus-1'))).code).toBe(0);
  expect(await read('widget cus-1', '.spec')).toBe(
    '{"parts":[{"color":"red","name":"a"},{"color":"grey","name":"b"}],"size":2}',
  );
});

test('kubectl lists and explains policies, and older versions of the API show the same objects', async () => {
  const { stdout } = await cluster.kubectl('get mutatingadmissionpolicies par sid');
  expect(stdout.replace(/ +/g, ' ').split('\n').slice(0, 2).join('|')).toMatch(
    /^NAME MUTATIONS PARAMKIND AGE\|par 1 v1\/ConfigMap \d+s$/,
  );
  const explained = await cluster.kubectl(
    'explain mutatingadmissionpolicy.spec.mutations.applyConfiguration',
  );
  expect(explained.stdout).toMatch(/expression\s+<string>/);
  const old = await cluster.kubectl(
    'get mutatingadmissionpolicies.v1alpha1.admissionregistration.k8s.io par -o yaml',
  );
  expect(old.stdout).toMatch(/^apiVersion: admissionregistration.k8s.io\/v1alpha1/);
  const bound = await cluster.kubectl('get mutatingadmissionpolicybindings par-binding --no-headers');
  expect(bound.stdout).toMatch(/^par-binding\s+par\s+\*\/team/);
});

test('a policy that does not compile is refused when it is written', async () => {
  const wrong = policy('bad', { mutations: [apply('Object{spec: Nope{}}')] });
  const { code, stderr } = await cluster.kubectl('apply -f -', JSON.stringify(wrong));
  expect(code).toBe(1);
  expect(stderr).toContain(
    `spec.mutations[0].applyConfiguration.expression: Invalid value: "Object{spec: Nope{}}": compilation failed: ERROR: <input>:1:18: undeclared reference to 'Nope' (in container '')`,
  );
});

const EXPRESSIONS = {
  versions: 'semver("1.2.3").major() == 1',
  lists: 'object.data.map(k, k).distinct().size() < 3',
};

const validating = (name: string, expression: string): JsonObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [rule('', 'configmaps')] },
    matchConditions: [{ name: 'ours', expression: `object.metadata.name.startsWith('${name.slice(0, 3)}')` }],
    validations: [{ expression }],
  },
});

const definition = (plural: string, rules: string): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind: plural },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'string', 'x-kubernetes-validations': [{ rule: rules }] } },
          },
        },
      },
    ],
  },
});

test('1.34 leaves alone what only 1.36 has turned on, and knows the functions of its time', async () => {
  const bound = {
    ...binding('old'),
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: 'old', validationActions: ['Deny'] },
  };
  await applied(validating('old', EXPRESSIONS.lists), bound);
  await inForce(
    'create configmap old-0 --from-literal=a=1 --from-literal=b=2 --from-literal=c=3',
    /denied request/,
  );
  await using off = await startCluster(database.url, [
    ...['--emulated-version=1.34', '--disable-admission-plugins=ServiceAccount'],
  ]);
  const path = '/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies';
  expect((await off.request('GET', path)).code).toBe(404);
  expect((await off.kubectl('create -f -', pod('sid-2'))).code).toBe(0);
  expect((await off.kubectl('get pod sid-2 -o jsonpath={.metadata.labels}')).stdout).toBe('');
  const problemOf = async (object: JsonObject): Promise<string> =>
    (await off.kubectl('create --dry-run=server -f -', JSON.stringify(object))).stderr;
  expect(await problemOf(validating('new', EXPRESSIONS.versions))).toBe('');
  expect(await problemOf(validating('new', EXPRESSIONS.lists))).toContain(
    "undeclared reference to 'distinct'",
  );
  expect(await problemOf(definition('fresh', 'isSemver(self)'))).toBe('');
  expect(await problemOf(definition('fresh', 'lists.range(3).size() == 3'))).toContain(
    "undeclared reference to 'lists'",
  );
  // What is stored goes on, and may be changed elsewhere.
  expect(
    (
      await off.kubectl(
        'patch validatingadmissionpolicy old --type=merge -p {"spec":{"failurePolicy":"Ignore"}}',
      )
    ).code,
  ).toBe(0);
  const denied = await off.kubectl(
    'create configmap old-1 --from-literal=a=1 --from-literal=b=2 --from-literal=c=3',
  );
  expect(denied.stderr).toContain('denied request: failed expression');
});

test('1.34 changes objects where the gate and the API are turned on', async () => {
  await using on = await startCluster(database.url, [
    ...['--emulated-version=1.34', '--disable-admission-plugins=ServiceAccount'],
    '--feature-gates=MutatingAdmissionPolicy=true',
    '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
  ]);
  const { stdout } = await on.kubectl('get mutatingadmissionpolicy sid -o jsonpath={.apiVersion}');
  expect(stdout).toBe('admissionregistration.k8s.io/v1beta1');
  expect((await on.kubectl('create -f -', pod('sid-3'))).code).toBe(0);
  expect((await on.kubectl('get pod sid-3 -o jsonpath={.metadata.labels.injected}')).stdout).toBe('yes');
});
