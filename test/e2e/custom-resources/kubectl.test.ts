// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CustomResourceDefinition } from '../../../src/api/types/apiextensions/v1.ts';
import type { Cluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';
import type { TestDatabase } from '../../postgres.ts';

/** The life of a definition as people live it. */

let shared: SharedCluster;
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster, database } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

/** kubectl does not wait for conditions of a status that has none yet. */
async function established(plural: string): Promise<void> {
  await vi.waitFor(async () => {
    const { json } = await cluster.request('GET', `${DEFINITIONS}/${plural}.${GROUP}`);
    expect(json.status.conditions).not.toBeNull();
  }, PATIENCE);
  const name = `customresourcedefinition.apiextensions.k8s.io/${plural}.${GROUP}`;
  const waited = await ok(`wait --for condition=established --timeout=60s crd/${plural}.${GROUP}`);
  expect(waited).toBe(`${name} condition met\n`);
}

const GROUP = 'stable.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

const widget = (name: string, finalizers: string[] = []): string =>
  JSON.stringify({
    apiVersion: `${GROUP}/v1`,
    kind: 'Widget',
    metadata: { name, finalizers },
    spec: { size: 1 },
  });

test('a definition is applied, waited for, used by its short name, applied again, and deleted with its objects', async () => {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget', shortNames: ['wd'] });
  const crd = `customresourcedefinition.apiextensions.k8s.io/widgets.${GROUP}`;
  expect(await ok('apply -f -', JSON.stringify(definition))).toBe(`${crd} created\n`);
  await established('widgets');
  expect(await ok('apply -f -', widget('a'))).toBe(`widget.${GROUP}/a created\n`);
  expect(await ok('get wd -o name')).toBe(`widget.${GROUP}/a\n`);
  expect(await ok('apply -f -', JSON.stringify(definition))).toBe(`${crd} unchanged\n`);
  expect(await ok(`delete crd widgets.${GROUP} --timeout=60s`)).toBe(
    `customresourcedefinition.apiextensions.k8s.io "widgets.${GROUP}" deleted\n`,
  );
  const gone = await cluster.kubectl(`get crd widgets.${GROUP}`);
  expect(gone.stderr).toContain('NotFound');
  expect(await database.query("SELECT FROM current_objects WHERE resource = 'widgets'")).toEqual([]);
});

test('a deletion waits for objects that are held, and tells what it waits for', async () => {
  const definition = definitionOf({ plural: 'widgets', kind: 'Widget' });
  await ok('apply -f -', JSON.stringify(definition));
  await established('widgets');
  await ok('apply -f -', widget('held', ['example.com/wait']));
  const waiting = cluster.kubectl(`delete crd widgets.${GROUP} --timeout=60s`);
  await ok(`wait --for condition=terminating --timeout=60s crd/widgets.${GROUP}`);
  const refused = await cluster.kubectl('create -f -', widget('late'));
  expect(refused.stderr).toContain('create not allowed while custom resource definition is terminating');
  await ok(`patch widget held --type merge -p {"metadata":{"finalizers":null}}`);
  expect(await waiting).toMatchObject({ code: 0 });
});

test('the other dialect of the group lives as long', async () => {
  const path = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions';
  const definition = {
    ...definitionOf({ plural: 'gadgets', kind: 'Gadget' }),
    apiVersion: 'apiextensions.cluster.io/v1',
  };
  expect((await cluster.request('POST', path, definition)).code).toBe(201);
  await vi.waitFor(async () => {
    const { json } = await cluster.request('GET', `${path}/gadgets.${GROUP}`);
    expect(json.status.conditions.map(({ type }: { type: string }) => type)).toEqual([
      'NamesAccepted',
      'Established',
    ]);
  }, PATIENCE);
  expect((await cluster.request('DELETE', `${path}/gadgets.${GROUP}`)).code).toBe(200);
  await vi.waitFor(async () => {
    expect((await cluster.request('GET', `${path}/gadgets.${GROUP}`)).code).toBe(404);
  }, PATIENCE);
});

async function written(
  definition: CustomResourceDefinition,
): Promise<{ code: number; message: string; stored: string[] }> {
  const { name } = definition.metadata;
  const { json } = await cluster.request('GET', `${DEFINITIONS}/${name}`);
  const metadata = { ...definition.metadata, resourceVersion: json.metadata?.resourceVersion };
  const answer = await cluster.request('PUT', `${DEFINITIONS}/${name}`, { ...definition, metadata });
  return { code: answer.code, message: answer.json.message, stored: answer.json.status?.storedVersions };
}

