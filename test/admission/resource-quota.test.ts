import { describe, expect, test } from 'vitest';
import { createResourceQuota, type QuotaLedger } from '../../src/admission/plugins/resource-quota.ts';
import { type LimitedResource, readQuotaConfig } from '../../src/admission/quota/charge.ts';
import { measureOf } from '../../src/admission/quota/quota.ts';
import { type Minor, NEWEST_MINOR } from '../../src/api/emulation.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { fromResourceList } from '../../src/object/resource-list.ts';
import { persistentvolumeclaims } from '../../src/resources/core/persistent-volume-claim/definition.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { gatesIn } from '../kit/manifests.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

const quota = (hard: JsonObject, used: JsonObject, spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'quota', namespace: 'default' },
  spec: { hard, ...spec },
  status: { hard, used },
});

const pod = (requests: JsonObject = {}, limits: JsonObject = {}, spec: JsonObject = {}): ApiObject =>
  toObject({ spec: { containers: [{ name: 'c', image: 'i', resources: { requests, limits } }], ...spec } });

/** A ledger that keeps the quotas it is given, and what was written. */
class FakeLedger implements QuotaLedger {
  readonly used = new Map<string, JsonObject>();
  readonly #quotas: readonly ApiObject[];
  writes = 0;

  constructor(quotas: readonly JsonObject[]) {
    this.#quotas = quotas.map(toObject);
  }

  async write(_: string, name: string, used: (quota: ApiObject) => JsonObject): Promise<void> {
    this.writes += 1;
    const found = this.#quotas.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`no quota ${name}`);
    const status = {
      ...(found.status as JsonObject),
      used: this.used.get(name) ?? (found.status as JsonObject).used,
    };
    this.used.set(name, used({ ...found, status } as ApiObject));
  }
}

function setUp(
  quotas: readonly JsonObject[],
  limited: readonly LimitedResource[] = [],
  minor: Minor = NEWEST_MINOR,
) {
  const ledger = new FakeLedger(quotas);
  const objects = new FakeCluster({ resourcequotas: quotas });
  const isFeatureOn = gatesIn(minor);
  return { ledger, plugin: createResourceQuota({ objects, ledger, limited, isFeatureOn, now: () => NOW }) };
}

const update = (old: ApiObject, object: ApiObject, subresource = '') => ({
  operation: 'UPDATE' as const,
  ...{ old, object, subresource },
});

async function refusedPod(hard: JsonObject, used: JsonObject, object: ApiObject, spec: JsonObject = {}) {
  const { plugin, ledger } = setUp([quota(hard, used, spec)]);
  const refusal = await refusalOf(plugin, attributesOf('pods', { object }));
  return refusal ?? ledger.used.get('quota') ?? 'not charged';
}

