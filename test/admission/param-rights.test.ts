import { expect, test } from 'vitest';
import type { Right } from '../../src/admission/plugin.ts';
import { ParamRights } from '../../src/admission/policies/rights.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';

const POLICIES = 'admissionregistration.k8s.io/validatingadmissionpolicies';
const BINDINGS = 'admissionregistration.k8s.io/validatingadmissionpolicybindings';
const LIMITS = { paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } };

const policy = (spec: JsonObject): ApiObject => toObject({ metadata: { name: 'p' }, spec });
const binding = (paramRef: JsonObject | undefined, policyName = 'p'): ApiObject =>
  toObject({ metadata: { name: 'b' }, spec: { policyName, ...(paramRef && { paramRef }) } });

async function ask(
  resource: string,
  object: ApiObject,
  { old, allowed = false }: { old?: ApiObject; allowed?: boolean } = {},
): Promise<{ refusal: string | undefined; asked: Right[] }> {
  const asked: Right[] = [];
  const plugin = new ParamRights(
    {
      whyNot: async (_user, right) => {
        asked.push(right);
        return allowed ? undefined : '';
      },
    },
    (_, kind) =>
      kind === 'Limit' ? [{ group: 'example.com', version: 'v1', resource: 'limits', namespaced: true }] : [],
    new FakeCluster({ validatingadmissionpolicies: [policy(LIMITS)] }),
  );
  const change = old === undefined ? {} : { operation: 'UPDATE' as const, old };
  return { refusal: await refusalOf(plugin, attributesOf(resource, { object, ...change })), asked };
}

test('naming a kind of parameters needs the right to read all of them', async () => {
  const { refusal, asked } = await ask(POLICIES, policy(LIMITS));
  expect(refusal).toBe(
    'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: user &{jane  [] map[]} must have "get" permission on all objects of the referenced paramKind (kind=Limit, apiVersion=example.com/v1)',
  );
  const resource = { group: 'example.com', version: 'v1', resource: 'limits' };
  expect(asked).toEqual([{ verb: 'get', ...resource, namespace: '*', name: '*' }]);
  expect((await ask(POLICIES, policy(LIMITS), { allowed: true })).refusal).toBeUndefined();
});

test('a policy without parameters, or with unchanged ones, needs no right', async () => {
  expect((await ask(POLICIES, policy({}))).asked).toEqual([]);
  expect((await ask(POLICIES, policy(LIMITS), { old: policy(LIMITS) })).asked).toEqual([]);
  expect((await ask(POLICIES, policy(LIMITS), { old: policy({}) })).asked).toHaveLength(1);
});

test.each([
  [{ name: 'few', namespace: 'shop' }, 'p', 'get', 'limits', 'few', 'shop'],
  [{ selector: {} }, 'p', 'list', 'limits', '', ''],
  [{ name: 'few' }, 'unknown', 'get', '*', 'few', ''],
])('a binding to %j of policy %s needs the right to read that', async (ref, policyName, ...right) => {
  const { refusal, asked } = await ask(BINDINGS, binding(ref, policyName));
  const [verb, resource, name, namespace] = right;
  expect(refusal).toContain(
    `spec.paramRef: Forbidden: user &{jane  [] map[]} does not have "${verb}" permission on the object referenced by paramRef`,
  );
  expect(asked).toMatchObject([{ verb, resource, name, namespace }]);
  expect((await ask(BINDINGS, binding(ref), { old: binding(ref) })).asked).toEqual([]);
});