test('versions that objects may be stored in are remembered, and go when that is taken back', async () => {
  const definition = definitionOf({ plural: 'versions', kind: 'Version' });
  const [v1 = {}] = definition.spec?.versions ?? [];
  const withVersions = (...versions: object[]) => ({ ...definition, spec: { ...definition.spec, versions } });
  expect((await cluster.request('POST', DEFINITIONS, definition)).code).toBe(201);
  await established('versions');
  const v2 = { ...v1, name: 'v2' };
  expect(await written(withVersions({ ...v1, storage: false }, v2))).toMatchObject({
    ...{ code: 200, stored: ['v1', 'v2'] },
  });
  expect(await written(withVersions(v2))).toMatchObject({
    code: 422,
    message: `CustomResourceDefinition.apiextensions.k8s.io "versions.${GROUP}" is invalid: status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions`,
  });
  const status = `${DEFINITIONS}/versions.${GROUP}/status`;
  const shrunk = await cluster.request('PATCH', status, { status: { storedVersions: ['v2'] } }, MERGE_PATCH);
  expect([shrunk.code, shrunk.json.status.storedVersions]).toEqual([200, ['v2']]);
  expect(await written(withVersions(v2))).toMatchObject({ code: 200, stored: ['v2'] });
  const emptied = await cluster.request('PATCH', status, { status: { storedVersions: [] } }, MERGE_PATCH);
  expect([emptied.code, emptied.json.status.storedVersions]).toEqual([200, ['v2']]);
});

test('a status that loses what is known of a definition gets it back', async () => {
  const definition = definitionOf({ plural: 'losts', kind: 'Lost' });
  await cluster.request('POST', DEFINITIONS, definition);
  await established('losts');
  const path = `${DEFINITIONS}/losts.${GROUP}`;
  const lost = {
    status: { conditions: null, acceptedNames: { plural: '', singular: null, kind: '', listKind: null } },
  };
  expect((await cluster.request('PATCH', `${path}/status`, lost, MERGE_PATCH)).code).toBe(200);
  await established('losts');
  expect((await cluster.request('GET', path)).json.status.acceptedNames).toEqual({
    ...{ plural: 'losts', singular: 'lost', kind: 'Lost', listKind: 'LostList' },
  });
});

test('a status that a policy refuses is written when the policy is gone', async () => {
  const name = `refuseds.${GROUP}`;
  const rule = { apiGroups: ['apiextensions.k8s.io'], apiVersions: ['*'], operations: ['UPDATE'] };
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'refuse' },
    spec: {
      matchConstraints: { resourceRules: [{ ...rule, resources: ['customresourcedefinitions/status'] }] },
      validations: [{ expression: `object.metadata.name != '${name}'` }],
    },
  };
  const binding = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'refuse' },
    spec: { policyName: 'refuse', validationActions: ['Deny'] },
  };
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
  expect((await cluster.request('POST', policies, policy)).code).toBe(201);
  expect((await cluster.request('POST', bindings, binding)).code).toBe(201);
  await cluster.request('POST', DEFINITIONS, definitionOf({ plural: 'refuseds', kind: 'Refused' }));
  await vi.waitFor(
    () =>
      expect(cluster.output.stderr + cluster.output.stdout).toContain(
        `failed expression: object.metadata.name != '${name}'`,
      ),
    PATIENCE,
  );
  expect((await cluster.request('GET', `${DEFINITIONS}/${name}`)).json.status.conditions).toBeNull();
  await ok('delete validatingadmissionpolicybinding refuse');
  await established('refuseds');
});

test('a resource goes on being served when other names of it are in conflict', async () => {
  for (const [plural, kind] of [
    ['ones', 'One'],
    ['twos', 'Two'],
  ] as const) {
    await cluster.request('POST', DEFINITIONS, definitionOf({ plural, kind }));
    await established(plural);
  }
  const two = definitionOf({ plural: 'twos', kind: 'Two', shortNames: ['one'] });
  expect(await written(two)).toMatchObject({ code: 200 });
  await ok(`wait --for condition=namesaccepted=false --timeout=60s crd/twos.${GROUP}`);
  const { json } = await cluster.request('GET', `${DEFINITIONS}/twos.${GROUP}`);
  expect(json.status.conditions).toMatchObject([
    {
      type: 'NamesAccepted',
      status: 'False',
      reason: 'ShortNamesConflict',
      message: '"one" is already in use',
    },
    { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
  ]);
  expect((await cluster.request('GET', `/apis/${GROUP}/v1/twos`)).code).toBe(200);
});
