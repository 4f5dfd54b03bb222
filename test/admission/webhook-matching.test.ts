import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission.ts';
import { FollowedObjects } from '../../src/admission/cluster-objects.ts';
import { evaluateConditions } from '../../src/admission/match-conditions.ts';
import { Namespaces, objectSelected } from '../../src/admission/match-resources.ts';
import { Rights } from '../../src/admission/policies/rights.ts';
import { HookList, toWebhooks, type Webhook } from '../../src/admission/webhooks/webhook.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { PolicyCompiler } from '../../src/cel/policies/compiler.ts';
import { toCel } from '../../src/cel/program.ts';
import { Registry } from '../../src/registry/registry.ts';
import { attributesOf, FakeCluster, toObject } from '../kit/admission.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

type ConditionsAnswer = Awaited<ReturnType<typeof evaluateConditions>>;

const registry = new Registry();
for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);

const hooks = (...webhooks: JsonObject[]): HookList => {
  const resource = 'validatingwebhookconfigurations';
  const cluster = new FakeCluster({ [resource]: [{ metadata: { name: 'c' }, webhooks }] });
  return new HookList(cluster.follow({ group: '', resource }), registry);
};

const rule = (more: JsonObject): JsonObject => ({
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*'],
  operations: ['*'],
  ...more,
});

const matches = (given: JsonObject, resource: string, more: Partial<AdmissionAttributes> = {}): boolean =>
  hooks({ name: 'w', matchPolicy: 'Exact', rules: [rule(given)] }).candidates(attributesOf(resource, more))
    .length > 0;

test.each<[JsonObject, string, Partial<AdmissionAttributes>, boolean]>([
  [{}, 'pods', {}, true],
  [{}, 'pods', { subresource: 'status' }, false],
  [{ resources: ['*/*'] }, 'pods', { subresource: 'status' }, true],
  [{ resources: ['*/*'] }, 'pods', {}, true],
  [{ resources: ['pods/*'] }, 'pods', {}, true],
  [{ resources: ['pods/*'] }, 'services', {}, false],
  [{ resources: ['*/status'] }, 'pods', { subresource: 'status' }, true],
  [{ resources: ['*/status'] }, 'pods', {}, false],
  [{ resources: ['pods'] }, 'pods', { subresource: 'exec' }, false],
  [{ resources: ['pods/exec'] }, 'pods', { subresource: 'exec', operation: 'CONNECT' }, true],
  [{ apiGroups: ['apps'] }, 'pods', {}, false],
  [{ apiGroups: ['apps'] }, 'apps/deployments', {}, true],
  [{ apiGroups: [''] }, 'apps/deployments', {}, false],
  [{ apiGroups: ['storage.cluster.io'] }, 'storage.k8s.io/storageclasses', {}, true],
  [{ apiVersions: ['v2'] }, 'pods', {}, false],
  [{ operations: ['UPDATE', 'DELETE'] }, 'pods', {}, false],
  [{ operations: ['UPDATE', 'DELETE'] }, 'pods', { operation: 'DELETE' }, true],
  [{ scope: 'Namespaced' }, 'pods', {}, true],
  [{ scope: 'Cluster' }, 'pods', {}, false],
  [{ scope: 'Namespaced' }, 'nodes', {}, false],
  [{ scope: 'Cluster' }, 'nodes', {}, true],
  [{ scope: 'Namespaced' }, 'namespaces', {}, false],
  [{ scope: 'Cluster' }, 'namespaces', {}, true],
  [{ scope: '*' }, 'namespaces', {}, true],
  [{ resources: ['*/*'] }, 'admissionregistration.k8s.io/validatingwebhookconfigurations', {}, false],
  [{ resources: ['*/*'] }, 'admissionregistration.k8s.io/mutatingwebhookconfigurations', {}, false],
  [{ resources: ['*/*'] }, 'admissionregistration.k8s.io/validatingadmissionpolicies', {}, false],
  [{ resources: ['*/*'] }, 'admissionregistration.k8s.io/validatingadmissionpolicybindings', {}, false],
])('rule %j for %s %j: %s', (given, resource, more, expected) => {
  expect(matches(given, resource, more)).toBe(expected);
});

const seenAs = (given: JsonObject, matchPolicy: string, resource: string, version: string) =>
  hooks({ name: 'w', matchPolicy, rules: [rule(given)] })
    .candidates(attributesOf(resource, { version }))
    .map(({ served, kind }) => [served.definition.group, served.version.version, kind.kind].join(' '));

test('with Equivalent, another version or group of the same objects matches, and the objects are shown in it', () => {
  const v1 = { apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] };
  const hpa = 'autoscaling/horizontalpodautoscalers';
  expect(seenAs(v1, 'Equivalent', hpa, 'v2')).toEqual(['autoscaling v1 HorizontalPodAutoscaler']);
  expect(seenAs(v1, 'Exact', hpa, 'v2')).toEqual([]);
  expect(seenAs({ ...v1, apiVersions: ['v1', 'v2'] }, 'Equivalent', hpa, 'v2')).toEqual([
    'autoscaling v2 HorizontalPodAutoscaler',
  ]);
  const events = { apiGroups: [''], apiVersions: ['v1'], resources: ['events'] };
  expect(seenAs(events, 'Equivalent', 'events.k8s.io/events', 'v1')).toEqual([' v1 Event']);
});

test('webhooks are called by the name of their configuration and then as they stand in it', () => {
  const order = toWebhooks([
    toObject({ metadata: { name: 'b' }, webhooks: [{ name: 'one' }, { name: 'two' }] }),
    toObject({ metadata: { name: 'a' }, webhooks: [{ name: 'three' }] }),
  ]);
  expect(order.map(({ configuration, name }) => `${configuration}/${name}`)).toEqual([
    'a/three',
    'b/one',
    'b/two',
  ]);
});

