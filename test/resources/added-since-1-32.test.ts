import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { leasecandidates } from '../../src/resources/coordination/lease-candidate.ts';
import { resourcequotas } from '../../src/resources/core/resource-quota.ts';
import { devicetaintrules } from '../../src/resources/devices/device-taint-rule.ts';
import { resourceclaims } from '../../src/resources/devices/resource-claim.ts';
import { resourcepoolstatusrequests } from '../../src/resources/devices/resource-pool-status-request.ts';
import { resourceslices } from '../../src/resources/devices/resource-slice.ts';
import { podgroups } from '../../src/resources/scheduling/pod-group.ts';
import { workloads } from '../../src/resources/scheduling/workload.ts';
import { workloads as firstWorkloads } from '../../src/resources/scheduling/workload-1-35.ts';
import { storageversionmigrations } from '../../src/resources/storagemigration/storage-version-migration.ts';
import { manifestsIn } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

const TYPELESS = { apiVersion: '', kind: '', metadata: {} };

const specOf = (object: ApiObject | undefined): JsonObject => object?.spec as JsonObject;

/** Resources that later versions of Kubernetes added, one after the other. */

const GATES = {
  TopologyAwareWorkloadScheduling: true,
  DRAWorkloadResourceClaims: true,
  WorkloadAwarePreemption: true,
  VolumeAttributesClass: true,
};
const of35 = manifestsIn(35, GATES);
const of36 = manifestsIn(36, GATES);

const versionsOf = (plural: string): string[] =>
  MINORS.map((minor) =>
    builtInResources(minor)
      .filter(({ resource }) => resource === plural)
      .flatMap(({ versions }) => versions.map(({ version }) => version))
      .join(),
  );

test('each version has them as Kubernetes has', () => {
  expect(versionsOf('leasecandidates')).toEqual([
    'v1alpha1',
    'v1alpha2',
    ...Array<string>(4).fill('v1beta1,v1alpha2'),
  ]);
  expect(versionsOf('storageversionmigrations')).toEqual([
    ...Array<string>(4).fill('v1alpha1'),
    'v1beta1',
    'v1beta1',
  ]);
  expect(versionsOf('devicetaintrules')).toEqual([
    '',
    '',
    'v1alpha3',
    'v1alpha3',
    'v1alpha3',
    'v1beta2,v1alpha3',
  ]);
  expect(versionsOf('resourcepoolstatusrequests')).toEqual(['', '', '', '', '', 'v1alpha3']);
  expect(versionsOf('workloads')).toEqual(['', '', '', '', 'v1alpha1', 'v1alpha2']);
  expect(versionsOf('podgroups')).toEqual(['', '', '', '', '', 'v1alpha2']);
});

describe('a candidate for a lease', () => {
  const good: JsonObject = {
    spec: {
      leaseName: 'l',
      binaryVersion: '1.33.0',
      emulationVersion: '1.32.0',
      strategy: 'OldestEmulationVersion',
    },
  };
  test.each<Variation>([
    [{}, []],
    [{ 'spec.strategy': 'example.com/own', 'spec.emulationVersion': undefined }, []],
    [{ 'spec.leaseName': '' }, ['spec.leaseName: Required value']],
    [{ 'spec.binaryVersion': '' }, ['spec.binaryVersion: Required value']],
    [
      { 'spec.binaryVersion': '1.33' },
      ['spec.binaryVersion: Invalid value: "1.33": must be a valid semantic version'],
    ],
    [
      { 'spec.emulationVersion': '1.34.0' },
      ['spec.binaryVersion: Invalid value: "1.33.0": must be greater than or equal to `emulationVersion`'],
    ],
    [
      { 'spec.emulationVersion': undefined },
      [
        "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
      ],
    ],
    [{ 'spec.strategy': '' }, ['spec.strategy: Required value']],
    [
      { 'spec.strategy': 'Newest' },
      ['spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"'],
    ],
  ])('%o is judged', (changes, lines) => {
    expect(of36.problemsOnCreate(leasecandidates, varyAll(good, changes))).toEqual(lines);
  });
});