describe('pods', () => {
  test('the requests of a pod are added to the usage', async () => {
    const hard = { pods: '5', 'requests.cpu': '3', 'limits.memory': '2Gi', 'count/pods': '9' };
    const used = { pods: '3', 'requests.cpu': '1', 'limits.memory': '1Gi', 'count/pods': '4' };
    const object = pod({ cpu: '100m' }, { memory: '1Gi' });
    expect(await refusedPod(hard, used, object)).toEqual({
      pods: '4',
      'requests.cpu': '1100m',
      'limits.memory': '2Gi',
      'count/pods': '5',
    });
  });

  test.each<[string, JsonObject, JsonObject, ApiObject, string]>([
    [
      'one more than allowed',
      { pods: '5' },
      { pods: '5' },
      pod(),
      'exceeded quota: quota, requested: pods=1, used: pods=5, limited: pods=5',
    ],
    [
      'more of two things',
      { cpu: '1', memory: '1Gi' },
      { cpu: '500m', memory: '1Gi' },
      pod({ cpu: '600m', memory: '1Mi' }),
      'exceeded quota: quota, requested: cpu=600m,memory=1Mi, used: cpu=500m,memory=1Gi, limited: cpu=1,memory=1Gi',
    ],
    [
      'silence about what is limited',
      { 'limits.cpu': '1', memory: '1Gi' },
      { 'limits.cpu': '0', memory: '0' },
      pod(),
      'failed quota: quota: must specify limits.cpu for: c; memory for: c',
    ],
    [
      'a quota without a status yet',
      { pods: '5' },
      {},
      pod(),
      'status unknown for quota: quota, resources: pods',
    ],
    [
      'a piece of hardware',
      { 'requests.nvidia.com/gpu': '1' },
      { 'requests.nvidia.com/gpu': '1' },
      pod({ 'nvidia.com/gpu': '1' }),
      'exceeded quota: quota, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=1, limited: requests.nvidia.com/gpu=1',
    ],
    [
      'a device by its class',
      { 'requests.deviceclass.resource.kubernetes.io/gpu': '1' },
      { 'requests.deviceclass.resource.kubernetes.io/gpu': '0' },
      pod({ 'deviceclass.resource.kubernetes.io/gpu': '2' }),
      'exceeded quota: quota, requested: requests.deviceclass.resource.kubernetes.io/gpu=2, used: requests.deviceclass.resource.kubernetes.io/gpu=0, limited: requests.deviceclass.resource.kubernetes.io/gpu=1',
    ],
  ])('%s is refused', async (_, hard, used, object, why) => {
    expect(await refusedPod(hard, used, object)).toBe(`pods "it" is forbidden: ${why}`);
  });

  test('the difference of a resize is charged', async () => {
    const { plugin, ledger } = setUp([
      quota({ 'requests.cpu': '3', pods: '5' }, { 'requests.cpu': '1', pods: '1' }),
    ]);
    const write = update(pod({ cpu: '1' }), pod({ cpu: '1500m' }), 'resize');
    expect(await refusalOf(plugin, attributesOf('pods', write))).toBeUndefined();
    expect(ledger.used.get('quota')).toEqual({ 'requests.cpu': '1500m', pods: '1' });
  });

  test('a pod from before a quota may still be labelled', async () => {
    const { plugin, ledger } = setUp([quota({ cpu: '1' }, { cpu: '0' })]);
    const labelled = toObject({ ...pod(), metadata: { labels: { a: 'b' } } });
    expect(await refusalOf(plugin, attributesOf('pods', update(pod(), labelled)))).toBeUndefined();
    expect(ledger.writes).toBe(0);
  });

  test('a pod that states resources for all of its containers may leave out some', async () => {
    const object = pod({}, {}, { resources: { requests: { cpu: '1' } } });
    expect(await refusedPod({ memory: '1Gi' }, { memory: '0' }, object)).toEqual({ memory: '0' });
  });

  test.each<[Minor, JsonObject]>([
    [32, { pods: '0' }],
    [33, { pods: '1' }],
  ])('in 1.%i a pod that gets a deadline is charged to the quota of such pods: %j', async (minor, used) => {
    const { plugin, ledger } = setUp(
      [quota({ pods: '2' }, { pods: '0' }, { scopes: ['Terminating'] })],
      [],
      minor,
    );
    const write = update(pod(), pod({}, {}, { activeDeadlineSeconds: 5 }));
    expect(await refusalOf(plugin, attributesOf('pods', write))).toBeUndefined();
    expect(ledger.used.get('quota') ?? { pods: '0' }).toEqual(used);
  });

  const full = [{ pods: '1' }, { pods: '1' }] as const;
  const affinity = {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'x', namespaces: ['other'] }],
    },
  };
  test.each<[JsonObject, ApiObject, ApiObject]>([
    [{ scopes: ['Terminating'] }, pod({}, {}, { activeDeadlineSeconds: 5 }), pod()],
    [{ scopes: ['NotTerminating'] }, pod(), pod({}, {}, { activeDeadlineSeconds: 5 })],
    [{ scopes: ['BestEffort'] }, pod(), pod({ cpu: '1' })],
    [{ scopes: ['NotBestEffort'] }, pod({ cpu: '1' }), pod()],
    [{ scopes: ['CrossNamespacePodAffinity'] }, pod({}, {}, { affinity }), pod()],
    [{ scopes: ['PriorityClass'] }, pod({}, {}, { priorityClassName: 'high' }), pod()],
    [
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
        },
      },
      pod({}, {}, { priorityClassName: 'high' }),
      pod({}, {}, { priorityClassName: 'low' }),
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }] } },
      pod(),
      pod({}, {}, { priorityClassName: 'low' }),
    ],
  ])('a quota with %j counts only what is in its scope', async (spec, inside, outside) => {
    expect(await refusedPod(...full, inside, spec)).toMatch(/exceeded quota/);
    expect(await refusedPod(...full, outside, spec)).toBe('not charged');
  });

  test('a pod that has ended, or should have, uses no more than its place in storage', () => {
    const measure = measureOf(pods);
    const usage = (more: JsonObject): JsonObject =>
      fromResourceList(measure?.usage(toObject({ ...pod({ cpu: '1' }), ...more }), NOW) ?? new Map());
    expect(usage({ status: { phase: 'Running' } })).toMatchObject({ pods: '1', cpu: '1' });
    expect(usage({ status: { phase: 'Succeeded' } })).toEqual({ 'count/pods': '1' });
    const stuck = { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 };
    expect(usage({ metadata: stuck })).toEqual({ 'count/pods': '1' });
    expect(usage({ metadata: { ...stuck, deletionGracePeriodSeconds: 90 } })).toMatchObject({ pods: '1' });
  });

  test('the overhead of a pod is counted, too', () => {
    const object = pod({ cpu: '1' }, { cpu: '2' }, { overhead: { cpu: '100m', memory: '1Mi' } });
    const usage = measureOf(pods)?.usage(object, NOW) ?? new Map();
    expect(fromResourceList(usage)).toMatchObject({ cpu: '1100m', memory: '1Mi', 'limits.cpu': '2100m' });
    expect(usage.has('limits.memory')).toBe(false);
  });
});

