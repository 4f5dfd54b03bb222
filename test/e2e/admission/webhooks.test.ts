import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { allow, base64, deny, patched, patchWith, respondWith } from '../../kit/admission-webhook.ts';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { settle } from '../../kit/settle.ts';
import { type RemoteWebhook, startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const PATHS = {
  ValidatingWebhookConfiguration: `${GROUP}/validatingwebhookconfigurations`,
  MutatingWebhookConfiguration: `${GROUP}/mutatingwebhookconfigurations`,
};
const MAPS = '/api/v1/namespaces/hooked/configmaps';

let database: TestDatabase;
let cluster: Cluster;
let webhook: RemoteWebhook;
let second: RemoteWebhook;
let auditLog: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  auditLog = join(folder, 'audit.log');
  writeFileSync(
    join(folder, 'policy.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Request\n  verbs: [create]\n  namespaces: [hooked]\n- level: None\n',
  );
  cluster = await startCluster(database.url, [
    '--disable-admission-plugins=ServiceAccount',
    `--audit-policy-file=${join(folder, 'policy.yaml')}`,
    `--audit-log-path=${auditLog}`,
    '--audit-log-mode=blocking',
  ]);
  webhook = await startWebhook();
  second = await startWebhook();
  await cluster.request('POST', '/api/v1/namespaces', {
    metadata: { name: 'hooked', labels: { hooks: 'on' } },
  });
  // The server writes this one itself, and webhooks would be asked about it.
  await vi.waitFor(
    async () => expect((await cluster.request('GET', `${MAPS}/kube-root-ca.crt`)).code).toBe(200),
    10_000,
  );
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await webhook[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await database.drop();
});

beforeEach(() => {
  for (const server of [webhook, second]) {
    server.received.length = 0;
    server.respond = allow;
  }
});

afterEach(async () => {
  for (const path of Object.values(PATHS)) {
    await cluster.request('DELETE', path);
    await settle(cluster, path);
  }
});

const CONFIG_MAPS = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] };