describe('a migration of stored versions', () => {
  const convert = storageversionmigrations.versions.find(({ version }) => version === 'v1beta1')?.conversion;
  const stored: ApiObject = {
    ...TYPELESS,
    metadata: { name: 'm' },
    spec: { resource: { group: 'apps', version: 'v1', resource: 'deployments' } },
    status: {
      resourceVersion: '5',
      conditions: [{ type: 'Running', status: 'True', lastUpdateTime: 'T', reason: 'R' }],
    },
  };
  const served: ApiObject = {
    ...TYPELESS,
    metadata: { name: 'm' },
    spec: { resource: { group: 'apps', resource: 'deployments' } },
    status: {
      resourceVersion: '5',
      conditions: [{ type: 'Running', status: 'True', lastTransitionTime: 'T', reason: 'R' }],
    },
  };

  test('names no version in v1beta1, and has the usual conditions', () => {
    expect(convert?.fromStorage(stored)).toEqual(served);
    const { resource: _, ...noVersion } = stored.spec as JsonObject;
    expect(convert?.toStorage(served)).toEqual({
      ...stored,
      spec: { ...noVersion, resource: { group: 'apps', resource: 'deployments' } },
    });
  });

  test('requires a version until 1.34', () => {
    const manifest = { spec: { resource: { resource: 'deployments' } } };
    const problems = MINORS.map(
      (minor) => manifestsIn(minor).problemsOnCreate(storageversionmigrations, manifest).length,
    );
    expect(problems).toEqual([1, 1, 1, 1, 0, 0]);
  });
});

describe('a migration since 1.35', () => {
  const of135 = manifestsIn(35);
  const of136 = manifestsIn(36);
  const naming = (group: string, resource: string): JsonObject => ({
    spec: { resource: { group, resource } },
  });
  const deployments = naming('apps', 'deployments');

  test('names a resource that can be', () => {
    const problemsOf = (group: string, resource: string): string[] =>
      of135.problemsOnCreate(storageversionmigrations, naming(group, resource));
    expect(problemsOf('apps', 'deployments')).toEqual([]);
    expect(problemsOf('apps', '')).toEqual([
      'spec.resource.resource: Required value: resource is required to be set',
    ]);
    expect(problemsOf('apps', 'A')[0]).toContain('spec.resource.resource: Invalid value: "A"');
    expect(problemsOf('a..b', 'pods')[0]).toContain('spec.resource.group: Invalid value: "a..b"');
  });

  test('stays as it was made, but for the version that older ones have', () => {
    expect(
      of135.problemsOnUpdate(storageversionmigrations, deployments, naming('apps', 'daemonsets')),
    ).toEqual([expect.stringMatching(/^spec: Invalid value: .*field is immutable$/)]);
    const older = { spec: { resource: { group: 'apps', version: 'v1', resource: 'deployments' } } };
    expect(of135.problemsOnUpdate(storageversionmigrations, older, deployments)).toEqual([]);
    expect(manifestsIn(34).problemsOnUpdate(storageversionmigrations, older, deployments)).not.toEqual([]);
  });

  test('says up to which version it has come, and may go on running after its end since 1.36', () => {
    const at = (resourceVersion: string): JsonObject => ({ resourceVersion });
    const answer = (manifests: typeof of135, before: JsonObject, after: JsonObject): string[] =>
      manifests.problemsOnView(storageversionmigrations, deployments, { before, after, view: 'status' });
    expect(answer(of135, {}, at('5'))).toEqual([]);
    for (const wrong of ['0', '05', '-5', '+5', 'x'])
      expect(answer(of135, {}, at(wrong))).toEqual([
        `status.resourceVersion: Invalid value: ${JSON.stringify(wrong)}: resource version is not well formed: ${wrong}`,
      ]);
    expect(answer(of135, at('5'), at('6'))).toEqual([
      'status.resourceVersion: Invalid value: "6": field is immutable',
    ]);
    const conditions = ['Running', 'Succeeded'].map((type) => ({
      ...{ type, status: 'True', reason: 'R', lastUpdateTime: '2026-01-01T00:00:00Z' },
    }));
    expect(answer(of135, at('5'), { ...at('5'), conditions })).toHaveLength(1);
    expect(answer(of136, at('5'), { ...at('5'), conditions })).toEqual([]);
  });
});