const service = (spec: JsonObject): ApiObject => toObject({ spec });
test.each<[string, JsonObject, JsonObject]>([
  ['inside the cluster', { ports: [{}, {}] }, { 'services.nodeports': '0', 'services.loadbalancers': '0' }],
  [
    'on nodes',
    { type: 'NodePort', ports: [{}, {}] },
    { 'services.nodeports': '2', 'services.loadbalancers': '0' },
  ],
  [
    'behind a balancer',
    { type: 'LoadBalancer', ports: [{}] },
    { 'services.nodeports': '1', 'services.loadbalancers': '1' },
  ],
  [
    'behind a balancer without node ports',
    { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ nodePort: 30000 }, {}] },
    { 'services.nodeports': '1', 'services.loadbalancers': '1' },
  ],
])('a service %s uses what it takes', (_, spec, usage) => {
  const measured = measureOf(services)?.usage(service(spec), NOW) ?? new Map();
  expect(fromResourceList(measured)).toEqual({ services: '1', 'count/services': '1', ...usage });
});

test('a service that becomes a load balancer is charged for the difference alone', async () => {
  const { plugin, ledger } = setUp([
    quota({ services: '1', 'services.loadbalancers': '1' }, { services: '1', 'services.loadbalancers': '0' }),
  ]);
  const attributes = attributesOf('services', {
    operation: 'UPDATE',
    old: service({ type: 'ClusterIP', ports: [{}] }),
    object: service({ type: 'LoadBalancer', ports: [{}] }),
  });
  expect(await refusalOf(plugin, attributes)).toBeUndefined();
  expect(ledger.used.get('quota')).toEqual({ services: '1', 'services.loadbalancers': '1' });
});

test('a claim is counted by its storage class too, in whole bytes', () => {
  const claim = toObject({
    spec: { storageClassName: 'gold', resources: { requests: { storage: '1500m' } } },
  });
  const usage = measureOf(persistentvolumeclaims)?.usage(claim, NOW) ?? new Map();
  expect(fromResourceList(usage)).toEqual({
    persistentvolumeclaims: '1',
    'count/persistentvolumeclaims': '1',
    'requests.storage': '2',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    'gold.storageclass.storage.k8s.io/requests.storage': '2',
  });
});

