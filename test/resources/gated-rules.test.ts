import { describe, expect, test } from 'vitest';
import { defaultGates } from '../../src/api/feature-gates.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { statefulsets } from '../../src/resources/apps/stateful-set.ts';
import { horizontalpodautoscalers } from '../../src/resources/autoscaling/horizontal-pod-autoscaler/definition.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { persistentvolumes } from '../../src/resources/core/persistent-volume/definition.ts';
import { persistentvolumeclaims as claims } from '../../src/resources/core/persistent-volume-claim/definition.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { servicecidrs } from '../../src/resources/networking/service-cidr.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { csidrivers } from '../../src/resources/storage/csi-driver.ts';
import { type Manifests, manifestsIn, manifestsWith } from '../kit/manifests.ts';

/** Rules that depend on a feature gate: each is looked at with the gate open and with the gate closed. */

const withGate = (name: string, isOpen: boolean): Manifests =>
  manifestsWith((gate) => (gate === name ? isOpen : defaultGates(gate)));

const open = (name: string): Manifests => withGate(name, true);
const closed = (name: string): Manifests => withGate(name, false);

test('SELinuxMount: pods choose how labels reach their volumes', () => {
  const pod: JsonObject = {
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      securityContext: { seLinuxChangePolicy: 'MountOption' },
    },
  };
  expect(manifestsIn(33, { SELinuxMount: true }).problemsOnCreate(pods, pod)).toEqual([]);
  expect(manifestsIn(33).problemsOnCreate(pods, pod)).toEqual([
    'spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"',
  ]);
});

test('ServiceCIDRStatusFieldWiping: a new range has no status, and an update leaves it as it was', () => {
  const status: JsonObject = { conditions: [{ type: 'Ready', status: 'True' }] };
  const range: JsonObject = { spec: { cidrs: ['10.0.0.0/24'] } };
  const statusOf = ({ created, updated }: Manifests): unknown[] => [
    created(servicecidrs, { ...range, status }).status,
    created(servicecidrs, range).status,
    updated(servicecidrs, range, { ...range, status }).status,
  ];
  expect(statusOf(manifestsIn(36))).toEqual([{}, {}, {}]);
  for (const kept of [manifestsIn(35), manifestsIn(36, { ServiceCIDRStatusFieldWiping: false })])
    expect(statusOf(kept)).toMatchObject([status, {}, status]);
});

test('LoadBalancerIPMode: without it an address of a load balancer has no mode', () => {
  const balanced: JsonObject = { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } };
  for (const ipMode of [{}, { ipMode: 'VIP' }])
    for (const gate of [open, closed]) {
      const after = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ...ipMode }] } };
      expect(
        gate('LoadBalancerIPMode').problemsOnView(services, balanced, { before: {}, after, view: 'status' }),
      ).toEqual([]);
    }
});

test('VolumeAttributesClass: without it claims and volumes keep the class that they have', () => {
  const of = (volumeAttributesClassName?: string): ApiObject => ({
    ...{ kind: '', apiVersion: 'v1', metadata: { name: 'a' }, status: { phase: 'Bound' } },
    spec: volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName },
  });
  const change = ({ strategy }: ResourceDefinition, isOn: boolean, to?: string): string[] => {
    const gates = (gate: string): boolean => (gate === 'VolumeAttributesClass' ? isOn : defaultGates(gate));
    return (strategy.validateUpdate?.(of(to), of('gold'), gates) ?? [])
      .filter(({ field }) => field === 'spec.volumeAttributesClassName')
      .map(({ message }) => message);
  };
  const off = 'Forbidden: update is forbidden when the VolumeAttributesClass feature gate is disabled';
  const none = 'Forbidden: update from non-nil value to nil is forbidden';
  for (const definition of [claims, persistentvolumes]) {
    expect(change(definition, true, 'silver')).toEqual([]);
    expect(change(definition, false, 'silver')).toEqual([off]);
    expect(change(definition, false, 'gold')).toEqual([]);
    expect([change(definition, true), change(definition, false)]).toEqual([[none], [off, none]]);
  }
});