const hookAt = (server: RemoteWebhook, more: object = {}) => ({
  name: 'hook.example.com',
  clientConfig: { url: server.url, caBundle: base64(server.ca) },
  rules: [CONFIG_MAPS],
  namespaceSelector: { matchLabels: { hooks: 'on' } },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

async function configure(
  kind: keyof typeof PATHS,
  webhooks: readonly object[],
  name = 'hooks',
): Promise<void> {
  const answer = await cluster.request('POST', PATHS[kind], { metadata: { name }, webhooks });
  expect(answer.json).toMatchObject({ metadata: { name } });
  await settle(cluster, PATHS[kind]);
}

const validating = (...webhooks: readonly object[]) => configure('ValidatingWebhookConfiguration', webhooks);
const mutating = (...webhooks: readonly object[]) => configure('MutatingWebhookConfiguration', webhooks);

let made = 0;
const configMap = (data: Record<string, string> = {}, metadata: object = {}) => {
  made += 1;
  return { metadata: { name: `map-${made}`, ...metadata }, data };
};
const post = (body: object, query = '') => cluster.request('POST', `${MAPS}${query}`, body);

test('a webhook is asked in the words of admission.k8s.io and lets the write pass', async () => {
  await validating(hookAt(webhook));
  const body = configMap({ a: '1' });
  expect((await post(body, '?fieldManager=me&fieldValidation=Strict')).code).toBe(201);
  expect(webhook.requests.at(-1)?.url).toBe('/events?timeout=10s');
  expect(webhook.received).toHaveLength(1);
  expect(webhook.received[0]).toMatchObject({
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: body.metadata.name,
      namespace: 'hooked',
      operation: 'CREATE',
      userInfo: { groups: expect.arrayContaining(['system:authenticated']) },
      object: { kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1' } },
      oldObject: null,
      dryRun: false,
      options: {
        kind: 'CreateOptions',
        apiVersion: 'meta.k8s.io/v1',
        fieldManager: 'me',
        fieldValidation: 'Strict',
      },
    },
  });
});

test('a refusal has the code, reason, details and message of the webhook', async () => {
  await validating(hookAt(webhook));
  webhook.respond = deny({
    code: 403,
    reason: 'Forbidden',
    message: 'not today',
    details: { causes: [{ field: 'data' }] },
  });
  const answer = await post(configMap());
  expect(answer.code).toBe(403);
  expect(answer.json).toMatchObject({
    status: 'Failure',
    reason: 'Forbidden',
    message: 'admission webhook "hook.example.com" denied the request: not today',
    details: { causes: [{ field: 'data' }] },
  });
  webhook.respond = deny();
  expect((await post(configMap())).json).toMatchObject({
    code: 400,
    message: 'admission webhook "hook.example.com" denied the request without explanation',
  });
  const shown = await cluster.kubectl('create configmap refused -n hooked');
  expect(shown.stderr).toContain(
    'error: failed to create configmap: admission webhook "hook.example.com" denied the request without explanation',
  );
});

test('updates and deletions show what is there, and a collection is deleted one by one', async () => {
  const body = configMap({ a: '1' });
  const { name } = body.metadata;
  await post(body);
  await validating(hookAt(webhook));
  await cluster.request('PATCH', `${MAPS}/${name}`, '{"data":{"a":"2"}}', {
    'content-type': 'application/merge-patch+json',
  });
  expect(webhook.received[0].request).toMatchObject({
    operation: 'UPDATE',
    object: { data: { a: '2' } },
    oldObject: { data: { a: '1' } },
    options: { kind: 'UpdateOptions' },
  });
  webhook.respond = deny({ message: 'keep it' });
  const kept = await cluster.request('DELETE', `${MAPS}/${name}?propagationPolicy=Background`);
  expect(kept.json.message).toBe('admission webhook "hook.example.com" denied the request: keep it');
  // A refusal of what the cache still has from before the patch is asked for again, with what is there.
  expect(webhook.received.at(-1)?.request).toMatchObject({
    operation: 'DELETE',
    name,
    object: null,
    oldObject: { data: { a: '2' } },
    options: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
  });
  webhook.respond = allow;
  const before = webhook.received.length;
  await cluster.request('DELETE', MAPS);
  // The request has no name, and neither have its parts.
  const asked = webhook.received
    .slice(before)
    .map(({ request }) => request)
    .filter(({ operation }) => operation === 'DELETE');
  expect(asked.map(({ oldObject }) => oldObject.metadata.name)).toContain(name);
  for (const request of asked) expect(request).not.toHaveProperty('name');
});

test('mutating webhooks change the object one after the other, by configuration name and place', async () => {
  webhook.respond = respondWith(({ object }) =>
    patched([{ op: 'add', path: '/data/first', value: Object.keys(object.data).join() }]),
  );
  second.respond = respondWith(({ object }) =>
    patched([{ op: 'add', path: '/data/second', value: Object.keys(object.data).join() }]),
  );
  await configure('MutatingWebhookConfiguration', [hookAt(second)], 'b');
  await configure('MutatingWebhookConfiguration', [hookAt(webhook)], 'a');
  const { json } = await post(configMap({ own: '' }));
  expect(json.data).toEqual({ own: '', first: 'own', second: 'own,first' });
  expect(webhook.received).toHaveLength(1);
});

test('a webhook that wants it is asked again when a later one changed the object', async () => {
  webhook.respond = respondWith(({ object }) =>
    patched([{ op: 'add', path: '/data/count', value: String(Object.keys(object.data ?? {}).length) }]),
  );
  second.respond = patchWith({ op: 'add', path: '/data/late', value: 'x' });
  await mutating(
    hookAt(webhook, { name: 'early.example.com', reinvocationPolicy: 'IfNeeded' }),
    hookAt(second, { name: 'late.example.com' }),
  );
  const { json } = await post(configMap({ own: '' }));
  expect(json.data).toEqual({ own: '', count: '3', late: 'x' });
  expect(webhook.received).toHaveLength(2);
  expect(second.received).toHaveLength(1);
});

test('what a webhook makes of an object is decoded, defaulted and validated like what a client sends', async () => {
  const services = { ...CONFIG_MAPS, resources: ['services'] };
  await mutating(hookAt(webhook, { rules: [services] }));
  const service = (name: string) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
  webhook.respond = patchWith(
    { op: 'add', path: '/spec/ports/-', value: { name: 'b', port: 81, nonsense: 1 } },
    { op: 'add', path: '/spec/ports/0/name', value: 'a' },
  );
  const { json } = await cluster.request('POST', '/api/v1/namespaces/hooked/services', service('patched'));
  expect(json.spec.ports).toMatchObject([
    { name: 'a', port: 80 },
    { name: 'b', port: 81, protocol: 'TCP', targetPort: 81 },
  ]);
  expect(json.spec.ports[1].nonsense).toBeUndefined();
  webhook.respond = patchWith({ op: 'add', path: '/spec/type', value: 'Nonsense' });
  const invalid = await cluster.request('POST', '/api/v1/namespaces/hooked/services', service('invalid'));
  expect(invalid.code).toBe(422);
  webhook.respond = patchWith({ op: 'add', path: '/spec/ports/0/port', value: 'http' });
  const unreadable = await cluster.request(
    'POST',
    '/api/v1/namespaces/hooked/services',
    service('unreadable'),
  );
  expect(unreadable.json.code).toBe(500);
  expect(unreadable.json.message).toMatch(/^Internal error occurred: .*cannot unmarshal string/);
  webhook.respond = patchWith({ op: 'remove', path: '/spec/nothing' });
  const inapplicable = await cluster.request('POST', '/api/v1/namespaces/hooked/services', service('no'));
  expect(inapplicable.json.message).toMatch(
    /^Internal error occurred: error in remove for path: '\/spec\/nothing'/,
  );
});

test('calls that fail stop the write, unless failurePolicy is Ignore', async () => {
  const failing = async (respond: typeof allow, more: object = {}) => {
    webhook.respond = respond;
    await validating(hookAt(webhook, more));
    const { json } = await post(configMap());
    await cluster.request('DELETE', PATHS.ValidatingWebhookConfiguration);
    await settle(cluster, PATHS.ValidatingWebhookConfiguration);
    return json.message;
  };
  const call = 'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: ';
  expect(await failing((_, response) => void response.writeHead(500).end('oh no'))).toBe(
    `${call}an error on the server ("oh no") has prevented the request from succeeding`,
  );
  expect(await failing((_, response) => void response.writeHead(404).end())).toBe(
    `${call}the server could not find the requested resource`,
  );
  expect(await failing((_, response) => void response.writeHead(200).end('nonsense'))).toMatch(
    /couldn't get version\/kind; json parse error/,
  );
  expect(await failing((_, response) => void response.writeHead(200).end('{"kind":"AdmissionReview"}'))).toBe(
    'Internal error occurred: failed calling webhook "hook.example.com": received invalid webhook response: webhook response was absent',
  );
  expect(await failing(respondWith(() => ({ uid: 'other', allowed: true })))).toMatch(
    /received invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "other"$/,
  );
  expect(await failing(patchWith({ op: 'add', path: '/data/a', value: '' }))).toMatch(
    /received invalid webhook response: validating webhook may not return response.patch$/,
  );
  expect(await failing(() => {}, { timeoutSeconds: 1 })).toBe(
    `${call}Post "${webhook.url}?timeout=1s": context deadline exceeded`,
  );
  expect(await failing(allow, { clientConfig: { url: webhook.url, caBundle: base64(second.ca) } })).toBe(
    `${call}Post "${webhook.url}?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
  );
  expect(
    await failing(allow, { clientConfig: { url: 'https://127.0.0.1:1/x', caBundle: base64(webhook.ca) } }),
  ).toBe(
    `${call}Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
  );
  expect(
    await failing((_, response) => void response.writeHead(500).end(), { failurePolicy: 'Ignore' }),
  ).toBeUndefined();
  expect(await failing(deny({ message: 'no' }), { failurePolicy: 'Ignore' })).toMatch(
    /denied the request: no$/,
  );
});

test('webhooks learn of a dry run', async () => {
  await validating(hookAt(webhook));
  expect((await post(configMap(), '?dryRun=All')).code).toBe(201);
  expect(webhook.received[0].request).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
});

test('warnings of webhooks reach the client', async () => {
  await validating(hookAt(webhook));
  webhook.respond = respondWith(() => ({ allowed: true, warnings: ['mind the gap'] }));
  const { code, stderr } = await cluster.kubectl('create configmap warned -n hooked');
  expect(code).toBe(0);
  expect(stderr).toContain('Warning: mind the gap');
});

test('namespaces, objects and conditions decide which writes a webhook is for', async () => {
  await validating(
    hookAt(webhook, { objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] } }),
    hookAt(second, {
      name: 'second.example.com',
      matchConditions: [
        { name: 'kept', expression: '!("skip" in object.metadata.labels)' },
        { name: 'users', expression: 'request.userInfo.username != "unknown"' },
      ],
    }),
  );
  webhook.respond = deny();
  second.respond = deny();
  expect((await post(configMap({}, { labels: { skip: 'me' } }))).code).toBe(201);
  expect((await post(configMap({}, { labels: { other: 'me' } }))).code).toBe(400);
  expect((await cluster.request('POST', '/api/v1/namespaces/default/configmaps', configMap())).code).toBe(
    201,
  );
  const broken = await post(configMap({}, {}));
  expect([broken.code, broken.json.message]).toEqual([
    403,
    expect.stringMatching(/resulted in error: no such key/i),
  ]);
});