test('a claim is counted by what is allocated, while that is more than it asks for', () => {
  const claim = toObject({
    spec: { resources: { requests: { storage: '1Gi' } } },
    status: { allocatedResources: { storage: '2Gi' } },
  });
  const usage = measureOf(persistentvolumeclaims)?.usage(claim, NOW) ?? new Map();
  expect(fromResourceList(usage)).toMatchObject({ 'requests.storage': '2Gi' });
});

describe('the status of a claim', () => {
  const spec = { resources: { requests: { storage: '1Gi' } } };
  const grown = update(
    toObject({ spec }),
    toObject({ spec, status: { allocatedResources: { storage: '3Gi' } } }),
    'status',
  );
  test.each<[Minor, string]>([
    [32, '1Gi'],
    [33, '3Gi'],
  ])('in 1.%i is charged, even beyond the quota: %s', async (minor, used) => {
    const hard = { 'requests.storage': '2Gi' };
    const { plugin, ledger } = setUp([quota(hard, { 'requests.storage': '1Gi' })], [], minor);
    expect(await refusalOf(plugin, attributesOf('persistentvolumeclaims', grown))).toBeUndefined();
    expect(ledger.used.get('quota') ?? { 'requests.storage': '1Gi' }).toEqual({ 'requests.storage': used });
  });

  test('a claim that gets a class of attributes is charged to its quota', async () => {
    const expression = { scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] };
    const { plugin, ledger } = setUp([
      quota(
        { 'requests.storage': '2Gi' },
        { 'requests.storage': '0' },
        { scopeSelector: { matchExpressions: [expression] } },
      ),
    ]);
    const gold = toObject({ spec: { ...spec, volumeAttributesClassName: 'gold' } });
    const write = update(toObject({ spec }), gold);
    expect(await refusalOf(plugin, attributesOf('persistentvolumeclaims', write))).toBeUndefined();
    expect(ledger.used.get('quota')).toEqual({ 'requests.storage': '1Gi' });
  });
});

test.each<[string, JsonObject, JsonObject]>([
  [
    'all that there are',
    { exactly: { deviceClassName: 'gpu', allocationMode: 'All' } },
    { 'gpu.deviceclass.resource.k8s.io/devices': '32' },
  ],
  [
    'a number of them',
    { exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: '3' } },
    { 'gpu.deviceclass.resource.k8s.io/devices': '3' },
  ],
  [
    'a number of them in 1.31',
    { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: '3' },
    { 'gpu.deviceclass.resource.k8s.io/devices': '3' },
  ],
  [
    'the first that there is',
    {
      firstAvailable: [
        { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: '3' },
        { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: '2' },
        { deviceClassName: 'tpu', allocationMode: 'ExactCount', count: '1' },
      ],
    },
    { 'gpu.deviceclass.resource.k8s.io/devices': '3', 'tpu.deviceclass.resource.k8s.io/devices': '1' },
  ],
])('a claim of devices is counted by their class: %s', async (_, request, devices) => {
  const none = Object.fromEntries(Object.keys(devices).map((name) => [name, '0']));
  const hard = Object.fromEntries(Object.keys(devices).map((name) => [name, '99']));
  const { plugin, ledger } = setUp([quota(hard, none)]);
  const object = toObject({ spec: { devices: { requests: [request] } } });
  expect(await refusalOf(plugin, attributesOf('resource.k8s.io/resourceclaims', { object }))).toBeUndefined();
  expect(ledger.used.get('quota')).toEqual(devices);
});

test('objects of any resource are counted by name, some by an older name too, events never', async () => {
  const { plugin } = setUp([
    quota(
      { 'count/deployments.apps': '0', configmaps: '0' },
      { 'count/deployments.apps': '0', configmaps: '0' },
    ),
  ]);
  const object = toObject({});
  expect(await refusalOf(plugin, attributesOf('apps/deployments', { object }))).toMatch(
    /^deployments.apps "it" is forbidden: exceeded quota: quota, requested: count\/deployments.apps=1/,
  );
  expect(await refusalOf(plugin, attributesOf('configmaps', { object }))).toMatch(/requested: configmaps=1/);
  expect(await refusalOf(plugin, attributesOf('secrets', { object }))).toBeUndefined();
  expect(await refusalOf(plugin, attributesOf('events', { object }))).toBeUndefined();
});

