// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--disable-admission-plugins=ServiceAccount']);
  await cluster.kubectl('create namespace shop');
  await cluster.kubectl('label namespace shop env=prod');
  await cluster.kubectl('create namespace play');
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const API = 'admissionregistration.k8s.io/v1';
const RULE = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};

/** Names of config maps tell which policies are for them, so that policies do not meet. */
function policy(name: string, spec: object): object {
  return {
    apiVersion: API,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [RULE] },
      matchConditions: [{ name: 'ours', expression: `object.metadata.name.startsWith('${name}')` }],
      ...spec,
    },
  };
}

const binding = (name: string, spec: object = {}): object => ({
  apiVersion: API,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: `${name}-binding` },
  spec: { policyName: name, validationActions: ['Deny'], ...spec },
});

async function apply(...objects: object[]): Promise<void> {
  const { code, stderr } = await cluster.kubectl(
    'apply -f -',
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  );
  expect(`${code}${stderr}`).toBe('0');
}

/** What kubectl says once the policy is in force. */
const says = (command: string, expected: RegExp) =>
  expect.poll(async () => (await cluster.kubectl(command)).stderr).toMatch(expected);

test('a policy denies, in dry runs too, and tells why in its own words', async () => {
  const validations = [
    {
      expression: 'has(object.data) && object.data.all(k, object.data[k].size() < 5)',
      messageExpression: "'too long: ' + object.metadata.name",
      reason: 'Forbidden',
    },
  ];
  await apply(policy('deny', { validations }), binding('deny'));
  const refused =
    /configmaps "deny-1" is forbidden: ValidatingAdmissionPolicy 'deny' with binding 'deny-binding' denied request: too long: deny-1/;
  await says('create configmap deny-1 --from-literal=a=toolong --dry-run=server', refused);
  await says('create configmap deny-1 --from-literal=a=toolong', refused);
  expect((await cluster.kubectl('create configmap deny-1 --from-literal=a=ok')).code).toBe(0);
  const patched = await cluster.kubectl('patch configmap deny-1 --type=merge -p {"data":{"a":"toolong"}}');
  expect(patched.stderr).toMatch(refused);
  const { code, json } = await cluster.request('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'deny-2' },
    data: { a: 'toolong' },
  });
  expect([code, json.reason, json.details.causes[0].message]).toEqual([
    403,
    'Forbidden',
    "ValidatingAdmissionPolicy 'deny' with binding 'deny-binding' denied request: too long: deny-2",
  ]);
});

test('a policy warns, and lets the request pass', async () => {
  await apply(
    policy('warn', { validations: [{ expression: 'false', message: 'think again' }] }),
    binding('warn', { validationActions: ['Warn', 'Audit'] }),
  );
  await says(
    'create configmap warn-1 --dry-run=server',
    /Warning: Validation failed for ValidatingAdmissionPolicy 'warn' with binding 'warn-binding': think again/,
  );
  expect((await cluster.kubectl('create configmap warn-1')).code).toBe(0);
});

test('parameters come from a config map, and follow it', async () => {
  const validations = [{ expression: 'object.data.size() <= int(params.data.most)' }];
  await cluster.kubectl('create configmap limits --from-literal=most=1 -n shop');
  const paramRef = { name: 'limits', namespace: 'shop', parameterNotFoundAction: 'Deny' };
  await apply(
    policy('params', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations }),
    binding('params', { paramRef }),
  );
  const two = 'create configmap params-1 --from-literal=a=1 --from-literal=b=2';
  await says(two, /denied request: failed expression: object.data.size\(\) <= int\(params.data.most\)/);
  await cluster.kubectl('patch configmap limits -n shop --type=merge -p {"data":{"most":"2"}}');
  await expect.poll(async () => (await cluster.kubectl(two)).code).toBe(0);
  await cluster.kubectl('delete configmap limits -n shop');
  await says(
    'create configmap params-2',
    /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction/,
  );
  // Parameters are looked for before conditions are, so that this would be in the way of all that follows.
  await cluster.kubectl('delete validatingadmissionpolicybinding params-binding');
  await expect.poll(async () => (await cluster.kubectl('create configmap params-2')).code).toBe(0);
});

test('a policy that does not compile is refused, with the place of the mistake', async () => {
  const spec = { validations: [{ expression: 'object.a == 1 && foo' }] };
  const { code, stderr } = await cluster.kubectl('create -f -', JSON.stringify(policy('broken', spec)));
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    `spec.validations[0].expression: Invalid value: "object.a == 1 && foo": compilation failed: ERROR: <input>:1:18: undeclared reference to 'foo' (in container '')`,
  );
});

test('a request that a policy cannot judge passes when the policy says so', async () => {
  const validations = [{ expression: 'object.nope == 1' }];
  await apply(
    policy('ignore', { failurePolicy: 'Ignore', validations }),
    binding('ignore'),
    policy('fail', { validations }),
    binding('fail'),
  );
  await says(
    'create configmap fail-1',
    /denied request: expression 'object.nope == 1' resulted in error: no such key: nope/,
  );
  expect((await cluster.kubectl('create configmap ignore-1')).code).toBe(0);
});

test('a binding is for the namespaces it selects, and a policy asks about rights', async () => {
  const validations = [
    {
      expression:
        "authorizer.requestResource.check('unknown').allowed() && namespaceObject.metadata.labels.env == 'test'",
    },
  ];
  const matchResources = { namespaceSelector: { matchLabels: { env: 'prod' } } };
  await apply(policy('spaces', { validations }), binding('spaces', { matchResources }));
  await says('create configmap spaces-1 -n shop', /denied request: failed expression/);
  expect((await cluster.kubectl('create configmap spaces-1 -n play')).code).toBe(0);
  await cluster.kubectl('delete validatingadmissionpolicybinding spaces-binding');
  await expect.poll(async () => (await cluster.kubectl('create configmap spaces-1 -n shop')).code).toBe(0);
});

test('connections to pods are judged as well', async () => {
  const rule = { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'ours', expression: "request.name == 'locked'" }],
    validations: [{ expression: "object.command[0] != 'sh'", message: 'no shells' }],
  };
  await apply(policy('connect', spec), binding('connect'));
  const path = '/api/v1/namespaces/default/pods/locked/exec?command=sh&stdout=true';
  await expect
    .poll(async () => (await cluster.request('POST', path)).json?.message)
    .toMatch(/denied request: no shells/);
});