test('a configuration that comes or goes counts at once', () => {
  const followed = new FollowedObjects();
  const list = new HookList(followed, registry);
  const pod = attributesOf('pods', {});
  expect(list.candidates(pod)).toEqual([]);
  const webhooks = [{ name: 'w', rules: [rule({})] }];
  const entry = new FakeCluster({ c: [{ metadata: { name: 'c' }, webhooks }] }).follow({
    group: '',
    resource: 'c',
  });
  expect(entry.changes).toBe(1);
  expect(new HookList(entry, registry).candidates(pod)).toHaveLength(1);
  entry.replace([]);
  expect(new HookList(entry, registry).candidates(pod)).toEqual([]);
});

const webhookOf = (more: JsonObject): Webhook => {
  const [webhook] = toWebhooks([toObject({ webhooks: [{ name: 'w', ...more }] })]);
  if (webhook === undefined) throw new Error('no webhook');
  return webhook;
};

const namespaces = new Namespaces(
  new FakeCluster({
    namespaces: [{ metadata: { name: 'blue', labels: { colour: 'blue' } } }, { metadata: { name: 'plain' } }],
  }),
);
const select = async ({ namespaceSelector, objectSelector }: Webhook, attributes: AdmissionAttributes) =>
  objectSelected(objectSelector, attributes) && namespaces.selected(namespaceSelector, attributes);

const BLUE = { matchLabels: { colour: 'blue' } };
const labelled = (labels?: Record<string, string>, namespace = 'blue') =>
  toObject({ metadata: { namespace, ...(labels === undefined ? {} : { labels }) } });

test.each<[string, JsonObject, AdmissionAttributes, boolean]>([
  ['no selector', {}, attributesOf('pods', { object: labelled() }), true],
  ['the namespace', { namespaceSelector: BLUE }, attributesOf('pods', { object: labelled() }), true],
  [
    'another namespace',
    { namespaceSelector: BLUE },
    attributesOf('pods', { object: labelled({}, 'plain') }),
    false,
  ],
  ['no namespace', { namespaceSelector: BLUE }, attributesOf('nodes', { object: labelled() }), true],
  [
    'a namespace as it will be',
    { namespaceSelector: BLUE },
    attributesOf('namespaces', {
      operation: 'UPDATE',
      object: toObject({ metadata: { name: 'plain', labels: { colour: 'blue' } } }),
    }),
    true,
  ],
  [
    'a namespace that goes, as it is',
    { namespaceSelector: BLUE },
    attributesOf('namespaces', { operation: 'DELETE', old: toObject({ metadata: { name: 'blue' } }) }),
    true,
  ],
  [
    'the object',
    { objectSelector: BLUE },
    attributesOf('pods', { object: labelled({ colour: 'blue' }) }),
    true,
  ],
  ['another object', { objectSelector: BLUE }, attributesOf('pods', { object: labelled() }), false],
  [
    'the object as it was',
    { objectSelector: BLUE },
    attributesOf('pods', { object: labelled(), old: labelled({ colour: 'blue' }) }),
    true,
  ],
])('%s is selected', async (_, webhook, attributes, expected) => {
  expect(await select(webhookOf(webhook), attributes)).toBe(expected);
});

test('a namespace that does not exist is an error, but only for a webhook whose selectors need namespace and object', async () => {
  const attributes = attributesOf('pods', { object: labelled({}, 'nowhere') });
  const failed = select(webhookOf({ namespaceSelector: BLUE }), attributes);
  await expect(failed).rejects.toThrow(StatusError);
  await expect(failed).rejects.toThrow('namespaces "nowhere" not found');
  expect(await select(webhookOf({ namespaceSelector: BLUE, objectSelector: BLUE }), attributes)).toBe(false);
});

const conditions = (...expressions: string[]): Promise<ConditionsAnswer> => {
  const compiler = new PolicyCompiler(false);
  const compiled = expressions.map((name) => ({ name, check: compiler.compile(name, 'bool') }));
  return evaluateConditions(compiled, {
    given: { object: toCel({ metadata: { name: 'a' } }), oldObject: null },
    rights: new Rights({ decide: async () => ({ allowed: false, reason: '' }) }, NOBODY),
    report: { failed: () => {}, took: () => {} },
  });
};

const NOBODY = { username: 'nobody', uid: '', groups: [], extra: {} };

test('all conditions must hold, and a false one decides also when others fail', async () => {
  expect(await conditions('object.metadata.name == "a"', 'oldObject == null')).toEqual({ matches: true });
  expect(await conditions('true', 'false')).toEqual({ matches: false });
  expect(await conditions('object.nothing == 1', 'false')).toEqual({ matches: false });
  const why = (name: string) => `expression 'object.${name} == 1' resulted in error: no such key: ${name}`;
  expect(await conditions('true', 'object.no == 1')).toEqual({ why: why('no') });
  expect(await conditions('object.no == 1', 'object.none == 1')).toEqual({
    why: `[${why('no')}, ${why('none')}]`,
  });
  expect(await conditions('object.metadata.name')).toEqual({
    why: 'compilation error: must evaluate to bool',
  });
  const list = `[${'0,'.repeat(400)}0]`;
  const costly = Array.from({ length: 9 }, () => `${list}.all(x, ${list}.all(y, y == x))`);
  expect(await conditions(...costly)).toEqual({
    why: 'validation failed due to running out of cost budget, no further validation rules will be run',
  });
});