test('writes that wait together are charged in one write, as far as the quota goes', async () => {
  const { plugin, ledger } = setUp([quota({ pods: '5' }, { pods: '2' })]);
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => refusalOf(plugin, attributesOf('pods', { object: pod() }))),
  );
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(3);
  expect(ledger.used.get('quota')).toEqual({ pods: '5' });
  expect(ledger.writes).toBeLessThanOrEqual(2);
});

test('the quota as it is decides, not as it was last seen', async () => {
  const { plugin, ledger } = setUp([quota({ pods: '5' }, { pods: '2' })]);
  ledger.used.set('quota', { pods: '5' });
  expect(await refusalOf(plugin, attributesOf('pods', { object: pod() }))).toMatch(/used: pods=5/);
  expect(ledger.used.get('quota')).toEqual({ pods: '5' });
});

test('a dry run is refused like any other, and charges nothing', async () => {
  const { plugin, ledger } = setUp([quota({ pods: '1' }, { pods: '0' })]);
  expect(await refusalOf(plugin, attributesOf('pods', { object: pod(), dryRun: true }))).toBeUndefined();
  expect(ledger.writes).toBe(0);
});

describe('what may only be had where a quota allows it', () => {
  const config = (limited: JsonObject): JsonObject => ({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'ResourceQuotaConfiguration',
    limitedResources: [{ resource: 'pods', ...limited }],
  });

  test('names of usage', async () => {
    const limited = readQuotaConfig(config({ matchContains: ['requests.cpu'] }));
    const message = 'pods "it" is forbidden: insufficient quota to consume: requests.cpu';
    const object = pod({ cpu: '1' });
    expect(await refusalOf(setUp([], limited).plugin, attributesOf('pods', { object }))).toBe(message);
    const covering = quota({ 'requests.cpu': '2' }, { 'requests.cpu': '0' });
    expect(
      await refusalOf(setUp([covering], limited).plugin, attributesOf('pods', { object })),
    ).toBeUndefined();
  });

  test('scopes', async () => {
    const matchScopes = [{ scopeName: 'PriorityClass', operator: 'In', values: ['top'] }];
    const limited = readQuotaConfig(config({ matchScopes }));
    const object = pod({}, {}, { priorityClassName: 'top' });
    expect(await refusalOf(setUp([], limited).plugin, attributesOf('pods', { object }))).toBe(
      'insufficient quota to match these scopes: [{PriorityClass In [top]}]',
    );
    const covering = quota(
      { pods: '2' },
      { pods: '0' },
      { scopeSelector: { matchExpressions: matchScopes } },
    );
    expect(
      await refusalOf(setUp([covering], limited).plugin, attributesOf('pods', { object })),
    ).toBeUndefined();
  });

  test('a file that is wrong says where', () => {
    expect(() => readQuotaConfig({ ...config({ resource: '' }), kind: 'X' })).toThrow(
      /kind: Unsupported value.*limitedResources\[0\]\.resource: Required value/,
    );
  });
});

test('everything that is stored is counted, but for events', () => {
  const uncounted = BUILT_IN_RESOURCES.filter((definition) => measureOf(definition) === undefined);
  expect(uncounted.map(({ group, resource }) => `${group}/${resource}`)).toEqual([
    '/bindings',
    '/componentstatuses',
    '/events',
    'events.k8s.io/events',
    'authentication.k8s.io/selfsubjectreviews',
    'authentication.k8s.io/tokenreviews',
    'authorization.k8s.io/localsubjectaccessreviews',
    'authorization.k8s.io/selfsubjectaccessreviews',
    'authorization.k8s.io/selfsubjectrulesreviews',
    'authorization.k8s.io/subjectaccessreviews',
    ...['revisions', 'timelines', 'blames', 'restores'].map((resource) => `history.cluster.io/${resource}`),
  ]);
});
