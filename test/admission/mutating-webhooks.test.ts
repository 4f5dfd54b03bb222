import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AdmissionChain, type AdmissionPlugin } from '../../src/admission/admission.ts';
import { AdmissionMetrics } from '../../src/admission/admission-metrics.ts';
import { createMutatingWebhooks, createValidatingWebhooks } from '../../src/admission/plugins/webhooks.ts';
import type { RightsOracle } from '../../src/admission/policies/rights.ts';
import type { WebhookParts } from '../../src/admission/webhooks/dispatch.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { NO_TRACING, type Tracing } from '../../src/observability/tracing.ts';
import { Registry } from '../../src/registry/registry.ts';
import { Waits } from '../../src/request/waits.ts';
import { attributesOf, FakeCluster, toObject } from '../kit/admission.ts';
import { allow, base64, deny, patched, patchWith, respondWith } from '../kit/admission-webhook.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { type RemoteWebhook, type Respond, startWebhook } from '../kit/webhook-server.ts';

const types = loadTypes();
const registry = new Registry();
for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);

let webhook: RemoteWebhook;
let failures: string[];
let metrics: Metrics;
let admissionMetrics: AdmissionMetrics;
const places = new Map<string, { host: string; port: number }>();
let spans: { name: string; attributes: object; events: string[] }[];

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const tracing: Tracing = {
  ...NO_TRACING,
  part: (name, attributes, work) => {
    const events: string[] = [];
    spans.push({ name, attributes, events });
    return work({ set: () => {}, event: (what) => void events.push(what), traceparent: TRACEPARENT });
  },
};