test('a webhook sees objects in the version its rule is for, and as the kind of the subresource', async () => {
  const rules = [
    {
      apiGroups: ['autoscaling'],
      apiVersions: ['v1'],
      resources: ['horizontalpodautoscalers'],
      operations: ['CREATE'],
    },
  ];
  await mutating(
    hookAt(webhook, { rules }),
    hookAt(second, {
      name: 'scales.example.com',
      rules: [
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          resources: ['deployments/scale'],
          operations: ['UPDATE'],
        },
      ],
    }),
  );
  webhook.respond = patchWith({ op: 'add', path: '/spec/targetCPUUtilizationPercentage', value: 55 });
  const hpa = {
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
  };
  const { json } = await cluster.request(
    'POST',
    '/apis/autoscaling/v2/namespaces/hooked/horizontalpodautoscalers',
    hpa,
  );
  expect(webhook.received[0].request).toMatchObject({
    kind: { group: 'autoscaling', version: 'v1' },
    requestKind: { group: 'autoscaling', version: 'v2' },
    object: { apiVersion: 'autoscaling/v1' },
  });
  expect(json.spec.metrics[0].resource.target.averageUtilization).toBe(55);

  await cluster.kubectl('create deployment d --image=i -n hooked');
  second.respond = patchWith({ op: 'replace', path: '/spec/replicas', value: 7 });
  await cluster.kubectl('scale deployment d --replicas=2 -n hooked');
  expect(second.received[0].request).toMatchObject({
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    subResource: 'scale',
    object: { kind: 'Scale', spec: { replicas: 2 } },
    oldObject: { kind: 'Scale', spec: { replicas: 1 } },
  });
  expect((await cluster.kubectl('get deployment d -n hooked -o jsonpath={.spec.replicas}')).stdout).toBe('7');
});