test('VolumeLimitScaling: a driver does not keep pods from nodes without it, unless it says so', () => {
  const made = (scales: boolean): unknown =>
    manifestsIn(36, { VolumeLimitScaling: scales }).created(csidrivers, { spec: {} }).spec;
  expect(made(true)).toHaveProperty('preventPodSchedulingIfMissing', false);
  expect(made(false)).not.toHaveProperty('preventPodSchedulingIfMissing');
});

describe('HPAScaleToZero', () => {
  const autoscaler = (metrics: JsonObject[]): JsonObject => ({
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 0, maxReplicas: 1, metrics },
  });
  const outer: JsonObject = {
    type: 'External',
    external: { metric: { name: 'queue' }, target: { type: 'Value', value: '1' } },
  };
  const inner: JsonObject = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
  };

  test('open: an autoscaler scales to nothing by a metric that does not come from its pods', () => {
    const { problemsOnCreate } = open('HPAScaleToZero');
    expect(problemsOnCreate(horizontalpodautoscalers, autoscaler([outer]))).toEqual([]);
    expect(problemsOnCreate(horizontalpodautoscalers, autoscaler([inner]))).toEqual([
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ]);
  });

  test('closed: it keeps one replica', () => {
    expect(closed('HPAScaleToZero').problemsOnCreate(horizontalpodautoscalers, autoscaler([outer]))).toEqual([
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
    ]);
  });
});

describe('RelaxedEnvironmentVariableValidation', () => {
  const podWith = (name: string): JsonObject => ({
    spec: {
      containers: [
        {
          name: 'c',
          image: 'i',
          env: [{ name }],
          envFrom: [{ prefix: name, secretRef: { name: 's' } }],
        },
      ],
    },
  });
  const gate = 'RelaxedEnvironmentVariableValidation';
  const why =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";

  test('open: any printable ASCII but an equals sign makes a name', () => {
    expect(open(gate).problemsOnCreate(pods, podWith('1 way, or ..'))).toEqual([]);
    for (const name of ['a=b', 'ü', 'tab\t'])
      expect(open(gate).problemsOnCreate(pods, podWith(name))).toEqual([
        `spec.containers[0].envFrom[0].prefix: Invalid value: ${JSON.stringify(name)}: ${why}`,
        `spec.containers[0].env[0].name: Invalid value: ${JSON.stringify(name)}: ${why}`,
      ]);
  });

  test('closed: a name is an identifier', () => {
    expect(closed(gate).problemsOnCreate(pods, podWith('1 way'))).toHaveLength(2);
  });
});

describe('PodDeletionCost', () => {
  const pod: JsonObject = {
    metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '+1' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };

  test('open: the annotation is an integer', () => {
    expect(open('PodDeletionCost').problemsOnCreate(pods, pod)).toEqual([
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
    ]);
  });

  test('closed: it is an annotation like any other', () => {
    expect(closed('PodDeletionCost').problemsOnCreate(pods, pod)).toEqual([]);
  });
});

describe('MaxUnavailableStatefulSet', () => {
  const set = (maxUnavailable?: number | string): JsonObject => ({
    spec: {
      selector: { matchLabels: { a: 'b' } },
      serviceName: 's',
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: maxUnavailable === undefined ? {} : { maxUnavailable },
      },
    },
  });
  const rolling = ({ spec }: JsonObject): unknown =>
    (spec as { updateStrategy: { rollingUpdate: unknown } }).updateStrategy.rollingUpdate;
  const gate = 'MaxUnavailableStatefulSet';

  test('open: one pod at a time is updated unless the set says how many', () => {
    expect(rolling(open(gate).created(statefulsets, set()))).toEqual({ partition: 0, maxUnavailable: 1 });
    expect(rolling(open(gate).created(statefulsets, set('50%')))).toEqual({
      partition: 0,
      maxUnavailable: '50%',
    });
  });

  test('open: at least one and at most all', () => {
    const problems = (most: number | string) => open(gate).problemsOnCreate(statefulsets, set(most));
    const at = /^spec\.updateStrategy\.rollingUpdate\.maxUnavailable: Invalid value: .*: /;
    const whyNot = (most: number | string) => problems(most).map((line) => line.replace(at, ''));
    expect(whyNot(0)).toEqual(['cannot be 0']);
    expect(whyNot('101%')).toEqual(['must not be greater than 100%']);
    expect(problems('100%')).toEqual([]);
  });

  test('closed: the number is dropped', () => {
    expect(rolling(closed(gate).created(statefulsets, set(3)))).toEqual({ partition: 0 });
  });
});