describe('a rule that taints devices', () => {
  const good: JsonObject = {
    spec: {
      deviceSelector: { driver: 'gpu.example.com', pool: 'rack/1', device: 'gpu-0' },
      taint: { key: 'example.com/broken', value: 'yes', effect: 'NoExecute' },
    },
  };
  test.each<Variation>([
    [{}, []],
    [{ 'spec.deviceSelector': undefined }, []],
    [
      { 'spec.deviceSelector.driver': 'A_' },
      [expect.stringContaining('spec.deviceSelector.driver: Invalid value: "A_"') as never],
    ],
    [{ 'spec.deviceSelector.pool': '' }, [expect.stringContaining('spec.deviceSelector.pool') as never]],
    [
      { 'spec.deviceSelector.device': 'a.b' },
      [
        expect.stringContaining(
          'spec.deviceSelector.device: Invalid value: "a.b": must not contain dots',
        ) as never,
      ],
    ],
    [{ 'spec.taint.key': '-' }, [expect.stringContaining('spec.taint.key: Invalid value: "-"') as never]],
    [{ 'spec.taint.effect': '' }, ['spec.taint.effect: Required value']],
    [
      { 'spec.taint.effect': 'Never' },
      ['spec.taint.effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"'],
    ],
  ])('%o is judged', (changes, lines) => {
    expect(shortened(of36.problemsOnCreate(devicetaintrules, varyAll(good, changes)))).toEqual(lines);
  });

  test('selects by class and expressions until 1.34', () => {
    const selector = { deviceClassName: 'c', selectors: [{ cel: { expression: 'true' } }] };
    const manifest = varyAll(good, { 'spec.deviceSelector': selector });
    const kept = (minor: Minor) =>
      specOf(manifestsIn(minor).created(devicetaintrules, manifest)).deviceSelector;
    expect(kept(34)).toEqual(selector);
    expect(kept(35)).toEqual({});
    const empty = varyAll(manifest, { 'spec.deviceSelector.selectors.0': {} });
    expect(manifestsIn(34).problemsOnCreate(devicetaintrules, empty)).toEqual([
      'spec.deviceSelector.selectors[0].cel: Required value',
    ]);
  });

  test('has a status since 1.35', () => {
    const has = MINORS.filter((minor) =>
      builtInResources(minor).some(
        ({ resource, subresources }) => resource === 'devicetaintrules' && subresources.length > 0,
      ),
    );
    expect(has).toEqual([35, 36]);
    const condition = {
      type: 'EvictionInProgress',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const conditions = Array.from({ length: 9 }, (_, at) => ({ ...condition, type: `c${at}` }));
    const judge = (after: JsonObject) =>
      of36.problemsOnView(devicetaintrules, good, { before: {}, after, view: undefined });
    expect(judge({ conditions: [condition] })).toEqual([]);
    expect(judge({ conditions })).toEqual(['status.conditions: Too many: 9: must have at most 8 items']);
  });

  test('begins a new time with a new effect', () => {
    const timed = (effect: string, timeAdded?: string): JsonObject =>
      varyAll(good, {
        'spec.taint': { key: 'a', effect, ...(timeAdded === undefined ? {} : { timeAdded }) },
      });
    const timeAfter = (after: JsonObject): unknown =>
      (
        specOf(of36.updated(devicetaintrules, timed('NoSchedule', '2020-01-01T00:00:00Z'), after))
          .taint as JsonObject
      ).timeAdded;
    expect(timeAfter(timed('NoSchedule', '2020-01-01T00:00:00Z'))).toBe('2020-01-01T00:00:00Z');
    expect(timeAfter(timed('NoExecute', '2020-01-01T00:00:00Z'))).not.toBe('2020-01-01T00:00:00Z');
    expect(timeAfter(timed('NoExecute', '2021-01-01T00:00:00Z'))).toBe('2021-01-01T00:00:00Z');
  });
});

describe('a request for the state of pools', () => {
  const good: JsonObject = { spec: { driver: 'gpu.example.com' } };
  const pool = {
    driver: 'gpu.example.com',
    poolName: 'p',
    generation: 1,
    totalDevices: 2,
    resourceSliceCount: 1,
  };

  test.each<Variation>([
    [{}, []],
    [{ 'spec.driver': '' }, ['spec.driver: Required value']],
    [{ 'spec.poolName': 'a//b' }, [expect.stringContaining('spec.poolName: Invalid value') as never]],
    [{ 'spec.limit': 0 }, ['spec.limit: Invalid value: 0: must be greater than or equal to 1']],
    [{ 'spec.limit': 1001 }, ['spec.limit: Invalid value: 1001: must be less than or equal to 1000']],
  ])('%o is judged', (changes, lines) => {
    expect(shortened(of36.problemsOnCreate(resourcepoolstatusrequests, varyAll(good, changes)))).toEqual(
      lines,
    );
  });

  test.each<[string, JsonObject, string[]]>([
    ['the pools', { poolCount: 1, pools: [pool] }, []],
    ['no count', { pools: [pool] }, ['status.poolCount: Required value']],
    [
      'a pool without a name',
      { poolCount: 1, pools: [{ ...pool, poolName: '' }] },
      ['status.pools[0].poolName: Required value'],
    ],
    [
      'less than nothing',
      { poolCount: 1, pools: [{ ...pool, totalDevices: -1 }] },
      ['status.pools[0].totalDevices: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a node of no good name',
      { poolCount: 1, pools: [{ ...pool, nodeName: 'A' }] },
      [expect.stringContaining('status.pools[0].nodeName: Invalid value: "A"') as never],
    ],
    [
      'a generation below zero',
      { poolCount: 1, pools: [{ ...pool, generation: -1 }] },
      ['status.pools[0].generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a long error',
      { poolCount: 1, pools: [{ ...pool, validationError: 'x'.repeat(257) }] },
      ['status.pools[0].validationError: Too long: must have at most 256 bytes'],
    ],
  ])('is answered with %s', (_, after, lines) => {
    const object = of36.created(resourcepoolstatusrequests, good);
    expect(object.status).toBeUndefined();
    const view = resourcepoolstatusrequests.subresources.find(({ name }) => name === 'status');
    const errors = view?.access === 'view' ? view.validate?.({ ...object, status: after }, object) : [];
    expect(errors?.map(({ field, message }) => `${field}: ${message}`)).toEqual(lines);
  });

  test('keeps its answer', () => {
    const after = { poolCount: 2 };
    expect(
      of36.problemsOnView(resourcepoolstatusrequests, good, {
        before: { poolCount: 1 },
        after,
        view: undefined,
      }),
    ).toEqual(['status: Invalid value: {"poolCount":2}: field is immutable']);
  });
});

const GANG = { gang: { minCount: 2 } };

/** The errors of a policy, in every place. */
const POLICIES: readonly [JsonObject, string[]][] = [
  [{ basic: {} }, []],
  [GANG, []],
  [{}, [': Invalid value: "": must specify one of: `basic`, `gang`']],
  [
    { basic: {}, ...GANG },
    [
      ': Invalid value: "{`basic`, `gang`}": exactly one of `basic`, `gang` is required, but multiple fields are set',
    ],
  ],
  [{ gang: {} }, ['.gang.minCount: Required value']],
  [{ gang: { minCount: -1 } }, ['.gang.minCount: Invalid value: -1: must be greater than or equal to 1']],
];

/** As 1.35 says it. */
const POLICIES_OF_35: typeof POLICIES = [
  ...POLICIES.slice(0, 2),
  [{}, [': Required value: exactly one of `basic`, `gang` is required']],
  ...POLICIES.slice(3, 4),
  [{ gang: {} }, ['.gang.minCount: Invalid value: 0: must be greater than zero']],
  [{ gang: { minCount: -1 } }, ['.gang.minCount: Invalid value: -1: must be greater than zero']],
];

describe('a workload of 1.35', () => {
  const good: JsonObject = {
    spec: {
      controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'j' },
      podGroups: [{ name: 'workers', policy: GANG }],
    },
  };

  test.each(POLICIES_OF_35)('places its pods by %o', (policy, lines) => {
    const manifest = varyAll(good, { 'spec.podGroups.0.policy': policy });
    expect(of35.problemsOnCreate(firstWorkloads, manifest)).toEqual(
      lines.map((line) => `spec.podGroups[0].policy${line}`),
    );
  });

  test.each<Variation>([
    [{ 'spec.podGroups': [] }, ['spec.podGroups: Required value: must have at least one item']],
    [
      { 'spec.podGroups': Array<JsonValue>(9).fill({ name: 'a', policy: GANG }) },
      ['spec.podGroups: Too many: 9: must have at most 8 items'],
    ],
    [
      { 'spec.podGroups.1': { name: 'workers', policy: GANG } },
      ['spec.podGroups[1].name: Duplicate value: "workers"'],
    ],
    [
      { 'spec.podGroups.0.name': 'a.b' },
      [expect.stringContaining('spec.podGroups[0].name: Invalid value: "a.b"') as never],
    ],
    [{ 'spec.controllerRef.kind': '' }, ['spec.controllerRef.kind: Required value']],
    [
      { 'spec.controllerRef.name': 'a/b' },
      [`spec.controllerRef.name: Invalid value: "a/b": may not contain '/'`],
    ],
    [
      { 'spec.controllerRef.apiGroup': '_' },
      [expect.stringContaining('spec.controllerRef.apiGroup: Invalid value: "_"') as never],
    ],
  ])('%o is judged', (changes, lines) => {
    expect(shortened(of35.problemsOnCreate(firstWorkloads, varyAll(good, changes)))).toEqual(lines);
  });

  test('keeps its groups, and its controller once it has one', () => {
    const without = varyAll(good, { 'spec.controllerRef': undefined });
    expect(of35.problemsOnUpdate(firstWorkloads, without, good)).toEqual([]);
    expect(of35.problemsOnUpdate(firstWorkloads, good, without)).toEqual([
      'controllerRef: Invalid value: "null": field is immutable',
    ]);
    expect(
      of35.problemsOnUpdate(firstWorkloads, good, varyAll(good, { 'spec.podGroups.0.name': 'other' })),
    ).toEqual([expect.stringMatching(/^podGroups: .*field is immutable$/)]);
  });
});

describe('a workload of 1.36', () => {
  const good: JsonObject = { spec: { podGroupTemplates: [{ name: 'workers', schedulingPolicy: GANG }] } };

  test.each<Variation>([
    [{}, []],
    [{ 'spec.podGroupTemplates': [] }, ['spec.podGroupTemplates: Required value']],
    [
      { 'spec.controllerRef': { apiGroup: 'batch', kind: '', name: 'j' } },
      ['spec.controllerRef.kind: Required value'],
    ],
    [
      { 'spec.podGroupTemplates.1': { name: 'workers', schedulingPolicy: GANG } },
      ['spec.podGroupTemplates[1]: Duplicate value: "workers"'],
    ],
    [
      { 'spec.podGroupTemplates.0.name': 'a.b' },
      [expect.stringContaining('spec.podGroupTemplates[0].name: Invalid value: "a.b"') as never],
    ],
    [
      { 'spec.podGroupTemplates.0.disruptionMode': 'Never' },
      [
        'spec.podGroupTemplates[0].disruptionMode: Unsupported value: "Never": supported values: "Pod", "PodGroup"',
      ],
    ],
  ])('%o is judged', (changes, lines) => {
    expect(shortened(of36.problemsOnCreate(workloads, varyAll(good, changes)))).toEqual(lines);
  });

  test('stays as it was made', () => {
    const other = varyAll(good, { 'spec.podGroupTemplates.0.name': 'other' });
    expect(of36.problemsOnUpdate(workloads, good, other)).toEqual([
      expect.stringContaining('field is immutable'),
    ]);
  });
});

describe('a group of pods', () => {
  const good: JsonObject = {
    spec: {
      podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 'workers' } },
      schedulingPolicy: GANG,
      schedulingConstraints: { topology: [{ key: 'topology.kubernetes.io/rack' }] },
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'claim' }],
      disruptionMode: 'PodGroup',
      priorityClassName: 'high',
    },
  };

  test('is disrupted pod by pod unless it says otherwise, where groups are preempted', () => {
    const { disruptionMode: _, ...spec } = good.spec as JsonObject;
    expect(of36.created(podgroups, { spec }).spec).toMatchObject({ disruptionMode: 'Pod' });
    expect(manifestsIn(36, { GenericWorkload: true }).created(podgroups, { spec }).spec).not.toHaveProperty(
      'disruptionMode',
    );
  });

  test.each(POLICIES)('is placed by %o', (schedulingPolicy, lines) => {
    const manifest = varyAll(good, { 'spec.schedulingPolicy': schedulingPolicy });
    expect(of36.problemsOnCreate(podgroups, manifest)).toEqual(
      lines.map((line) => `spec.schedulingPolicy${line}`),
    );
  });

  test.each<Variation>([
    [
      { 'spec.priority': 1_000_000_001 },
      ['spec.priority: Invalid value: 1000000001: must be less than or equal to 1000000000'],
    ],
    [
      { 'spec.podGroupTemplateRef': {} },
      ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`'],
    ],
    [
      { 'spec.podGroupTemplateRef.workload.workloadName': '' },
      ['spec.podGroupTemplateRef.workload.workloadName: Required value'],
    ],
    [
      { 'spec.schedulingConstraints.topology': [{ key: 'a' }, { key: 'b' }] },
      ['spec.schedulingConstraints.topology: Too many: 2: must have at most 1 items'],
    ],
    [
      { 'spec.schedulingConstraints.topology.0.key': '' },
      ['spec.schedulingConstraints.topology[0].key: Required value'],
    ],
    [
      { 'spec.resourceClaims.0.resourceClaimTemplateName': 't' },
      [
        'spec.resourceClaims[0]: Invalid value: "{`resourceClaimName`, `resourceClaimTemplateName`}": exactly one of `resourceClaimName`, `resourceClaimTemplateName` is required, but multiple fields are set',
      ],
    ],
    [
      { 'spec.resourceClaims.0': { name: 'gpu' } },
      [
        'spec.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
  ])('%o is judged', (changes, lines) => {
    expect(shortened(of36.problemsOnCreate(podgroups, varyAll(good, changes)))).toEqual(lines);
  });

  test('drops what features that are off add', () => {
    const spec = specOf(manifestsIn(36).created(podgroups, good));
    expect(Object.keys(spec).sort()).toEqual(['podGroupTemplateRef', 'schedulingPolicy']);
  });

  test('has statuses of its own claims alone', () => {
    const judge = (name: string, resourceClaimName = 'made'): string[] =>
      of36.problemsOnView(podgroups, good, {
        before: {},
        after: { resourceClaimStatuses: [{ name, resourceClaimName }] },
        view: undefined,
      });
    expect(judge('gpu')).toEqual([]);
    expect(judge('gpu', 'A')).toEqual([
      expect.stringContaining('status.resourceClaimStatuses[0].resourceClaimName: Invalid value: "A"'),
    ]);
    const gpu = { name: 'gpu' };
    const judgeAll = (resourceClaimStatuses: JsonObject[]): string[] => {
      const change = { before: {}, after: { resourceClaimStatuses }, view: undefined };
      return shortened(of36.problemsOnView(podgroups, good, change)) as string[];
    };
    expect(judgeAll([gpu, gpu])).toEqual(['status.resourceClaimStatuses[1]: Duplicate value: "gpu"']);
    expect(judgeAll(Array(5).fill(gpu))).toEqual([
      'status.resourceClaimStatuses: Too many: 5: must have at most 4 items',
    ]);
    expect(judge('net')).toEqual([
      'status.resourceClaimStatuses[0].name: Invalid value: "net": must match the name of an entry in `spec.resourceClaims`',
    ]);
  });
});

describe('v1alpha3 of devices in 1.32 and 1.33', () => {
  const conversionOf = (definition: typeof resourceclaims) =>
    definition.versions.find(({ version }) => version === 'v1alpha3')?.conversion;

  test('asks for an exact count unless a request has alternatives', () => {
    const toStorage = (request: JsonObject): unknown => {
      const stored = conversionOf(resourceclaims)?.toStorage({
        ...TYPELESS,
        spec: { devices: { requests: [request] } },
      });
      return (specOf(stored).devices as { requests: unknown[] }).requests[0];
    };
    expect(toStorage({ name: 'a', deviceClassName: 'c', allocationMode: 'ExactCount' })).toEqual({
      name: 'a',
      exactly: { deviceClassName: 'c', allocationMode: 'ExactCount' },
    });
    const firstAvailable = [{ name: 'x', deviceClassName: 'c' }];
    expect(toStorage({ name: 'a', allocationMode: 'ExactCount', firstAvailable })).toEqual({
      name: 'a',
      firstAvailable,
    });
  });

  test('has plain quantities as capacities', () => {
    const slice = {
      ...TYPELESS,
      spec: { devices: [{ name: 'd', basic: { capacity: { memory: '1Gi' } } }] },
    };
    const stored = conversionOf(resourceslices)?.toStorage(structuredClone(slice));
    expect(stored).toEqual({
      ...TYPELESS,
      spec: { devices: [{ name: 'd', capacity: { memory: { value: '1Gi' } } }] },
    });
    expect(conversionOf(resourceslices)?.fromStorage(stored as ApiObject)).toEqual(slice);
  });
});

describe('a quota for claims with a class of attributes', () => {
  const quota = (hard: JsonObject, more: JsonObject = {}): JsonObject => ({
    spec: {
      hard,
      scopeSelector: {
        matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'], ...more }],
      },
    },
  });

  test('is there since 1.34', () => {
    const refused = MINORS.map(
      (minor) =>
        manifestsIn(minor, GATES).problemsOnCreate(resourcequotas, quota({ persistentvolumeclaims: '1' }))
          .length > 0,
    );
    expect(refused).toEqual([true, true, true, false, false, false]);
  });

  test('limits nothing but claims', () => {
    expect(of36.problemsOnCreate(resourcequotas, quota({ 'requests.storage': '1Gi' }))).toEqual([]);
    expect(
      of36.problemsOnCreate(
        resourcequotas,
        quota({ persistentvolumeclaims: '1' }, { operator: 'Exists', values: [] }),
      ),
    ).toEqual([]);
    expect(shortened(of36.problemsOnCreate(resourcequotas, quota({ pods: '1' })))).toEqual([
      expect.stringContaining('unsupported scope applied to resource'),
    ]);
  });
});