test('a connection to a pod is asked about with its options', async () => {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'], operations: ['CONNECT'] };
  await validating(hookAt(webhook, { rules: [rule] }));
  webhook.respond = deny({ message: 'no shells' });
  await cluster.kubectl('run p --image=i -n hooked');
  const { stderr } = await cluster.kubectl('exec p -n hooked -- sh');
  expect(stderr).toContain('denied the request: no shells');
  expect(webhook.received[0].request).toMatchObject({
    kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    subResource: 'exec',
    name: 'p',
    operation: 'CONNECT',
    object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['sh'] },
    options: null,
  });
});

test('an object applied through a mutating webhook stays the applier’s, and applying it again changes nothing', {
  tags: 'long',
}, async () => {
  await mutating(hookAt(webhook));
  webhook.respond = patchWith({ op: 'add', path: '/data/injected', value: 'x' });
  const manifest = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'applied', namespace: 'hooked' },
    data: { mine: '1' },
  });
  for (const flags of ['', ' --server-side']) {
    await cluster.kubectl('delete configmap applied -n hooked --ignore-not-found');
    expect((await cluster.kubectl(`apply${flags} -f -`, manifest)).code).toBe(0);
    const first = (await cluster.request('GET', `${MAPS}/applied`)).json;
    expect(first.data).toEqual({ mine: '1', injected: 'x' });
    const owned = JSON.stringify(first.metadata.managedFields);
    expect(owned).toContain('f:mine');
    expect(owned).not.toContain('f:injected');
    expect((await cluster.kubectl(`apply${flags} -f -`, manifest)).code).toBe(0);
    const again = (await cluster.request('GET', `${MAPS}/applied`)).json;
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  }
});

test('a name that is to be made is made after mutating webhooks, and known to validating ones', async () => {
  await mutating(hookAt(webhook));
  await validating(hookAt(second));
  const { json } = await post({ metadata: { generateName: 'made-' } });
  expect(json.metadata.name).toMatch(/^made-.{5}$/);
  expect(webhook.received[0].request.name).toBeUndefined();
  expect(webhook.received[0].request.object.metadata).toMatchObject({ generateName: 'made-' });
  expect(webhook.received[0].request.object.metadata.name).toBeUndefined();
  expect(second.received[0].request.object.metadata.name).toBe(json.metadata.name);
});

