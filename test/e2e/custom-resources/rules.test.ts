import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CustomResourceDefinition, JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import type { Cluster } from '../../kit/cluster.ts';
import { definitionOf } from '../../kit/definitions.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { type SharedCluster, shareCluster } from '../../kit/shared-cluster.ts';

/** Validation rules of custom resources, from the definition to an object. */

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function withSpec(plural: string, kind: string, spec: JSONSchemaProps): CustomResourceDefinition {
  const definition = definitionOf({ plural, kind });
  for (const version of definition.spec?.versions ?? [])
    version.schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return definition;
}

const SIZES: JSONSchemaProps = {
  type: 'object',
  properties: { min: { type: 'integer' }, max: { type: 'integer' }, name: { type: 'string', maxLength: 10 } },
  'x-kubernetes-validations': [
    {
      rule: 'self.min <= self.max',
      messageExpression: "self.name + ' has no room'",
      fieldPath: '.max',
    },
    { rule: '!has(oldSelf.name) || self.name == oldSelf.name', message: 'a name stays' },
  ],
};

test('a definition whose rules do not compile, or cost too much, is refused', async () => {
  const definition = withSpec('melons', 'Melon', {
    type: 'object',
    properties: {
      list: {
        type: 'array',
        items: { type: 'string' },
        'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, a == b))' }],
      },
    },
    'x-kubernetes-validations': [{ rule: 'self.lists.size() > 0' }],
  });
  const { code, json } = await cluster.request('POST', DEFINITIONS, definition);
  expect(code).toBe(422);
  const [cost, compile, ...more] = json.details.causes;
  expect(cost).toMatchObject({
    field:
      'spec.validation.openAPIV3Schema.properties[spec].properties[list].x-kubernetes-validations[0].rule',
    message: expect.stringContaining('estimated rule cost exceeds budget by factor of more than 100x'),
  });
  expect(compile).toMatchObject({
    field: 'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
    message: expect.stringContaining("<input>:1:5: undefined field 'lists'"),
  });
  // Both are dear enough to be named again for their sum.
  expect(more).toHaveLength(2);
});

test('an object that breaks a rule is refused, and so is a change that breaks a rule of changes', async () => {
  const definition = withSpec('grapes', 'Grape', SIZES);
  expect((await cluster.request('POST', DEFINITIONS, definition)).code).toBe(201);
  const path = '/apis/stable.example.com/v1/namespaces/default/grapes';
  await vi.waitFor(async () => expect((await cluster.request('GET', path)).code).toBe(200), PATIENCE);
  const objectOf = (spec: object): object => ({
    apiVersion: 'stable.example.com/v1',
    kind: 'Grape',
    metadata: { name: 'a' },
    spec,
  });
  const refused = await cluster.request('POST', path, objectOf({ min: 3, max: 2, name: 'x' }));
  expect(refused.code).toBe(422);
  expect(refused.json.message).toBe(
    'Grape.stable.example.com "a" is invalid: spec.max: Invalid value: "object": x has no room',
  );
  expect((await cluster.request('POST', path, objectOf({ min: 1, max: 2, name: 'x' }))).code).toBe(201);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const renamed = await cluster.request('PATCH', `${path}/a`, { spec: { name: 'y' } }, merge);
  expect(renamed.json.message).toBe(
    'Grape.stable.example.com "a" is invalid: spec: Invalid value: "object": a name stays',
  );
});