describe('RecoverVolumeExpansionFailure', () => {
  const gate = 'RecoverVolumeExpansionFailure';
  const claim = (size: string, status: JsonObject = {}): JsonObject => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
    status,
  });
  const bound = { phase: 'Bound', capacity: { storage: '1Gi' } };

  test('open: what could not grow so far may grow less far, and not back to its size', () => {
    const shrink = (to: string): string[] => {
      const { validateUpdate } = claims.strategy;
      const isOn = (name: string): boolean => name === gate || defaultGates(name);
      const at = (size: string) => ({
        ...open(gate).created(claims, claim(size)),
        status: bound,
      });
      return (validateUpdate?.(at(to), at('5Gi'), isOn) ?? []).map(({ message }) => message);
    };
    expect(shrink('3Gi')).toEqual([]);
    expect(shrink('1Gi')).toEqual(['Forbidden: field can not be less than status.capacity']);
  });

  test('closed: a claim never gets smaller', () => {
    expect(closed(gate).problemsOnUpdate(claims, claim('5Gi'), claim('3Gi'))).toContain(
      'spec.resources.requests.storage: Forbidden: field can not be less than previous value',
    );
  });

  test('open: the status tells of storage alone, in quantities', () => {
    const status = {
      ...bound,
      allocatedResources: { storage: '2Gi', cpu: '1', 'example.com/speed': '-1' },
      allocatedResourceStatuses: { storage: 'NodeResizePending', memory: 'NodeResizePending' },
    };
    const change = { before: bound, after: status, view: undefined };
    expect(open(gate).problemsOnView(claims, claim('1Gi'), change)).toEqual([
      'status.allocatedResourceStatus: Unsupported value: "memory": supported values: "storage"',
      'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
      'status.allocatedResources[example.com/speed]: Invalid value: "-1": must be a valid resource quantity',
    ]);
    expect(closed(gate).problemsOnView(claims, claim('1Gi'), change)).toEqual([]);
  });
});