test('questions that are answered and not stored are asked about, too', async () => {
  const rule = {
    apiGroups: ['authorization.k8s.io'],
    apiVersions: ['v1'],
    resources: ['selfsubjectaccessreviews'],
    operations: ['CREATE'],
  };
  await validating(hookAt(webhook, { rules: [rule], namespaceSelector: {} }));
  expect((await cluster.kubectl('auth can-i get pods')).stdout.trim()).toBe('yes');
  expect(webhook.received[0].request).toMatchObject({
    kind: { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview' },
    object: { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  });
});

test('no webhook can refuse that it is removed, nor change who is asked', async () => {
  const everything = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] };
  const anywhere = { rules: [everything], namespaceSelector: {} };
  await validating(hookAt(webhook, anywhere));
  await configure('MutatingWebhookConfiguration', [hookAt(second, anywhere)], 'others');
  webhook.respond = deny();
  expect((await post(configMap())).code).toBe(400);
  expect((await cluster.request('DELETE', `${PATHS.ValidatingWebhookConfiguration}/hooks`)).code).toBe(200);
  await settle(cluster, PATHS.ValidatingWebhookConfiguration);
  expect((await post(configMap())).code).toBe(201);
});

test('a webhook of the older version of reviews is asked in it', async () => {
  await mutating(hookAt(webhook, { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }));
  webhook.respond = (_, response) =>
    void response.writeHead(200).end(
      JSON.stringify({
        response: { allowed: true, patch: base64('[{"op":"add","path":"/data/old","value":"y"}]') },
      }),
    );
  const { json } = await post(configMap({ a: '' }));
  expect(webhook.received[0].apiVersion).toBe('admission.k8s.io/v1beta1');
  expect(json.data).toEqual({ a: '', old: 'y' });
});

test('a server starts, and can be repaired, with a webhook for everything that does not answer', {
  tags: 'long',
}, async () => {
  const everything = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] };
  const dead = { rules: [everything], namespaceSelector: {}, clientConfig: { url: 'https://127.0.0.1:1/x' } };
  await mutating(hookAt(webhook, dead));
  await validating(hookAt(webhook, dead));
  await cluster.stop();
  await cluster.start();
  expect((await post(configMap())).json.message).toMatch(/failed calling webhook/);
  for (const path of Object.values(PATHS))
    expect((await cluster.request('DELETE', `${path}/hooks`)).code).toBe(200);
  await expect.poll(async () => (await post(configMap())).code).toBe(201);
});

test('the audit event names a slow webhook and its patch, and metrics count them', async () => {
  const answer = patchWith({ op: 'add', path: '/data/b', value: '2' });
  webhook.respond = (request, response, body) => void setTimeout(() => answer(request, response, body), 520);
  await configure('MutatingWebhookConfiguration', [hookAt(webhook)]);
  const { json } = await post(configMap({ a: '1' }));
  const events = readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const event = events.find(({ objectRef }) => objectRef.name === json.metadata.name);
  expect(event.annotations).toMatchObject({
    'apiserver.latency.k8s.io/mutating-webhook': expect.stringMatching(/^5\d\d(\.\d+)?ms$|^[1-9]/),
    'apiserver.latency.k8s.io/etcd': expect.stringMatching(/s$/),
    'apiserver.latency.k8s.io/total': expect.stringMatching(/s$/),
    'patch.webhook.admission.k8s.io/round_0_index_0': expect.stringContaining('"patchType":"JSONPatch"'),
    'mutation.webhook.admission.k8s.io/round_0_index_0': expect.stringContaining('"mutated":true'),
  });
  expect(event.annotations).not.toHaveProperty('apiserver.latency.k8s.io/validating-webhook');
  const { text } = await cluster.request('GET', '/metrics');
  const name = 'name="hook.example.com"';
  expect(text).toContain(
    `apiserver_admission_webhook_request_total{${name},type="admit",operation="CREATE",code="200",rejected="false"}`,
  );
  expect(text).toMatch(
    /^apiserver_admission_controller_admission_duration_seconds_count\{name="LimitRanger",/m,
  );
  expect(text).toMatch(/^apiserver_admission_step_admission_duration_seconds_count\{type="admit",/m);
  expect(text).not.toContain('name="ParamRights"');
});
