import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { NewerFields, putBack } from '../../src/registry/newer-fields.ts';
import { deployments } from '../../src/resources/apps/deployment.ts';
import { endpointslices } from '../../src/resources/discovery/endpoint-slice.ts';
import { pods } from '../../src/resources/pod/definition.ts';

const of131 = new NewerFields(loadTypes(31));
const object = (fields: JsonObject): ApiObject => ({ kind: 'K', apiVersion: 'v1', metadata: {}, ...fields });

const spec = (): JsonObject => ({
  hostnameOverride: 'web.example.com',
  containers: [
    { name: 'a', restartPolicyRules: [{ action: 'Restart' }] },
    { name: 'b', lifecycle: { stopSignal: 'SIGUSR1' } },
  ],
});

test('fields that only newer versions have are taken out, at every depth, and put back', () => {
  const stored = object({ spec: { template: { spec: spec() } } });
  const taken = of131.takeOut(deployments, stored);
  expect(stored.spec).toEqual({
    template: { spec: { containers: [{ name: 'a' }, { name: 'b', lifecycle: {} }] } },
  });
  putBack(taken, stored);
  expect(stored.spec).toEqual({ template: { spec: spec() } });
});

test('they find their item of a list with keys, and go with it', () => {
  const taken = of131.takeOut(pods, object({ spec: spec() }));
  const next = object({ spec: { containers: [{ name: 'c' }, { name: 'a', image: 'other' }] } });
  putBack(taken, next);
  expect(next.spec).toEqual({
    hostnameOverride: 'web.example.com',
    containers: [{ name: 'c' }, { name: 'a', image: 'other', restartPolicyRules: [{ action: 'Restart' }] }],
  });
});

test('in a list without keys, an item keeps them while it is unchanged', () => {
  const endpoint = (address: string): JsonObject => ({
    addresses: [address],
    hints: { forNodes: [{ name: address }] },
  });
  const taken = of131.takeOut(
    endpointslices,
    object({ endpoints: [endpoint('10.0.0.1'), endpoint('10.0.0.2')] }),
  );
  const next = object({
    endpoints: [
      { addresses: ['10.0.0.2'], hints: {} },
      { addresses: ['10.0.0.1'], conditions: { ready: false }, hints: {} },
    ],
  });
  putBack(taken, next);
  expect(next.endpoints).toEqual([
    endpoint('10.0.0.2'),
    { addresses: ['10.0.0.1'], conditions: { ready: false }, hints: {} },
  ]);
});

test('the newest version takes nothing out', () => {
  const stored = object({ spec: spec() });
  expect(new NewerFields(loadTypes(36)).takeOut(pods, stored)).toBeUndefined();
  expect(stored.spec).toEqual(spec());
});

test('the owners of such fields keep them, with other fields that they own or apply afterwards', () => {
  const owner = (manager: string, fields: JsonObject): JsonObject => ({
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': fields },
  });
  const rules = { 'f:containers': { 'k:{"name":"a"}': { 'f:restartPolicyRules': {} } } };
  const stored = object({ spec: spec() });
  const both = { 'f:hostname': {}, 'f:hostnameOverride': {} };
  // Objects share their sets.
  const owners = [owner('both', Object.freeze(both)), owner('rules', rules)];
  stored.metadata.managedFields = owners.map((one) => ({ ...one }));
  const taken = of131.takeOut(pods, stored);
  expect(stored.metadata.managedFields).toMatchObject([
    owner('both', { 'f:hostname': {} }),
    { manager: 'rules', fieldsV1: {} },
  ]);
  const next = object({ spec: { containers: [{ name: 'a' }] } });
  next.metadata.managedFields = [owner('both', { 'f:subdomain': {} })];
  putBack(taken, next);
  expect(next.metadata.managedFields).toEqual([
    owner('both', { 'f:hostnameOverride': {}, 'f:subdomain': {} }),
    owners[1],
  ]);
  putBack(taken, stored);
  expect(stored.metadata.managedFields).toEqual(owners);
  expect(both).toEqual({ 'f:hostname': {}, 'f:hostnameOverride': {} });
});
