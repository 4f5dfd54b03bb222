import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition, ViewSubresource } from '../../src/registry/resource-definition.ts';
import { componentstatuses } from '../../src/resources/core/component-status.ts';
import { configmaps } from '../../src/resources/core/config-map.ts';
import { limitranges } from '../../src/resources/core/limit-range.ts';
import { namespaces } from '../../src/resources/core/namespace.ts';
import { nodes } from '../../src/resources/core/node.ts';
import { resourcequotas } from '../../src/resources/core/resource-quota.ts';
import { secrets } from '../../src/resources/core/secret.ts';
import { serviceaccounts } from '../../src/resources/core/service-account.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';

const NOW = Date.parse('2024-08-13T12:00:00Z');
const warnings = (definition: ResourceDefinition, manifest: JsonObject): string[] =>
  definition.strategy.warnings?.(created(definition, manifest), undefined) ?? [];
const row = (definition: ResourceDefinition, object: ApiObject): readonly unknown[] =>
  definition.cells(object, NOW);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function viewOf(definition: ResourceDefinition, name: string): ViewSubresource {
  const view = definition.subresources.find((one) => one.name === name);
  if (view?.access !== 'view') throw new Error(`${definition.resource} has no ${name}`);
  return view;
}

/** The errors of a write of a view. */
function problemsOfView(view: ViewSubresource, object: ApiObject, old: ApiObject): string[] {
  const errors = view.validate?.(view.write(object, old), old) ?? [];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('nodes', () => {
  const good = {
    spec: {
      podCIDR: '10.0.0.0/24',
      podCIDRs: ['10.0.0.0/24', 'fd00::/64'],
      providerID: 'cloud://1',
      taints: [
        { key: 'dedicated', value: 'db', effect: 'NoSchedule' },
        { key: 'dedicated', effect: 'NoExecute' },
      ],
    },
    status: { capacity: { cpu: '4', memory: '8Gi', pods: '110', 'example.com/gpu': '1' } },
  };
  const withSpec = (spec: JsonObject) => ({ ...good, spec: { ...good.spec, ...spec } });

  test('a good one has no problems, and offers to pods what it has', () => {
    expect(problemsOnCreate(nodes, good)).toEqual([]);
    expect(created(nodes, good).status).toMatchObject({ allocatable: good.status.capacity });
  });

  test('the single range of pod addresses and the list of them say the same', () => {
    const ranges = (spec: JsonObject) => created(nodes, { spec }).spec;
    expect(ranges({ podCIDR: '10.0.0.0/24' })).toMatchObject({ podCIDRs: ['10.0.0.0/24'] });
    expect(ranges({ podCIDRs: ['10.0.0.0/24'] })).toMatchObject({ podCIDR: '10.0.0.0/24' });
    expect(ranges({ podCIDR: '10.1.0.0/24', podCIDRs: ['10.0.0.0/24'] })).toMatchObject({
      podCIDRs: ['10.1.0.0/24'],
    });
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'two ranges of one family',
      { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] },
      [
        'spec.podCIDRs: Invalid value: []string{"10.0.0.0/24", "10.0.1.0/24"}: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      'what is no range',
      { podCIDR: 'x', podCIDRs: ['x'] },
      [
        'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'a taint twice',
      {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', value: 'b', effect: 'NoSchedule' },
        ],
      },
      [
        'metadata.taints[1]: Duplicate value: core.Taint{Key:"a", Value:"b", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
      ],
    ],
    [
      'an effect that is none',
      { taints: [{ key: 'a', effect: 'Maybe' }] },
      [
        'metadata.taints[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    ['a taint without an effect', { taints: [{ key: 'a' }] }, ['metadata.taints[0].effect: Required value']],
    [
      'a taint without a key',
      { taints: [{ effect: 'NoExecute' }] },
      [
        'metadata.taints[0].key: Invalid value: "": name part must be non-empty',
        `metadata.taints[0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    ],
  ])('%s is refused', (_, spec, problems) => {
    expect(problemsOnCreate(nodes, withSpec(spec))).toEqual(problems);
  });

  test('pods are counted, and less than none there is of nothing', () => {
    expect(problemsOnCreate(nodes, { status: { capacity: { pods: '1500m', cpu: '-1' } } })).toEqual([
      'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.allocatable.pods: Invalid value: "1500m": must be an integer',
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.capacity.pods: Invalid value: "1500m": must be an integer',
    ]);
  });

  test('ranges and provider are given once; taints and labels come and go', () => {
    const free = { metadata: { labels: { a: 'b' } }, ...withSpec({ taints: [], unschedulable: true }) };
    expect(problemsOnUpdate(nodes, good, free)).toEqual([]);
    expect(problemsOnUpdate(nodes, { spec: {} }, good)).toEqual([]);
    const taken = withSpec({ podCIDR: '', podCIDRs: ['10.9.0.0/24'], providerID: 'cloud://2' });
    expect(problemsOnUpdate(nodes, good, taken)).toEqual([
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
  });

  test('annotations of old times must hold what they are read as', () => {
    const annotated = (key: string, value: string) =>
      problemsOnCreate(nodes, {
        metadata: { annotations: { [`scheduler.alpha.kubernetes.io/${key}`]: value } },
      });
    expect(annotated('taints', 'bad')).toEqual([
      'metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": invalid character \'b\' looking for beginning of value',
    ]);
    expect(annotated('taints', '[{"key":"a"}]')).toEqual([
      'metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value',
    ]);
    expect(annotated('preferAvoidPods', '{"preferAvoidPods":[{}]}')).toEqual([
      'metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value',
    ]);
  });

  test('a null inside of such an annotation is as good as nothing', () => {
    const annotated = (key: string, value: string) =>
      problemsOnCreate(nodes, {
        metadata: { annotations: { [`scheduler.alpha.kubernetes.io/${key}`]: value } },
      });
    expect(annotated('taints', '[null]')).toEqual(annotated('taints', '[{}]'));
    expect(annotated('taints', '[null]')).toContain(
      'metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value',
    );
    const avoided = '{"preferAvoidPods":[null,{"podSignature":{"podController":null}}]}';
    expect(annotated('preferAvoidPods', avoided)).toEqual(
      [0, 1].map(
        (at) =>
          `metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[${at}].PodSignature: Required value`,
      ),
    );
  });

  test('an address is listed once in a status', () => {
    const old = created(nodes, good);
    const address = { type: 'InternalIP', address: '10.0.0.1' };
    const object = { ...old, status: { addresses: [address, address] } };
    expect(problemsOfView(viewOf(nodes, 'status'), object, old)).toEqual([
      `status.addresses[1]: Duplicate value: core.NodeAddress{Type:"InternalIP", Address:"10.0.0.1"}`,
    ]);
  });

  test('nodes that say nothing of it are selected as schedulable', () => {
    expect(nodes.fields.read(created(nodes, good))).toEqual({ 'spec.unschedulable': 'false' });
    expect(nodes.fields.read(created(nodes, withSpec({ unschedulable: true })))).toEqual({
      'spec.unschedulable': 'true',
    });
  });

  test('fields that nothing reads any more are warned of', () => {
    expect(warnings(nodes, { spec: { externalID: 'x' } })).toEqual([
      'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    ]);
  });
});

describe('namespaces', () => {
  const good = { metadata: { name: 'team' } };

  test('a new one is active, carries its name as a label and has a finalizer', () => {
    expect(problemsOnCreate(namespaces, good)).toEqual([]);
    const namespace = created(namespaces, good);
    expect(namespace.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'team' });
    expect(namespace.spec).toEqual({ finalizers: ['kubernetes'] });
    expect(namespace.status).toEqual({ phase: 'Active' });
  });

  test('a name that was generated after defaulting, and a label that a plugin changed, agree in the end', () => {
    const labels = { 'kubernetes.io/metadata.name': 'team' };
    const { strategy } = namespaces;
    const made = created(namespaces, good);
    made.metadata.labels = {};
    strategy.prepareForCreate?.(made);
    expect(made.metadata.labels).toEqual(labels);
    const changed = {
      ...made,
      metadata: { name: 'team', labels: { 'kubernetes.io/metadata.name': 'other' } },
    };
    strategy.prepareForUpdate?.(changed, made);
    expect(changed.metadata.labels).toEqual(labels);
  });

  test('finalizers have a domain, unless Kubernetes knows them', () => {
    const finalizers = ['mine', 'example.com/mine', 'orphan'];
    expect(problemsOnCreate(namespaces, { ...good, spec: { finalizers } })).toEqual([
      'spec.finalizers: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  test('an update leaves the finalizers as they are', () => {
    const old = created(namespaces, good);
    const object = { ...structuredClone(old), spec: {} };
    namespaces.strategy.prepareForUpdate?.(object, old);
    expect(object.spec).toEqual({ finalizers: ['kubernetes'] });
  });

  test('the phase is Terminating exactly while the namespace is being deleted', () => {
    const view = viewOf(namespaces, 'status');
    const old = created(namespaces, good);
    const ending = { ...old, metadata: { ...old.metadata, deletionTimestamp: '2024-08-13T12:00:00Z' } };
    const terminating = { phase: 'Terminating' };
    expect(problemsOfView(view, { ...old, status: terminating }, old)).toEqual([
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
    expect(problemsOfView(view, ending, ending)).toEqual([
      'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
    ]);
    expect(problemsOfView(view, { ...ending, status: terminating }, ending)).toEqual([]);
    expect(view.write({ ...old, status: {} }, old).status).toEqual({ phase: 'Active' });
  });

  test('finalize takes finalizers off and leaves the status', () => {
    const old = created(namespaces, good);
    const view = { ...old, metadata: { name: 'team' }, spec: {}, status: { phase: 'Terminating' } };
    const object = viewOf(namespaces, 'finalize').write(view, old);
    expect(object.spec).toEqual({});
    expect(object.status).toEqual({ phase: 'Active' });
    expect(object.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'team' });
  });
});

describe('resource quotas', () => {
  const good = {
    spec: {
      hard: { pods: '10', 'requests.cpu': '4', 'limits.memory': '8Gi' },
      scopes: ['NotTerminating'],
      scopeSelector: {
        matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
      },
    },
  };

  test('a good one has no problems', () => {
    expect(problemsOnCreate(resourcequotas, good)).toEqual([]);
    const hard = {
      'count/jobs.batch': '5',
      'requests.example.com/gpu': '2',
      'fast.storageclass.storage.k8s.io/requests.storage': '1Ti',
      'hugepages-2Mi': '1Gi',
      'services.loadbalancers': '2',
    };
    expect(problemsOnCreate(resourcequotas, { spec: { hard } })).toEqual([]);
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'a resource that is none',
      { hard: { apples: '1' } },
      [
        'spec.hard[apples]: Invalid value: "apples": must be a standard resource for quota',
        'spec.hard[apples]: Invalid value: "apples": must be a standard resource type or fully qualified',
      ],
    ],
    [
      'storage without saying whose',
      { hard: { storage: '1' } },
      ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'],
    ],
    [
      'half a pod, and less than no memory',
      { hard: { pods: '500m', memory: '-1' } },
      [
        'spec.hard[memory]: Invalid value: "-1": must be greater than or equal to 0',
        'spec.hard[pods]: Invalid value: "500m": must be an integer',
      ],
    ],
    [
      'contrary scopes',
      { scopes: ['Terminating', 'NotTerminating'] },
      [
        'spec.scopes: Invalid value: []core.ResourceQuotaScope{"Terminating", "NotTerminating"}: conflicting scopes',
      ],
    ],
    [
      'a scope that is none',
      { scopes: ['Big'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Big"}: unsupported scope'],
    ],
    [
      'a scope of pods on what pods do not use',
      { hard: { services: '1' }, scopes: ['Terminating'] },
      [
        'spec.scopes: Invalid value: []core.ResourceQuotaScope{"Terminating"}: unsupported scope applied to resource',
      ],
    ],
    [
      'compute resources of pods without any',
      { hard: { cpu: '1', pods: '1' }, scopes: ['BestEffort'] },
      [
        'spec.scopes: Invalid value: []core.ResourceQuotaScope{"BestEffort"}: unsupported scope applied to resource',
      ],
    ],
    [
      'a selector without values',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } },
      [
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
    [
      'a selector of a scope that is or is not',
      {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'BestEffort', operator: 'DoesNotExist', values: ['a'] }],
        },
      },
      [
        'spec.scopeSelector.matchExpressions.operator: Invalid value: "DoesNotExist": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
        "spec.scopeSelector.matchExpressions.values: Invalid value: []string{\"a\"}: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      ],
    ],
  ])('%s is refused', (_, spec, problems) => {
    expect(problemsOnCreate(resourcequotas, { spec })).toEqual(problems);
  });

  test('how much is allowed can change, of what can not', () => {
    const more = { spec: { ...good.spec, hard: { pods: '20' } } };
    expect(problemsOnUpdate(resourcequotas, good, more)).toEqual([]);
    expect(
      problemsOnUpdate(resourcequotas, good, { spec: { ...good.spec, scopes: ['Terminating'] } }),
    ).toEqual(['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Terminating"}: field is immutable']);
  });

  test('the status counts what quotas count', () => {
    const old = created(resourcequotas, good);
    const object = { ...old, status: { hard: { pods: '1' }, used: { pods: '-1' } } };
    expect(problemsOfView(viewOf(resourcequotas, 'status'), object, old)).toEqual([
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ]);
  });

  test('the table shows what is used of what, limits apart', () => {
    const quota = created(resourcequotas, good);
    quota.status = {
      hard: { 'requests.cpu': '4', pods: '10', 'limits.memory': '8Gi' },
      used: { pods: '3', 'limits.memory': '1Gi' },
    };
    expect(row(resourcequotas, quota).slice(1, 3)).toEqual([
      'pods: 3/10, requests.cpu: 0/4',
      'limits.memory: 1Gi/8Gi',
    ]);
  });

  test('a resource named like a member of every object has been used only where the status says so', () => {
    const quota = created(resourcequotas, good);
    quota.status = { hard: { constructor: '3' }, used: {} };
    expect(row(resourcequotas, quota)[1]).toBe('constructor: 0/3');
  });
});

describe('limit ranges', () => {
  const container = (limit: JsonObject) => ({ spec: { limits: [{ type: 'Container', ...limit }] } });
  const good = {
    spec: {
      limits: [
        { type: 'Pod', max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '2' } },
        { type: 'Container', max: { cpu: '2' }, min: { cpu: '100m', memory: '64Mi' } },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
      ],
    },
  };

  test('a good one has no problems; limits of containers fill in what they leave out', () => {
    expect(problemsOnCreate(limitranges, good)).toEqual([]);
    expect(created(limitranges, good).spec).toMatchObject({
      limits: [{}, { default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '64Mi' } }, {}],
    });
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'a minimum above the maximum',
      container({
        min: { cpu: '2' },
        max: { cpu: '1' },
        default: { cpu: '2' },
        defaultRequest: { cpu: '2' },
      }),
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than max value 1',
        'spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1',
        'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      ],
    ],
    [
      'a default request above the default limit',
      container({ default: { cpu: '1' }, defaultRequest: { cpu: '2' } }),
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1',
      ],
    ],
    [
      'defaults below the minimum',
      container({ min: { cpu: '2' }, default: { cpu: '1' } }),
      [
        'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
        'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
      ],
    ],
    [
      'a ratio below one, and one that minimum and maximum do not reach',
      {
        spec: {
          limits: [
            {
              type: 'Pod',
              min: { cpu: '1', memory: '1Gi' },
              max: { cpu: '2', memory: '2Gi' },
              maxLimitRequestRatio: { cpu: '800m', memory: '3' },
            },
          ],
        },
      },
      [
        'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "800m": ratio 800m is less than 1',
        'spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
      ],
    ],
    [
      'defaults of pods',
      { spec: { limits: [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] } },
      [
        "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
        "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
      ],
    ],
    [
      'a claim without a size',
      { spec: { limits: [{ type: 'PersistentVolumeClaim', default: { storage: '1Gi' } }] } },
      [
        'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
    [
      'devices whose default is not their default request',
      container({ default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }),
      [
        'spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu',
      ],
    ],
    [
      'a type twice and a type that is none',
      { spec: { limits: [{ type: 'Pod' }, { type: 'Pod' }, { type: 'Node' }] } },
      [
        'spec.limits[1].type: Duplicate value: "Pod"',
        'spec.limits[2].type: Invalid value: "Node": must be a standard limit type or fully qualified',
      ],
    ],
    [
      'storage of a container',
      container({ defaultRequest: { storage: '1' } }),
      [
        'spec.limits[0].defaultRequest[storage]: Invalid value: "storage": must be a standard resource for containers',
      ],
    ],
  ])('%s is refused', (_, manifest, problems) => {
    expect(problemsOnCreate(limitranges, manifest)).toEqual(problems);
  });

  test('a resource named like a member of every object is compared where a list has it', () => {
    const limit = { type: 'x/y', max: { 'a/constructor': '1', toString: '1' }, min: { cpu: '1' } };
    expect(problemsOnCreate(limitranges, { spec: { limits: [limit] } })).toEqual([
      'spec.limits[0].max[toString]: Invalid value: "toString": must be a standard resource type or fully qualified',
    ]);
  });

  test('one without a name gets one', () => {
    const range = created(limitranges, good);
    range.metadata.name = '';
    limitranges.strategy.prepareForCreate?.(range);
    expect(range.metadata.name).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('config maps', () => {
  const good = { data: { 'app.conf': 'a=b', _: '' }, binaryData: { logo: base64('png') } };

  test('a good one has no problems', () => {
    expect(problemsOnCreate(configmaps, good)).toEqual([]);
    expect(row(configmaps, created(configmaps, good))[1]).toBe(3);
    expect(problemsOnCreate(configmaps, { data: { a: 'x'.repeat(1024 * 1024) } })).toEqual([]);
  });

  test('keys are plain and of one kind of data, values 1 MiB together', () => {
    const problems = problemsOnCreate(configmaps, {
      data: { 'a/b': '', '..x': '', both: '' },
      binaryData: { both: base64('x'.repeat(1024 * 1024 + 1)) },
    });
    expect(problems).toEqual([
      '[]: Too long: must have at most 1048576 bytes',
      'data[..x]: Invalid value: "..x": must not start with \'..\'',
      expect.stringMatching(/^data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/),
      'data[both]: Invalid value: "both": duplicate of key present in binaryData',
    ]);
  });

  test('what is immutable stays so, and only its metadata changes', () => {
    const fixed = { ...good, immutable: true };
    expect(problemsOnUpdate(configmaps, good, fixed)).toEqual([]);
    expect(problemsOnUpdate(configmaps, fixed, { ...fixed, metadata: { labels: { a: 'b' } } })).toEqual([]);
    const why = 'Forbidden: field is immutable when `immutable` is set';
    expect(problemsOnUpdate(configmaps, fixed, { data: { a: 'b' } })).toEqual([
      `binaryData: ${why}`,
      `data: ${why}`,
      `immutable: ${why}`,
    ]);
  });
});

describe('secrets', () => {
  const of = (type: string, data: Record<string, string> = {}): JsonObject => ({
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  });

  test('text is kept as data, over data of the same key', () => {
    const secret = created(secrets, { data: { a: base64('1') }, stringData: { a: '2', b: 'é' } });
    expect(secret).toMatchObject({ type: 'Opaque', data: { a: base64('2'), b: base64('é') } });
    expect(secret.stringData).toBeUndefined();
  });

  test.each<[string, JsonObject]>([
    ['any data', of('example.com/own', { anything: '' })],
    ['a registry', of('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{"auths":{}}' })],
    ['an old registry', of('kubernetes.io/dockercfg', { '.dockercfg': 'null' })],
    ['a name without a password', of('kubernetes.io/basic-auth', { username: '' })],
    ['a key', of('kubernetes.io/ssh-auth', { 'ssh-privatekey': 'k' })],
    ['a certificate', of('kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' })],
    [
      'a token to come',
      {
        type: 'kubernetes.io/service-account-token',
        metadata: { annotations: { 'kubernetes.io/service-account.name': 'sa' } },
      },
    ],
  ])('%s is good', (_, manifest) => {
    expect(problemsOnCreate(secrets, manifest)).toEqual([]);
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'a token without an account',
      of('kubernetes.io/service-account-token'),
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'a registry without its key',
      of('kubernetes.io/dockerconfigjson', { config: '{}' }),
      ['data[.dockerconfigjson]: Required value'],
    ],
    [
      'a registry that is no JSON',
      of('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'bad' }),
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'b\' looking for beginning of value',
      ],
    ],
    [
      'a registry that is empty',
      of('kubernetes.io/dockercfg', { '.dockercfg': '' }),
      ['data[.dockercfg]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
    ],
    [
      'a registry that is a list',
      of('kubernetes.io/dockercfg', { '.dockercfg': '[]' }),
      [
        'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      'neither name nor password',
      of('kubernetes.io/basic-auth'),
      ['data[password]: Required value', 'data[username]: Required value'],
    ],
    ['no key', of('kubernetes.io/ssh-auth'), ['data[ssh-privatekey]: Required value']],
    ['half a certificate', of('kubernetes.io/tls', { 'tls.crt': '' }), ['data[tls.key]: Required value']],
    [
      'more than 1 MiB',
      of('Opaque', { a: 'x'.repeat(1024 * 1024), b: 'x' }),
      ['data: Too long: must have at most 1048576 bytes'],
    ],
  ])('%s is refused', (_, manifest, problems) => {
    expect(problemsOnCreate(secrets, manifest)).toEqual(problems);
  });

  test('data changes, the type does not', () => {
    expect(problemsOnUpdate(secrets, of('Opaque', { a: '1' }), of('Opaque', { a: '2' }))).toEqual([]);
    expect(problemsOnUpdate(secrets, of('a.b/c'), of('Opaque'))).toEqual([
      'type: Invalid value: "Opaque": field is immutable',
    ]);
  });

  test('a key that does not fit its certificate is warned of', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const tls = (crt: string) =>
      warnings(secrets, of('kubernetes.io/tls', { 'tls.crt': crt, 'tls.key': key }));
    expect(tls('')).toEqual(['tls: failed to find any PEM data in certificate input']);
    expect(tls('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')).toEqual([
      'x509: malformed certificate',
    ]);
  });
});

describe('service accounts and component statuses', () => {
  test('secrets of an account are known by their names alone', () => {
    const account = { secrets: [{ name: 'a', kind: 'Secret', namespace: 'x' }] };
    expect(problemsOnCreate(serviceaccounts, account)).toEqual([]);
    expect(created(serviceaccounts, account).secrets).toEqual([{ name: 'a' }]);
  });

  test('a component is healthy, unhealthy or unknown', () => {
    const component = (conditions: JsonObject[]) =>
      row(componentstatuses, created(componentstatuses, { conditions }));
    expect(component([{ type: 'Healthy', status: 'True', message: 'ok' }])).toEqual([
      'it',
      'Healthy',
      'ok',
      '',
    ]);
    expect(component([{ type: 'Healthy', status: 'False', error: 'no' }])).toEqual([
      'it',
      'Unhealthy',
      '',
      'no',
    ]);
    expect(component([])).toEqual(['it', 'Unknown', '', '']);
  });
});
