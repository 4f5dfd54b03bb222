import { expect, test } from 'vitest';
import {
  type AdmissionAttributes,
  AdmissionChain,
  type AdmissionPlugin,
} from '../../src/admission/admission.ts';
import { AdmissionMetrics } from '../../src/admission/admission-metrics.ts';
import {
  createMutatingAdmissionPolicy,
  mutatingAdmissionPolicy,
} from '../../src/admission/plugins/mutating-admission-policy.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { attributesOf, FakeCluster, namedForm, toObject } from '../kit/admission.ts';

const types = loadTypes();

const DEPLOYMENTS = { operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*/*', '*'] };

interface PolicyOutline extends JsonObject {
  readonly name?: string;
}

const policy = ({ name = 'p', ...spec }: PolicyOutline): JsonObject => ({
  metadata: { name },
  spec: {
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    matchConstraints: { resourceRules: [DEPLOYMENTS], matchPolicy: 'Equivalent' },
    ...spec,
  },
});

const apply = (expression: string): JsonObject => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const jsonPatch = (expression: string): JsonObject => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const binding = (spec: JsonObject = {}, name = 'b'): JsonObject => ({
  metadata: { name },
  spec: { policyName: 'p', ...spec },
});

const LABEL = (key: string, value: string) =>
  apply(`Object{metadata: Object.metadata{labels: {"${key}": ${value}}}}`);

interface Setting {
  readonly policies: readonly JsonObject[];
  readonly bindings?: readonly JsonObject[];
  readonly params?: readonly JsonObject[];
  readonly metrics?: Metrics;
}

function pluginOf({ policies, bindings, params = [], metrics = new Metrics() }: Setting): AdmissionPlugin {
  const objects = new FakeCluster({
    mutatingadmissionpolicies: policies,
    mutatingadmissionpolicybindings: bindings ?? [binding()],
    namespaces: [{ metadata: { name: 'shop', labels: { env: 'prod' } } }],
  });
  const all = params.map(toObject);
  return createMutatingAdmissionPolicy({
    ...{ objects, types },
    admissionMetrics: new AdmissionMetrics(metrics),
    findParams: ({ kind }) =>
      kind !== 'ConfigMap'
        ? undefined
        : {
            namespaced: true,
            get: async (_, name) => all.find(({ metadata }) => metadata.name === name),
            list: async () => all,
          },
    equivalentsOf: () => [],
    formOf: namedForm,
    rights: { decide: async (_user, { verb }) => ({ allowed: verb === 'wink', reason: '' }) },
    onResources: () => {},
    isServing: () => true,
  });
}

const deployment = (spec: JsonObject = {}, metadata: JsonObject = {}): ApiObject =>
  toObject({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { spec: { containers: [{ name: 'a', image: 'x' }] } },
      ...spec,
    },
  });

const attributesFor = (object: ApiObject, more: Partial<AdmissionAttributes> = {}): AdmissionAttributes =>
  attributesOf('apps/deployments', { object, namespace: 'shop', ...more });

async function mutated(
  mutations: readonly JsonObject[],
  {
    spec = {},
    object = deployment(),
    ...setting
  }: Partial<Setting> & { spec?: JsonObject; object?: ApiObject } = {},
): Promise<ApiObject> {
  await pluginOf({ policies: [policy({ mutations: [...mutations], ...spec })], ...setting }).mutate?.(
    attributesFor(object),
  );
  return object;
}

async function refusal(
  mutations: readonly JsonObject[],
  more: Parameters<typeof mutated>[1] = {},
): Promise<StatusError['status'] | undefined> {
  try {
    await mutated(mutations, more);
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return error.status;
  }
}

const containersOf = ({ spec }: ApiObject): unknown =>
  (spec as { template: { spec: { containers: { name: string }[] } } }).template.spec.containers.map(
    ({ name }) => name,
  );

test('a configuration is merged as by server-side apply: lists with keys keep what they had', async () => {
  const object = await mutated([
    apply(`Object{
      metadata: Object.metadata{labels: {"env": namespaceObject.metadata.labels.env, "by": request.userInfo.username}},
      spec: Object.spec{
        replicas: object.spec.replicas + 1,
        template: Object.spec.template{spec: Object.spec.template.spec{
          containers: [Object.spec.template.spec.containers{name: "sidecar", image: "proxy:1"}]
        }}
      }
    }`),
  ]);
  expect(object.metadata.labels).toEqual({ env: 'prod', by: 'jane' });
  expect(object.spec).toMatchObject({ replicas: 2, selector: { matchLabels: { app: 'web' } } });
  expect(containersOf(object)).toEqual(['a', 'sidecar']);
});

test('the operations of a JSON patch change the object, and what they add gets its defaults', async () => {
  const object = await mutated([
    jsonPatch(`[
      JSONPatch{op: "add", path: "/metadata/labels", value: {}},
      JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("k8s.io/x~y"), value: "true"},
      JSONPatch{op: "replace", path: "/spec/replicas", value: 7},
      JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{
        name: "x", ports: [Object.spec.template.spec.containers.ports{containerPort: 8080}]
      }}
    ]`),
  ]);
  expect(object.metadata.labels).toEqual({ 'k8s.io/x~y': 'true' });
  expect(object.spec).toMatchObject({
    replicas: 7,
    template: { spec: { containers: [{ name: 'a' }, { name: 'x', ports: [{ protocol: 'TCP' }] }] } },
  });
});

test('each mutation sees what the ones before it made, and variables see it, too', async () => {
  const spec = { variables: [{ name: 'count', expression: 'object.spec.replicas * 10' }] };
  const replicas = apply('Object{spec: Object.spec{replicas: variables.count}}');
  const object = await mutated([replicas, replicas], { spec });
  expect(object.spec).toMatchObject({ replicas: 100 });
});

test('a patch whose test fails changes nothing', async () => {
  const object = await mutated([
    jsonPatch(`[
      JSONPatch{op: "test", path: "/spec/replicas", value: 3},
      JSONPatch{op: "replace", path: "/spec/replicas", value: 5}
    ]`),
  ]);
  expect(object.spec).toMatchObject({ replicas: 1 });
});

test('rights, parameters and the old object are there for expressions', async () => {
  const object = deployment();
  const setting: Setting = {
    policies: [
      policy({
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        mutations: [
          LABEL('team', 'params.data.team'),
          LABEL('may', 'string(authorizer.requestResource.check("wink").allowed())'),
          LABEL('was', 'string(oldObject.spec.replicas)'),
        ],
      }),
    ],
    bindings: [binding({ paramRef: { name: 'c', parameterNotFoundAction: 'Deny' } })],
    params: [{ metadata: { name: 'c', namespace: 'shop' }, data: { team: 'blue' } }],
  };
  const old = deployment({ replicas: 9 });
  await pluginOf(setting).mutate?.(attributesFor(object, { operation: 'UPDATE', old }));
  expect(object.metadata.labels).toEqual({ team: 'blue', may: 'true', was: '9' });
});

test('a policy runs once for each parameter that a binding selects', async () => {
  const object = deployment();
  await pluginOf({
    policies: [
      policy({
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        mutations: [
          jsonPatch('[JSONPatch{op: "add", path: "/metadata/labels/" + params.metadata.name, value: "yes"}]'),
        ],
      }),
    ],
    bindings: [binding({ paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } })],
    params: [{ metadata: { name: 'one' } }, { metadata: { name: 'two' } }],
  }).mutate?.(attributesFor(Object.assign(object, { metadata: { ...object.metadata, labels: {} } })));
  expect(object.metadata.labels).toEqual({ one: 'yes', two: 'yes' });
});

test('matching happens before the first mutation, and conditions see what was changed before them', async () => {
  const object = deployment();
  await pluginOf({
    policies: [
      policy({ name: 'a', mutations: [LABEL('first', '"1"')] }),
      policy({
        name: 'b',
        matchConstraints: {
          resourceRules: [DEPLOYMENTS],
          objectSelector: { matchLabels: { first: '1' } },
        },
        mutations: [LABEL('selected', '"1"')],
      }),
      policy({
        name: 'c',
        matchConditions: [{ name: 'labelled', expression: '"first" in object.metadata.?labels.orValue({})' }],
        mutations: [LABEL('condition', '"1"')],
      }),
    ],
    bindings: ['a', 'b', 'c'].map((policyName) => binding({ policyName }, policyName)),
  }).mutate?.(attributesFor(object));
  expect(object.metadata.labels).toEqual({ first: '1', condition: '1' });
});

const BOUND = "policy 'p' with binding 'b' denied request: ";

test('an error refuses the write with the words of Kubernetes, as the reason Invalid with the code 403', async () => {
  expect(await refusal([apply('Object{spec: Object.spec{replicas: object.spec.nope}}')])).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 403,
    reason: 'Invalid',
    message: `${BOUND}expression 'Object{spec: Object.spec{replicas: object.spec.nope}}' resulted in error: no such key: nope`,
    details: {
      name: 'web',
      group: 'apps',
      kind: 'deployments',
      causes: [
        {
          message: `${BOUND}expression 'Object{spec: Object.spec{replicas: object.spec.nope}}' resulted in error: no such key: nope`,
        },
      ],
    },
  });
});

test.each([
  [
    apply('Object{spec: Object.specx{replicas: 1}}'),
    'type mismatch: unexpected type name "Object.specx", expected "Object.spec", which matches field name path from root Object type',
  ],
  [
    apply('Object{spec: Object.spec{replicasx: 1}}'),
    'error applying patch: failed to convert patch object to typed object: .spec.replicasx: field not declared in schema',
  ],
  [
    apply('Object{spec: Object.spec{selector: Object.spec.selector{}}}'),
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
  ],
  [
    apply(`Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
      containers: [Object.spec.template.spec.containers{name: "a", args: ["-v"]}]}}}}`),
    'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.template.spec.containers[0].args',
  ],
  [
    jsonPatch('[JSONPatch{op: "add", path: "/spec/nope/x", value: 1}]'),
    'JSON Patch: add operation does not apply: doc is missing path: "/spec/nope/x": missing value',
  ],
  [jsonPatch('[JSONPatch{op: "merge", path: "/spec"}]'), 'JSON Patch: Unexpected kind: merge'],
  [apply('"teapot"'), 'must evaluate to Object but got string'],
  [
    apply('Nope{}'),
    "compilation failed: ERROR: <input>:1:5: undeclared reference to 'Nope' (in container '')\n | Nope{}\n | ....^",
  ],
])('%j is refused: %s', async (mutation, why) => {
  const status = await refusal([mutation]);
  expect(status?.message).toBe(BOUND + why);
});

test('with failurePolicy Ignore, a failing mutation is left out, and the others are made', async () => {
  const failing = apply('Object{spec: Object.spec{replicas: object.spec.nope}}');
  const object = await mutated([LABEL('a', '"1"'), failing, LABEL('b', '"2"')], {
    spec: { failurePolicy: 'Ignore' },
  });
  expect(object.metadata.labels).toEqual({ a: '1', b: '2' });
});

test('a result that is no object of the type is an internal error also with the failure policy Ignore', async () => {
  const unknown = jsonPatch('[JSONPatch{op: "add", path: "/spec/nope", value: 1}]');
  const status = await refusal([unknown], { spec: { failurePolicy: 'Ignore' } });
  expect(status).toMatchObject({
    code: 500,
    message: 'Internal error occurred: strict decoding error: unknown field "spec.nope"',
  });
});

test.each([
  ['kind', '"Foo"', 'no kind "Foo" is registered for version "apps/v1"'],
  ['apiVersion', '"v2"', 'no kind "Deployment" is registered for version "v2"'],
])('a JSON patch that changes the %s is an internal error', async (field, value, message) => {
  const patch = jsonPatch(`[JSONPatch{op: "replace", path: "/${field}", value: ${value}}]`);
  expect(await refusal([patch])).toMatchObject({ code: 500, message: expect.stringContaining(message) });
});

test('a wrong parameter kind refuses, and names the policy alone', async () => {
  const spec = { paramKind: { apiVersion: 'v1', kind: 'Nope' } };
  const status = await refusal([LABEL('a', '"1"')], { spec });
  expect(status).toMatchObject({
    code: 403,
    reason: 'Forbidden',
    message:
      'policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: \'/v1, Kind=Nope\'',
  });
  expect(await refusal([LABEL('a', '"1"')], { spec: { ...spec, failurePolicy: 'Ignore' } })).toBeUndefined();
});

test('each mutation has the whole budget of a policy, and one that exceeds it is refused', async () => {
  const costly = (times: number): string =>
    `Object{spec: Object.spec{replicas: [0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, ${'[0,1,2,3,4,5,6,7,8,9].map(c, '.repeat(times)}1${')'.repeat(times)})).size()}}`;
  const status = await refusal([apply(costly(4))]);
  expect(status?.message).toMatch(/resulted in error: operation cancelled: actual cost limit exceeded$/);
});

/** A plugin that sets a label to how often it ran. */
const counting = (): AdmissionPlugin => {
  let runs = 0;
  return {
    name: 'Counting',
    operations: ['CREATE'],
    mutate: ({ object }) => {
      runs += 1;
      if (object !== undefined) object.metadata.labels = { ...object.metadata.labels, runs: String(runs) };
    },
  };
};

test.each([
  ['IfNeeded', '3'],
  ['Never', '2'],
])(
  'after a mutation all plugins run once more, and a policy with %s, too',
  async (reinvocationPolicy, replicas) => {
    const object = deployment();
    const increment = apply('Object{spec: Object.spec{replicas: object.spec.replicas + 1}}');
    const chain = new AdmissionChain([
      counting(),
      pluginOf({ policies: [policy({ reinvocationPolicy, mutations: [increment] })] }),
    ]);
    await chain.mutate(attributesFor(object));
    expect(object.metadata.labels).toEqual({ runs: '2' });
    expect(object.spec).toMatchObject({ replicas: Number(replicas) });
  },
);

test('a policy that matches in the second round alone does not run', async () => {
  const object = deployment();
  const late: AdmissionPlugin = {
    name: 'Late',
    operations: ['CREATE'],
    mutate: ({ object: written }) => {
      if (written !== undefined) written.metadata.labels = { late: 'yes' };
      return Promise.resolve<'reinvoke'>('reinvoke');
    },
  };
  const constraints = { resourceRules: [DEPLOYMENTS], objectSelector: { matchLabels: { late: 'yes' } } };
  const early = pluginOf({
    policies: [
      policy({
        reinvocationPolicy: 'IfNeeded',
        matchConstraints: constraints,
        mutations: [LABEL('a', '"1"')],
      }),
    ],
  });
  await new AdmissionChain([early, late]).mutate(attributesFor(object));
  expect(object.metadata.labels).toEqual({ late: 'yes' });
});

test('deletions and the configuration of admission are never changed', () => {
  const plugin = pluginOf({
    policies: [
      policy({
        matchConstraints: { resourceRules: [{ ...DEPLOYMENTS, apiGroups: ['*'], apiVersions: ['*'] }] },
        mutations: [LABEL('a', '"1"')],
      }),
    ],
  });
  expect(plugin.operations).toEqual(['CREATE', 'UPDATE', 'CONNECT']);
  const webhooks = 'admissionregistration.k8s.io/validatingadmissionpolicies';
  expect(plugin.mutate?.(attributesOf(webhooks, { object: toObject({}) }))).toBeUndefined();
});

test('the plugin is there from 1.32 on, where its gate is on', () => {
  const parts = {
    types,
    policies: {
      objects: new FakeCluster({}),
      onResources: () => {},
    },
  } as unknown as Parameters<typeof mutatingAdmissionPolicy.create>[0];
  expect(mutatingAdmissionPolicy.since).toBe(32);
  expect(mutatingAdmissionPolicy.create({ ...parts, isFeatureOn: () => false })).toBeUndefined();
  expect(mutatingAdmissionPolicy.create({ ...parts, isFeatureOn: () => true })?.name).toBe(
    'MutatingAdmissionPolicy',
  );
});

test('mutations are counted by their outcome', async () => {
  const metrics = new Metrics();
  const spec = { failurePolicy: 'Ignore' };
  await mutated([LABEL('a', '"1"'), apply('Nope{}'), apply('Object{a: object.nope}')], { metrics, spec });
  const text = await metrics.text();
  const counted = text
    .split('\n')
    .filter((line) => line.startsWith('apiserver_mutating_admission_policy_check_total'));
  const sample = (error: string): string =>
    `apiserver_mutating_admission_policy_check_total{policy="p",policy_binding="b",error_type="${error}"} 1`;
  expect(counted.sort()).toEqual(['compile_error', 'invalid_error', 'no_error'].map(sample));
});
