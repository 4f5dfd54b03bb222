import { afterEach, beforeEach, expect, test } from 'vitest';
import { AdmissionChain, type AdmissionPlugin } from '../../src/admission/admission.ts';
import { createMutatingWebhooks, createValidatingWebhooks } from '../../src/admission/plugins/webhooks.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { Registry } from '../../src/registry/registry.ts';
import { BUILT_IN_RESOURCES } from '../../src/resources/all.ts';
import { attributesOf, FakeCluster, toObject } from '../kit/admission.ts';
import { allow, base64, patched, patchWith, respondWith } from '../kit/admission-webhook.ts';
import { type RemoteWebhook, startWebhook } from '../kit/webhook-server.ts';

const types = loadTypes();
const registry = new Registry();
for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);

let webhook: RemoteWebhook;
let failures: string[];

beforeEach(async () => {
  webhook = await startWebhook();
  failures = [];
});

afterEach(() => webhook[Symbol.asyncDispose]());

const RULES = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] }];
const hook = (more: JsonObject = {}): JsonObject => ({
  name: 'w.example.com',
  clientConfig: { url: webhook.url, caBundle: base64(webhook.ca) },
  rules: RULES,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

const partsOf = (...webhooks: JsonObject[]) => {
  const configurations = [{ metadata: { name: 'c' }, webhooks }];
  const objects = new FakeCluster({
    mutatingwebhookconfigurations: configurations,
    validatingwebhookconfigurations: configurations,
  });
  const credentials = { users: undefined, pair: undefined };
  const onFailure = ({ message }: Error): void => void failures.push(message);
  return { objects, registry, types, credentials, isServing: () => true, onFailure };
};
const mutating = (...webhooks: JsonObject[]): AdmissionPlugin => createMutatingWebhooks(partsOf(...webhooks));

const configMap = (): ApiObject =>
  toObject({ kind: 'ConfigMap', metadata: { namespace: 'default' }, data: { own: 'x' } });

/** A plugin that sets a field to what `value` makes of how often it ran. */
const counting = (value: (runs: number) => string): AdmissionPlugin => {
  let runs = 0;
  return {
    name: 'Counting',
    operations: ['CREATE'],
    mutate: ({ object }) => {
      runs += 1;
      if (object !== undefined) object.data = { ...(object.data as JsonObject), runs: value(runs) };
    },
  };
};

test('the patched object is the content of the object that the writer holds', async () => {
  webhook.respond = patchWith(
    { op: 'replace', path: '/data', value: { a: 'b' } },
    { op: 'add', path: '/metadata/labels', value: { l: '1' } },
  );
  const object = configMap();
  await mutating(hook()).mutate?.(attributesOf('configmaps', { object }));
  expect(object).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'it', namespace: 'default', creationTimestamp: null, labels: { l: '1' } },
    data: { a: 'b' },
  });
});

test('plugins run once more after a webhook changed something, and never a third time', async () => {
  webhook.respond = respondWith(() =>
    patched([{ op: 'add', path: '/data/n', value: String(webhook.received.length) }]),
  );
  const object = configMap();
  const chain = new AdmissionChain([counting(String), mutating(hook({ reinvocationPolicy: 'IfNeeded' }))]);
  await chain.mutate(attributesOf('configmaps', { object }));
  expect(object.data).toEqual({ own: 'x', runs: '2', n: '2' });
});

test('a webhook is not called again without a later change, or without IfNeeded', async () => {
  webhook.respond = patchWith({ op: 'add', path: '/data/n', value: '1' });
  const again = new AdmissionChain([
    counting(() => 'same'),
    mutating(hook({ reinvocationPolicy: 'IfNeeded' })),
  ]);
  await again.mutate(attributesOf('configmaps', { object: configMap() }));
  expect(webhook.received).toHaveLength(1);
  const never = new AdmissionChain([counting(String), mutating(hook())]);
  await never.mutate(attributesOf('configmaps', { object: configMap() }));
  expect(webhook.received).toHaveLength(2);
});

/** Go writes an empty list of operations as null. */
const NULL = { allowed: true, patchType: 'JSONPatch', patch: base64('null') };

test.each<[string, object]>([
  ['replaces what is there by the same', patched([{ op: 'replace', path: '/data/own', value: 'x' }])],
  ['has no operations', patched([])],
  ['is null', NULL],
])('a patch that %s is no change', async (_, response) => {
  webhook.respond = respondWith(() => response);
  const chain = new AdmissionChain([counting(() => 'x'), mutating(hook())]);
  const noted = new Map<string, string>();
  const annotate = (key: string, value: string): void => void noted.set(key, value);
  await chain.mutate(attributesOf('configmaps', { object: configMap(), annotate }));
  expect([...noted]).toEqual([
    [
      'mutation.webhook.admission.k8s.io/round_0_index_0',
      '{"configuration":"c","webhook":"w.example.com","mutated":false}',
    ],
  ]);
});