describe('AnyVolumeDataSource and CrossNamespaceVolumeDataSource', () => {
  const claim = (source: JsonObject): JsonObject => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...source },
  });
  const sources = ({ spec }: JsonObject): unknown[] => {
    const { dataSource, dataSourceRef } = spec as JsonObject;
    return [dataSource, dataSourceRef];
  };
  const other = { apiGroup: 'example.com', kind: 'Populator', name: 'p' };
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
  const far = { ...snapshot, namespace: 'elsewhere' };

  test('open: a source of any kind fills both fields', () => {
    const any = open('AnyVolumeDataSource');
    expect(sources(any.created(claims, claim({ dataSourceRef: other })))).toEqual([other, other]);
    expect(sources(any.created(claims, claim({ dataSource: snapshot })))).toEqual([snapshot, snapshot]);
  });

  test('closed: there is the older field alone, for claims and snapshots', () => {
    const none = closed('AnyVolumeDataSource');
    expect(sources(none.created(claims, claim({ dataSourceRef: other })))).toEqual([undefined, undefined]);
    expect(sources(none.created(claims, claim({ dataSource: snapshot })))).toEqual([snapshot, undefined]);
  });

  test('a source in another namespace is kept when that gate is open, and dropped otherwise', () => {
    const gate = 'CrossNamespaceVolumeDataSource';
    expect(sources(open(gate).created(claims, claim({ dataSourceRef: far })))).toEqual([undefined, far]);
    expect(sources(closed(gate).created(claims, claim({ dataSourceRef: far })))).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe('JobManagedBy', () => {
  const gate = 'JobManagedBy';
  const job = (spec: JsonObject = {}): JsonObject => ({
    metadata: { uid: 'u' },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  });
  const isTrue = (type: string): JsonObject => ({ type, status: 'True' });
  const startTime = '2024-01-01T00:00:00Z';
  const completionTime = '2024-01-01T01:00:00Z';
  const done = { startTime, completionTime, succeeded: 1, conditions: [isTrue('Complete')] };
  const problems = (
    { before = {}, after }: { readonly before?: JsonObject; readonly after: JsonObject },
    manifest: JsonObject = job(),
  ): string[] => open(gate).problemsOnView(jobs, manifest, { before, after, view: undefined });

  test('open: a job names its controller; closed: that is dropped', () => {
    const managed = job({ managedBy: 'example.com/queue' });
    const managerOf = ({ spec }: JsonObject): unknown => (spec as JsonObject).managedBy;
    expect(managerOf(open(gate).created(jobs, managed))).toBe('example.com/queue');
    expect(managerOf(closed(gate).created(jobs, managed))).toBeUndefined();
  });

  test.each<[string, { before?: JsonObject; after: JsonObject }, string[]]>([
    ['ends with its times', { before: { startTime }, after: done }, []],
    [
      'ends without them',
      { after: { conditions: [isTrue('Complete')] } },
      [
        'status.completionTime: Required value: completionTime is required for Complete jobs',
        'status.startTime: Required value: startTime is required for finished job',
      ],
    ],
    [
      'ends in two ways',
      { before: { startTime }, after: { ...done, conditions: [isTrue('Complete'), isTrue('Failed')] } },
      ['status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions'],
    ],
    [
      'has ended and goes on',
      { before: done, after: { startTime, completionTime, succeeded: 1 } },
      [
        'status.completionTime: Invalid value: "2024-01-01T01:00:00Z": cannot set completionTime when there is no Complete=True condition',
        'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
      ],
    ],
    [
      'has ended with pods at work',
      { before: { startTime }, after: { ...done, active: 1 } },
      ['status.active: Invalid value: 1: active>0 is invalid for finished job'],
    ],
    [
      'has ended before it began',
      { after: { ...done, completionTime: '2023-01-01T00:00:00Z' } },
      [
        'status.completionTime: Invalid value: "2023-01-01T00:00:00Z": completionTime cannot be set before startTime',
      ],
    ],
    [
      'counts backwards',
      { before: { failed: 2, succeeded: 2 }, after: { failed: 1, succeeded: 1 } },
      [
        'status.failed: Invalid value: 1: cannot decrease the failed counter',
        'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
      ],
    ],
    [
      'forgets when it began',
      { before: { startTime }, after: {} },
      ['status.startTime: Required value: startTime cannot be removed for unsuspended job'],
    ],
    [
      'has indexes and no index',
      { after: { completedIndexes: '0', failedIndexes: '0' } },
      [
        'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
        'status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
        'status.failedIndexes: Invalid value: "0": failedIndexes and completedIndexes overlap at index: 0',
      ],
    ],
  ])('open: the status of a job that %s', (_, change, expected) => {
    expect(problems(change)).toEqual(expected);
  });

  test.each([
    ['0-2,4', '3', []],
    [
      '0-2',
      '2,3',
      ['failedIndexes: Invalid value: "2,3": failedIndexes and completedIndexes overlap at index: 2'],
    ],
    [
      '1,1',
      undefined,
      [
        'completedIndexes: Invalid value: "1,1": error parsing completedIndexes: non-increasing order, previous: 1, current: 1',
      ],
    ],
    [
      '5',
      undefined,
      ['completedIndexes: Invalid value: "5": error parsing completedIndexes: too large index: "5"'],
    ],
    [
      'a',
      undefined,
      [
        'completedIndexes: Invalid value: "a": error parsing completedIndexes: cannot convert string to integer for index: "a"',
      ],
    ],
    [
      '1-2-3',
      undefined,
      [
        'completedIndexes: Invalid value: "1-2-3": error parsing completedIndexes: the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
      ],
    ],
  ])('open: of five indexes, %s are done and %s have failed', (completedIndexes, failedIndexes, expected) => {
    const indexed = job({
      completionMode: 'Indexed',
      completions: 5,
      parallelism: 5,
      backoffLimitPerIndex: 1,
    });
    const after = { completedIndexes, ...(failedIndexes === undefined ? {} : { failedIndexes }) };
    expect(problems({ after }, indexed)).toEqual(expected.map((line) => `status.${line}`));
  });

  test('open: a job that breaks a rule already can be written to', () => {
    const before = { conditions: [isTrue('Complete')] };
    expect(problems({ before, after: { ...before, ready: 0 } })).toEqual([]);
  });

  test('closed: the controller of jobs is trusted', () => {
    const change = { before: done, after: { failed: 1 }, view: undefined };
    expect(closed(gate).problemsOnView(jobs, job(), change)).toEqual([]);
  });
});

test('JobPodReplacementPolicy closed: success by criteria belongs to indexed jobs with a policy', () => {
  const after = { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }] };
  const manifest = {
    metadata: { uid: 'u' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
  };
  const change = { before: {}, after, view: undefined };
  expect(open('JobPodReplacementPolicy').problemsOnView(jobs, manifest, change)).toEqual([]);
  expect(closed('JobPodReplacementPolicy').problemsOnView(jobs, manifest, change)).toEqual([
    'status.conditions: Invalid value: cannot set SuccessCriteriaMet to NonIndexed Job',
    'status.conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job without SuccessPolicy',
  ]);
});

describe('InPlacePodVerticalScaling', () => {
  const gate = 'InPlacePodVerticalScaling';
  const pod = (resources: JsonObject, more: JsonObject = {}): JsonObject => ({
    spec: { containers: [{ name: 'c', image: 'i', resources, ...more }] },
  });
  const policyOf = ({ spec }: JsonObject): unknown =>
    (spec as { containers: { resizePolicy?: unknown }[] }).containers[0]?.resizePolicy;
  const asked = {
    requests: { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' },
    limits: { cpu: '2', 'example.com/gpu': '1' },
  };

  test('open: what a container asks for has a policy, and others keep theirs', () => {
    const free = { resourceName: 'cpu', restartPolicy: 'NotRequired' };
    expect(policyOf(open(gate).created(pods, pod(asked)))).toEqual([
      free,
      { ...free, resourceName: 'memory' },
    ]);
    expect(policyOf(open(gate).created(pods, pod({ limits: { cpu: '1' } })))).toEqual([free]);
    const own = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    expect(policyOf(open(gate).created(pods, pod({ limits: { cpu: '1' } }, { resizePolicy: own })))).toEqual(
      own,
    );
    expect(policyOf(closed(gate).created(pods, pod(asked, { resizePolicy: own })))).toBeUndefined();
  });

  const larger = { requests: { ...asked.requests, cpu: '1500m' }, limits: { ...asked.limits, cpu: '3' } };

  test('open: processor and memory can be changed, within the same quality of service', () => {
    const { problemsOnUpdate } = open(gate);
    expect(problemsOnUpdate(pods, pod(asked), pod(larger))).toEqual([]);
    const others = {
      ...asked,
      requests: { ...asked.requests, 'example.com/gpu': '2' },
      limits: { ...asked.limits, 'example.com/gpu': '2' },
    };
    expect(problemsOnUpdate(pods, pod(asked), pod(others)).join()).toContain(
      '`spec.containers[*].resources` (for CPU/memory only)',
    );
    const same = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
    expect(problemsOnUpdate(pods, pod(same), pod({ ...same, limits: { cpu: '2', memory: '1Gi' } }))).toEqual([
      'metadata: Invalid value: "Guaranteed": Pod QoS is immutable',
    ]);
    expect(problemsOnUpdate(pods, pod({}), pod({ requests: { cpu: '1' } })).length).toBeGreaterThan(0);
  });

  test('closed: what a container asks for stays', () => {
    const [problem = ''] = closed(gate).problemsOnUpdate(pods, pod(asked), pod(larger));
    expect(problem).toContain('spec: Forbidden: pod updates may not change fields other than');
    expect(problem).not.toContain('spec.containers[*].resources');
  });

  test('open: a change is proposed to the node until it has set aside what is asked for', () => {
    const resized = (allocatedResources: JsonObject, isOpen: boolean): unknown => {
      const isOn = withGate(gate, isOpen);
      const old = isOn.created(pods, pod(asked));
      const next = isOn.created(pods, pod(larger));
      old.status = { containerStatuses: [{ name: 'c', allocatedResources }] };
      pods.strategy.prepareForUpdate?.(next, old, (name) => (name === gate ? isOpen : defaultGates(name)));
      expect(old.status).not.toHaveProperty('resize');
      return (next.status as JsonObject).resize;
    };
    expect(resized(asked.requests, true)).toBe('Proposed');
    expect(resized(larger.requests, true)).toBeUndefined();
    expect(resized(asked.requests, false)).toBeUndefined();
  });
});