beforeEach(async () => {
  metrics = new Metrics();
  admissionMetrics = new AdmissionMetrics(metrics);
  spans = [];
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

const partsOf = (...webhooks: JsonObject[]): WebhookParts => {
  const configurations = [{ metadata: { name: 'c' }, webhooks }];
  const objects = new FakeCluster({
    mutatingwebhookconfigurations: configurations,
    validatingwebhookconfigurations: configurations,
  });
  const credentials = { users: undefined, pair: undefined };
  const onFailure = ({ message }: Error): void => void failures.push(message);
  const rights: RightsOracle = {
    decide: async ({ username }, { verb }) => ({
      allowed: verb === 'wink' && username === 'jane',
      reason: '',
    }),
  };
  return {
    ...{ objects, registry, types, credentials, onFailure, rights, tracing },
    locateService: async ({ name }) => places.get(name) ?? Promise.reject(new Error(`no service ${name}`)),
    admissionMetrics,
    isServing: () => true,
  };
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

test('a service is called at the port of its place, and by its own name', async () => {
  await using served = await startWebhook({ names: ['hook.shop.svc'] });
  places.set('hook', { host: '127.0.0.1', port: served.port });
  const service = { namespace: 'shop', name: 'hook', port: 443 };
  const clientConfig = { service, caBundle: base64(served.ca) };
  served.respond = patchWith({ op: 'replace', path: '/data', value: { a: 'b' } });
  const object = configMap();
  await mutating(hook({ clientConfig })).mutate?.(attributesOf('configmaps', { object }));
  expect(object.data).toEqual({ a: 'b' });
  expect(served.requests.map(({ headers }) => headers.host)).toEqual(['hook.shop.svc']);
  const failed = hook({ clientConfig: { ...clientConfig, service: { ...service, name: 'none' } } });
  await expect(mutating(failed).mutate?.(attributesOf('configmaps', { object }))).rejects.toThrow(
    'Post "https://none.shop.svc:443/?timeout=10s": no service none',
  );
});

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
const SAME = { op: 'replace', path: '/data/own', value: 'x' };

test.each<[string, object, object | undefined]>([
  ['replaces what is there by the same', patched([SAME]), { patch: [SAME], patchType: 'JSONPatch' }],
  ['has no operations', patched([]), undefined],
  ['is null', NULL, undefined],
])('a patch that %s is no change', async (_, response, shown) => {
  webhook.respond = respondWith(() => response);
  const chain = new AdmissionChain([counting(() => 'x'), mutating(hook())]);
  const noted = new Map<string, unknown>();
  const annotate = (key: string, value: string): void => void noted.set(key, JSON.parse(value));
  await chain.mutate(attributesOf('configmaps', { object: configMap(), annotate }));
  const place = 'webhook.admission.k8s.io/round_0_index_0';
  const about = { configuration: 'c', webhook: 'w.example.com' };
  expect(Object.fromEntries(noted)).toEqual({
    ...(shown === undefined ? {} : { [`patch.${place}`]: { ...about, ...shown } }),
    [`mutation.${place}`]: { ...about, mutated: false },
  });
});

test('a patch is noted as Go writes it, for events of level Request and above', async () => {
  const patch = '[{"value":{"b":"<&>","a":1.0},"path":"/data/n","op":"test"}]';
  webhook.respond = respondWith(() => ({ allowed: true, patchType: 'JSONPatch', patch: base64(patch) }));
  const noted: (string | undefined)[][] = [];
  const annotate = (...note: (string | undefined)[]): void => void noted.push(note);
  const asked = mutating(hook()).mutate?.(attributesOf('configmaps', { object: configMap(), annotate }));
  await expect(asked).rejects.toThrow('test failed');
  webhook.respond = respondWith(() => ({
    ...{ allowed: true, patchType: 'JSONPatch' },
    patch: base64('[{"value":"<1>","path":"/data/n","op":"add"}]'),
  }));
  await mutating(hook()).mutate?.(attributesOf('configmaps', { object: configMap(), annotate }));
  const [failed, shown] = noted;
  expect(failed).toEqual([
    'mutation.webhook.admission.k8s.io/round_0_index_0',
    '{"configuration":"c","webhook":"w.example.com","mutated":false}',
  ]);
  expect(shown).toEqual([
    'patch.webhook.admission.k8s.io/round_0_index_0',
    '{"configuration":"c","webhook":"w.example.com","patch":[{"op":"add","path":"/data/n","value":"\\u003c1\\u003e"}],"patchType":"JSONPatch"}',
    'Request',
  ]);
});

test('a webhook that sends another kind of patch has failed', async () => {
  const sends = { allowed: true, patchType: 'MergePatch', patch: base64('[{}]') };
  webhook.respond = respondWith(() => sends);
  const why = 'failed calling webhook "w.example.com": unsupported patch type "MergePatch"';
  const asked = mutating(hook()).mutate?.(attributesOf('configmaps', { object: configMap() }));
  await expect(asked).rejects.toThrow(`Internal error occurred: ${why}`);
  await mutating(hook({ failurePolicy: 'Ignore' })).mutate?.(
    attributesOf('configmaps', { object: configMap() }),
  );
  expect(failures).toEqual([why]);
});

test('a patch may not write an integer as a fraction', async () => {
  const patch = base64('[{"op":"add","path":"/spec/replicas","value":2.0}]');
  webhook.respond = respondWith(() => ({ allowed: true, patchType: 'JSONPatch', patch }));
  const object = toObject({ kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 1 } });
  const asked = mutating(hook()).mutate?.(attributesOf('apps/deployments', { object }));
  await expect(asked).rejects.toThrow(
    'Internal error occurred: json: cannot unmarshal number 2.0 into Go struct field DeploymentSpec.spec.replicas of type int32',
  );
});

/** The samples of a metric without its buckets, and what takes time only by its count. */
async function samplesOf(name: string): Promise<string[]> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
  return lines.filter((line) => !/_(bucket|sum)\{/.test(line)).map((line) => line.slice(name.length));
}

test('calls, refusals and failures are counted by webhook', async () => {
  const object = configMap();
  const call = async (respond: Respond, more: JsonObject = {}): Promise<void> => {
    webhook.respond = respond;
    await mutating(hook(more)).mutate?.(attributesOf('configmaps', { object }));
  };
  await call(patchWith({ op: 'add', path: '/data/n', value: '1' }));
  await expect(call(deny({ code: 418 }))).rejects.toThrow();
  await expect(call(deny({ code: 1000 }))).rejects.toThrow();
  await expect(call((_, response) => void response.writeHead(500).end())).rejects.toThrow();
  await expect(call(respondWith(() => ({ allowed: true, uid: 'other' })))).rejects.toThrow();
  await expect(call(patchWith({ op: 'remove', path: '/nowhere/at/all' }))).rejects.toThrow();
  await call((_, response) => void response.writeHead(503).end(), { failurePolicy: 'Ignore' });
  const named = 'name="w.example.com",type="admit"';
  const create = `${named},operation="CREATE"`;
  expect(await samplesOf('apiserver_admission_webhook_request_total')).toEqual([
    `{${create},code="200",rejected="false"} 1`,
    `{${create},code="418",rejected="true"} 1`,
    `{${create},code="600",rejected="true"} 1`,
    `{${create},code="500",rejected="true"} 1`,
    `{${create},code="503",rejected="true"} 1`,
    `{${create},code="0",rejected="true"} 1`,
    `{${create},code="503",rejected="false"} 1`,
  ]);
  expect(await samplesOf('apiserver_admission_webhook_rejection_count')).toEqual([
    `{${create},error_type="no_error",rejection_code="418"} 1`,
    `{${create},error_type="no_error",rejection_code="600"} 1`,
    `{${create},error_type="calling_webhook_error",rejection_code="500"} 1`,
    `{${create},error_type="calling_webhook_error",rejection_code="503"} 1`,
    `{${create},error_type="apiserver_internal_error",rejection_code="0"} 1`,
  ]);
  expect(await samplesOf('apiserver_admission_webhook_fail_open_count')).toEqual([`{${named}} 1`]);
  expect(await samplesOf('apiserver_admission_webhook_admission_duration_seconds')).toEqual([
    `_count{${create},rejected="false"} 2`,
    `_count{${create},rejected="true"} 5`,
  ]);
});

test('a call is a span, of which the webhook gets the name, and time that the request waited', async () => {
  webhook.respond = patchWith({ op: 'add', path: '/data/n', value: '1' });
  const waits = new Waits();
  const attributes = attributesOf('configmaps', { object: configMap(), waits });
  await mutating(hook()).mutate?.(attributes);
  expect(waits.mutatingWebhooks).toBeGreaterThan(0);
  expect(waits.validatingWebhooks).toBe(0);
  webhook.respond = allow;
  await createValidatingWebhooks(partsOf(hook())).validate?.(attributes);
  expect(waits.validatingWebhooks).toBeGreaterThan(0);
  expect(webhook.requests.map(({ headers }) => headers.traceparent)).toEqual([TRACEPARENT, TRACEPARENT]);
  const about = {
    ...{ configuration: 'c', webhook: 'w.example.com', subresource: '', operation: 'CREATE' },
    resource: '/v1, Resource=configmaps',
  };
  const [first, second] = webhook.received.map(({ request }) => request.uid);
  expect(spans).toEqual([
    {
      name: 'Call mutating webhook',
      attributes: { ...about, UID: first },
      events: ['Request completed', 'Patch applied'],
    },
    { name: 'Call validating webhook', attributes: { ...about, UID: second }, events: ['Request completed'] },
  ]);
});

test.each([
  ["authorizer.group('').resource('secrets').check('wink').allowed()", true],
  ["authorizer.requestResource.check('wink').allowed()", true],
  ["authorizer.group('').resource('secrets').check('get').allowed()", false],
  ['object.?data.own.orValue("y") == "x" && oldObject == null && namespaceObject == null', true],
  ["request.userInfo.username == 'jane' && request.kind.kind == 'ConfigMap' && !request.dryRun", true],
  ["request.?userInfo.extra.hasValue() || request.requestResource.resource == 'pods'", false],
])('a webhook with the condition %s is called: %s', async (expression, called) => {
  webhook.respond = allow;
  const matchConditions = [{ name: 'it', expression }];
  await mutating(hook({ matchConditions })).mutate?.(attributesOf('configmaps', { object: configMap() }));
  expect(webhook.received).toHaveLength(called ? 1 : 0);
});

test('conditions that cannot be decided refuse the write or leave the webhook out, and are counted', async () => {
  webhook.respond = allow;
  const ask = (expression: string, more: JsonObject = {}): unknown =>
    mutating(hook({ ...more, matchConditions: [{ name: 'it', expression }] })).mutate?.(
      attributesOf('configmaps', { object: configMap() }),
    );
  await expect(ask('object.nothing == 1')).rejects.toThrow(
    `configmaps "it" is forbidden: expression 'object.nothing == 1' resulted in error: no such key: nothing`,
  );
  await expect(ask('authorizer.nothing() == 1')).rejects.toThrow('is forbidden: compilation error: ');
  await ask('object.nothing == 1', { failurePolicy: 'Ignore' });
  await ask('false');
  await ask('true');
  expect(webhook.received).toHaveLength(1);
  const labels = '{name="w.example.com",kind="webhook",type="admit",operation="CREATE"}';
  const counted = 'apiserver_admission_match_condition_';
  expect(await samplesOf(`${counted}evaluation_errors_total`)).toEqual([`${labels} 3`]);
  expect(await samplesOf(`${counted}exclusions_total`)).toEqual([`${labels} 2`]);
  expect(await samplesOf(`${counted}evaluation_seconds_count`)).toEqual([`${labels} 4`]);
});

test.each<[string, object, string]>([
  ['is no JSON', { allowed: true, patchType: 'JSONPatch', patch: base64('[') }, 'Internal error occurred: '],
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
])('a patch that %s is an error also with the failure policy Ignore', async (_, response, message) => {
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

test('audit annotations of webhooks carry the name of the webhook, and an ignored failure is annotated and logged', async () => {
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

test('a webhook hears the time that it has: its own, or what the request has left', async () => {
  const urls: string[] = [];
  webhook.respond = (request, response, body) => {
    urls.push(request.url ?? '');
    return allow(request, response, body);
  };
  // Only the date stands still: connections need timers.
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const caller = { signal: new AbortController().signal, deadlineMs: Date.now() + 7500 };
    for (const timeoutSeconds of [20, 2])
      await mutating(hook({ timeoutSeconds })).mutate?.(
        attributesOf('configmaps', { object: configMap(), caller }),
      );
  } finally {
    vi.useRealTimers();
  }
  expect(urls).toEqual(['/events?timeout=8s', '/events?timeout=2s']);
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