test.each<[string, object, string]>([
  ['is no JSON', { allowed: true, patchType: 'JSONPatch', patch: base64('[') }, 'Internal error occurred: '],
  [
    'is of another kind',
    { allowed: true, patchType: 'MergePatch', patch: base64('[{}]') },
    'Internal error occurred: failed calling webhook "w.example.com": unsupported patch type "MergePatch"',
  ],
  [
    'does not fit',
    patched([{ op: 'test', path: '/data/own', value: 'y' }]),
    'Internal error occurred: testing value /data/own failed: test failed',
  ],
  [
    'moves the object',
    patched([{ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }]),
    'the namespace of the provided object does not match the namespace sent on the request',
  ],
])('a patch that %s is an error whatever the failurePolicy', async (_, response, message) => {
  webhook.respond = respondWith(() => response);
  const object = configMap();
  const asked = mutating(hook({ failurePolicy: 'Ignore' })).mutate?.(attributesOf('configmaps', { object }));
  await expect(asked).rejects.toThrow(message);
  expect(object).toEqual(configMap());
});

test('a deleted object cannot be changed', async () => {
  webhook.respond = patchWith({ op: 'add', path: '/data', value: {} });
  const asked = mutating(hook()).mutate?.(
    attributesOf('configmaps', { operation: 'DELETE', old: configMap() }),
  );
  await expect(asked).rejects.toThrow(
    'Internal error occurred: admission webhook "w.example.com" attempted to modify the object, which is not supported for this operation',
  );
});

test('owners of fields that a webhook leaves unreadable stay as they were, with a warning', async () => {
  webhook.respond = patchWith({ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Guess' });
  const object = configMap();
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
  object.metadata.managedFields = [entry];
  const warnings: string[] = [];
  await mutating(hook()).mutate?.(attributesOf('configmaps', { object, warnings }));
  expect(object.metadata.managedFields).toEqual([entry]);
  expect(warnings).toEqual([
    expect.stringMatching(/^\.metadata\.managedFields was in an invalid state after admission/),
  ]);
});

test('webhooks may note things, under their name, and an ignored failure is noted and told', async () => {
  webhook.respond = respondWith(() => ({ allowed: true, auditAnnotations: { why: 'because' } }));
  const noted = new Map<string, string>();
  const annotate = (key: string, value: string): void => void noted.set(key, value);
  const broken = hook({
    name: 'broken.example.com',
    failurePolicy: 'Ignore',
    clientConfig: { url: 'https://127.0.0.1:1/' },
  });
  const plugin = createValidatingWebhooks(partsOf(hook(), broken));
  await plugin.validate?.(attributesOf('configmaps', { object: configMap(), annotate }));
  expect(Object.fromEntries(noted)).toEqual({
    'w.example.com/why': 'because',
    'failed-open.validating.webhook.admission.k8s.io/round_0_index_1': 'broken.example.com',
  });
  expect(failures).toEqual([
    'failed calling webhook "broken.example.com": failed to call webhook: Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
  ]);
});

test.each(['Some', 'Unknown', ''])(
  'a webhook with side effects %j refuses a dry run, unasked',
  async (sideEffects) => {
    const dryRun = attributesOf('configmaps', { object: configMap(), dryRun: true });
    const asked = mutating(hook({ sideEffects, failurePolicy: 'Ignore' })).mutate?.(dryRun);
    await expect(asked).rejects.toThrow('admission webhook "w.example.com" does not support dry run');
    expect(webhook.received).toEqual([]);
  },
);

test('validating webhooks are asked at the same time', async () => {
  const waiting: (() => void)[] = [];
  webhook.respond = (request, response, body) => {
    waiting.push(() => allow(request, response, body));
    if (waiting.length === 2) for (const answer of waiting) answer();
  };
  const plugin = createValidatingWebhooks(partsOf(hook(), hook({ name: 'other.example.com' })));
  await plugin.validate?.(attributesOf('configmaps', { object: configMap() }));
  expect(webhook.received).toHaveLength(2);
});

test('webhooks for other resources delay no write', () => {
  const rules = [{ apiGroups: ['apps'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }];
  const attributes = attributesOf('configmaps', { object: configMap() });
  expect(mutating(hook({ rules })).mutate?.(attributes)).toBeUndefined();
  expect(createValidatingWebhooks(partsOf(hook({ rules }))).validate?.(attributes)).toBeUndefined();
});
