import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import { type Gates, gatesOf } from '../../src/api/feature-gates.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { Pod } from '../../src/api/types/core/v1.ts';
import { GatedFields } from '../../src/registry/gated-fields.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { Preparation } from '../../src/verbs/writing/prepare-write.ts';
import { manifestsIn, typesIn } from '../kit/manifests.ts';
import { varyAll } from '../kit/variations.ts';

const viewOf = (name: string) => {
  const view = pods.subresources.find((one) => one.name === name);
  if (view?.access !== 'view') throw new Error(`pods have no view ${name}`);
  return view;
};

interface Setting {
  readonly minor?: Minor;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly status?: JsonObject;
}

function gatesIn(minor: Minor, given: Readonly<Record<string, boolean>>): Gates {
  const gates = gatesOf(minor);
  return Object.assign((name: string): boolean => given[name] ?? gates.get(name)?.on ?? false, { minor });
}

/** What a resize of the pod of `manifest` stores, and what is wrong with it. `changes` are those that the client asks for. */
function resize(
  manifest: JsonObject,
  changes: Readonly<Record<string, JsonValue | undefined>>,
  { minor = 36, gates = {}, status = {} }: Setting = {},
): { readonly pod: Pod; readonly problems: string[] } {
  const isOn = gatesIn(minor, gates);
  const types = typesIn(minor);
  const made = manifestsIn(minor, gates).created(pods, manifest);
  const old = { ...made, status: { ...(made.status as JsonObject), ...status } };
  const pod: ApiObject = viewOf('resize').write(
    varyAll(old, changes) as ApiObject,
    structuredClone(old),
    isOn,
  );
  const preparation = new Preparation({
    types,
    gatedFields: new GatedFields(isOn, types),
    isFeatureOn: isOn,
  });
  const rules = {
    validateUpdate: (object: ApiObject, before: ApiObject) =>
      viewOf('resize').validate?.(object, before, isOn) ?? [],
  };
  preparation.beforeUpdate({ definition: pods } as never, rules, pod, old);
  try {
    void preparation.refuseUpdate({ definition: pods } as never, rules, pod, old);
    return { pod: pod as Pod, problems: [] };
  } catch (error) {
    const { details } = (error as { status: { details: { causes: { field: string; message: string }[] } } })
      .status;
    return {
      pod: pod as Pod,
      problems: details.causes.map(({ field, message }) => `${field}: ${message}`).sort(),
    };
  }
}

const POD: JsonObject = {
  metadata: { generation: 1 },
  spec: {
    initContainers: [
      {
        name: 'side',
        image: 'i',
        restartPolicy: 'Always',
        resources: { requests: { cpu: '10m', memory: '1Mi' } },
      },
      { name: 'init', image: 'i', resources: { requests: { cpu: '10m' } } },
    ],
    containers: [
      {
        name: 'main',
        image: 'i',
        resources: {
          requests: { cpu: '100m', memory: '64Mi', 'example.com/gpu': '1' },
          limits: { cpu: '1', memory: '128Mi', 'example.com/gpu': '1' },
        },
      },
      { name: 'other', image: 'i' },
    ],
  },
};

const MAIN = 'spec.containers.0.resources';
/** The agent of the node cannot resize. */
const UNABLE: JsonObject = { containerStatuses: [{ name: 'main', state: { running: {} } }] };
const CPU_AND_MEMORY = 'spec: Forbidden: only cpu and memory resources are mutable';

describe('a resize', () => {
  test('is there since 1.32', () => {
    const served = MINORS.filter((minor) =>
      builtInResources(minor).some(
        ({ resource, subresources }) =>
          resource === 'pods' && subresources.some(({ name }) => name === 'resize'),
      ),
    );
    expect(served).toEqual([32, 33, 34, 35, 36]);
  });

  test.each<[string, Record<string, JsonValue | undefined>, Setting?]>([
    ['more of both', { [`${MAIN}.requests.cpu`]: '500m', [`${MAIN}.limits.memory`]: '1Gi' }],
    ['less of both', { [`${MAIN}.limits.cpu`]: '500m', [`${MAIN}.limits.memory`]: '64Mi' }],
    [
      'less memory in 1.32',
      { [`${MAIN}.limits.memory`]: '64Mi' },
      { minor: 32, gates: { InPlacePodVerticalScaling: true } },
    ],
    ['what a container did not ask for', { 'spec.containers.1.resources': { requests: { cpu: '1' } } }],
    [
      'a list of other resources before 1.35',
      { 'spec.containers.1.resources': { limits: { 'ephemeral-storage': '1Gi' } } },
      { minor: 34 },
    ],
    ['a sidecar', { 'spec.initContainers.0.resources.requests.cpu': '20m' }, { minor: 33 }],
    ['an init container', { 'spec.initContainers.1.resources.requests.cpu': '20m' }],
    [
      'on an agent that reports resources',
      { [`${MAIN}.requests.cpu`]: '2m' },
      { status: { containerStatuses: [{ name: 'main', state: { running: {} }, resources: {} }] } },
    ],
    [
      'before any container runs',
      { [`${MAIN}.requests.cpu`]: '2m' },
      { status: { containerStatuses: [{ name: 'main', state: { waiting: {} } }] } },
    ],
  ])('may bring %s', (_, changes, setting) => {
    expect(resize(POD, changes, setting).problems).toEqual([]);
  });

  test.each<[string, Record<string, JsonValue | undefined>, string[], Setting?, JsonObject?]>([
    [
      'another resource',
      {
        [`${MAIN}.limits`]: { cpu: '1', memory: '128Mi', 'example.com/gpu': '2' },
        [`${MAIN}.requests`]: { cpu: '1', memory: '1Mi', 'example.com/gpu': '2' },
      },
      [CPU_AND_MEMORY],
    ],
    [
      'a new resource',
      { 'spec.containers.1.resources': { requests: { 'ephemeral-storage': '1Gi' } } },
      [CPU_AND_MEMORY],
    ],
    [
      'a policy',
      { 'spec.containers.0.resizePolicy': [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
      [CPU_AND_MEMORY],
    ],
    [
      'a name',
      { 'spec.containers.1.name': 'another' },
      ['spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize'],
    ],
    [
      'another order of init containers',
      { 'spec.initContainers.0.name': 'init', 'spec.initContainers.1.name': 'side' },
      [0, 1].map(
        (index) =>
          `spec.initContainers[${index}].name: Forbidden: initContainers may not be renamed or reordered on resize`,
      ),
    ],
    [
      'a container more',
      {
        'spec.containers.2': {
          name: 'third',
          image: 'i',
          imagePullPolicy: 'Always',
          terminationMessagePolicy: 'File',
        },
      },
      ['spec.containers: Forbidden: containers may not be added or removed on resize'],
    ],
    [
      'no request',
      {
        [`${MAIN}.requests`]: { cpu: '100m', 'example.com/gpu': '1' },
        [`${MAIN}.limits`]: { cpu: '1', 'example.com/gpu': '1' },
      },
      [
        'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
        'spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed',
      ],
    ],
    [
      'a request above the limit',
      { [`${MAIN}.requests.cpu`]: '2' },
      [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    ],
    [
      'less memory in 1.33',
      { [`${MAIN}.limits.memory`]: '64Mi' },
      [
        'spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer',
      ],
      { minor: 33 },
    ],
    [
      'a limit of memory in 1.33',
      { 'spec.containers.1.resources': { limits: { memory: '1Gi' } } },
      [
        'spec.containers[1].resources.limits[memory]: Forbidden: memory limits cannot be added unless resizePolicy is RestartContainer',
      ],
      { minor: 33 },
    ],
    [
      'an init container before 1.36',
      { 'spec.initContainers.1.resources.requests.cpu': '20m' },
      ['spec: Forbidden: resources for non-sidecar init containers are immutable'],
      { minor: 35 },
    ],
    [
      'another resource of a sidecar',
      { 'spec.initContainers.0.resources.requests': { cpu: '1', memory: '1Mi', 'ephemeral-storage': '1' } },
      ['spec: Forbidden: only cpu and memory resources for sidecar containers are mutable'],
      { minor: 35 },
    ],
    [
      'another resource of a sidecar since 1.36',
      { 'spec.initContainers.0.resources.requests': { cpu: '1', memory: '1Mi', 'ephemeral-storage': '1' } },
      [
        'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
      ],
    ],
    [
      'an init container that would have to start again',
      { 'spec.initContainers.1.resources.requests.cpu': '20m' },
      [
        'spec.initContainers[1]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized',
      ],
      {},
      varyAll(POD, {
        'spec.initContainers.1.resizePolicy': [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
      }),
    ],
    [
      'anything of a container with devices',
      { [`${MAIN}.requests.cpu`]: '2m' },
      [CPU_AND_MEMORY],
      {},
      varyAll(POD, {
        'spec.resourceClaims': [{ name: 'a', resourceClaimName: 'b' }],
        [`${MAIN}.claims`]: [{ name: 'a' }],
      }),
    ],
    [
      'anything of a pod with claims to resources of its node',
      { [`${MAIN}.requests.cpu`]: '2m' },
      ['spec: Forbidden: pods with node allocatable resource claims cannot be resized'],
      { status: { nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: 'a' }] } },
    ],
    [
      'less than a pod states as a whole',
      { 'spec.resources.requests': { cpu: '1' } },
      ['spec.resources.requests: Forbidden: pod-level resource requests cannot be removed'],
      {},
      varyAll(POD, { 'spec.resources': { requests: { cpu: '1', memory: '1Gi' } } }),
    ],
    [
      'no resources of the pod as a whole',
      { 'spec.resources': undefined },
      ['spec.resources: Forbidden: pod-level resources cannot be removed'],
      {},
      varyAll(POD, { 'spec.resources': { requests: { cpu: '1', memory: '1Gi' } } }),
    ],
    [
      'anything on an agent that reports no resources',
      { [`${MAIN}.requests.cpu`]: '2m' },
      ['spec: Forbidden: Pod running on node without support for resize'],
      { status: { containerStatuses: [{ name: 'main', state: { running: {} } }] } },
    ],
    [
      'another class of service',
      { 'spec.containers.0.resources.requests.cpu': '1' },
      ['spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing'],
      {},
      { spec: { containers: [{ name: 'main', image: 'i' }] } },
    ],
    [
      'anything of a static pod',
      { [`${MAIN}.requests.cpu`]: '2m' },
      ['[]: Forbidden: static pods cannot be resized'],
      {},
      varyAll(POD, { 'metadata.annotations': { 'kubernetes.io/config.mirror': 'a' }, 'spec.nodeName': 'n' }),
    ],
    [
      'anything of a Windows pod',
      { [`${MAIN}.requests.cpu`]: '2m' },
      ['[]: Forbidden: windows pods cannot be resized'],
      {},
      varyAll(POD, { 'spec.os': { name: 'windows' } }),
    ],
    [
      'anything of a pod that states resources as a whole before 1.35',
      { [`${MAIN}.requests.cpu`]: '2m' },
      ['[]: Forbidden: pods with pod-level resources cannot be resized'],
      { minor: 34, status: UNABLE },
      varyAll(POD, { 'spec.resources': { requests: { cpu: '1', memory: '1Gi' } } }),
    ],
    [
      'anything of a pod that states resources as a whole without the feature, beside what else is wrong',
      { [`${MAIN}.requests.cpu`]: '2m' },
      [
        '[]: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled',
        'spec: Forbidden: Pod running on node without support for resize',
      ],
      { minor: 35, status: UNABLE },
      varyAll(POD, { 'spec.resources': { requests: { cpu: '1', memory: '1Gi' } } }),
    ],
    [
      'another resource of a sidecar since 1.36, also where other init containers stay as they are',
      { 'spec.initContainers.0.resources.requests': { cpu: '1', memory: '1Mi', 'ephemeral-storage': '1' } },
      [
        'spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable',
      ],
      { gates: { InPlacePodVerticalScalingInitContainers: false } },
    ],
    [
      'a list of other resources since 1.35',
      { 'spec.containers.1.resources': { limits: { 'ephemeral-storage': '1Gi' } } },
      [CPU_AND_MEMORY],
      { minor: 35 },
    ],
    [
      'other resources of the pod as a whole',
      {
        'spec.resources.requests': { cpu: '2', memory: '1Gi', 'hugepages-2Mi': '2Mi' },
        'spec.resources.limits': { 'hugepages-2Mi': '2Mi' },
      },
      ['spec: Forbidden: only cpu and memory resources are mutable at pod-level'],
      {},
      varyAll(POD, { 'spec.resources': { requests: { cpu: '1', memory: '1Gi' } } }),
    ],
  ])('may not bring %s', (_, changes, problems, setting = {}, manifest = POD) => {
    expect(resize(manifest, changes, setting).problems).toEqual(problems);
  });

  test('drops everything else that the body says', () => {
    const { pod, problems } = resize(POD, {
      'spec.containers.0.image': 'another',
      'spec.nodeName': 'n',
      'metadata.labels': { a: 'b' },
      'status.phase': 'Running',
      [`${MAIN}.requests.cpu`]: '200m',
    });
    expect(problems).toEqual([]);
    expect(pod).toMatchObject({
      spec: { containers: [{ image: 'i', resources: { requests: { cpu: '200m' } } }, { name: 'other' }] },
      status: { phase: 'Pending' },
    });
    expect(pod.spec?.nodeName).toBeUndefined();
    expect(pod.metadata.labels).toBeUndefined();
  });

  test('requests what it limits, as a new pod does', () => {
    const { pod } = resize(POD, { 'spec.containers.1.resources': { limits: { cpu: '1500u' } } });
    expect(pod.spec?.containers?.[1]?.resources).toEqual({ limits: { cpu: '2m' }, requests: { cpu: '2m' } });
  });

  test('resizes a pod as a whole since 1.36', () => {
    const whole = varyAll(POD, { 'spec.resources': { requests: { cpu: '1', memory: '1Gi' } } });
    const { pod, problems } = resize(whole, { 'spec.resources.requests.cpu': '2' });
    expect(problems).toEqual([]);
    expect(pod.spec?.resources?.requests).toEqual({ cpu: '2', memory: '1Gi' });
  });

  test('leaves sidecars as they are in 1.32, and tells the agent in the status', () => {
    const setting: Setting = {
      minor: 32,
      gates: { InPlacePodVerticalScaling: true },
      status: { containerStatuses: [{ name: 'main', allocatedResources: { cpu: '100m' } }] },
    };
    const { pod } = resize(
      POD,
      { [`${MAIN}.requests.cpu`]: '200m', 'spec.initContainers.0.resources.requests.cpu': '1' },
      setting,
    );
    expect(pod.status?.resize).toBe('Proposed');
    expect(pod.spec?.initContainers?.[0]?.resources?.requests).toEqual({ cpu: '10m', memory: '1Mi' });
    expect(
      resize(POD, { [`${MAIN}.requests.cpu`]: '200m' }, { ...setting, minor: 33 }).pod.status?.resize,
    ).toBeUndefined();
  });
});

describe('the resources of a pod', () => {
  const larger = { [`${MAIN}.requests.cpu`]: '200m' };
  const gates = { InPlacePodVerticalScaling: true };

  test('change with the pod itself in 1.31, and by a resize alone in later versions', () => {
    const problems = MINORS.map(
      (minor) => manifestsIn(minor, gates).problemsOnUpdate(pods, POD, varyAll(POD, larger)).length,
    );
    expect(problems).toEqual([0, 1, 1, 1, 1, 1]);
  });

  test('have a stated policy until 1.32, and an implied one since', () => {
    const stated = MINORS.map((minor) => {
      const { spec } = manifestsIn(minor, gates).created(pods, POD) as Pod;
      return spec?.containers?.[0]?.resizePolicy?.length ?? 0;
    });
    expect(stated).toEqual([2, 2, 0, 0, 0, 0]);
  });

  test('may have a policy in init containers since 1.33', () => {
    const policy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }];
    const problems = MINORS.map(
      (minor) =>
        manifestsIn(minor, gates).problemsOnCreate(
          pods,
          varyAll(POD, { 'spec.initContainers.0.resizePolicy': policy }),
        ).length,
    );
    expect(problems).toEqual([1, 1, 0, 0, 0, 0]);
  });
});

describe('the generation of a pod', () => {
  const generationAfter = (changes: Record<string, JsonValue | undefined>, minor: Minor): unknown => {
    const isOn = gatesIn(minor, {});
    const types = typesIn(minor);
    const old: ApiObject = {
      ...manifestsIn(minor).created(pods, POD),
      metadata: { name: 'it', generation: 1 },
    };
    const object = varyAll(old, changes) as ApiObject;
    const preparation = new Preparation({
      types,
      gatedFields: new GatedFields(isOn, types),
      isFeatureOn: isOn,
    });
    preparation.beforeUpdate({ definition: pods } as never, {}, object, old);
    return object.metadata.generation;
  };

  test('counts changes of its spec since 1.33', () => {
    expect(MINORS.map((minor) => generationAfter({ 'spec.activeDeadlineSeconds': 5 }, minor))).toEqual([
      1, 1, 2, 2, 2, 2,
    ]);
  });

  test.each([
    ['labels', { 'metadata.labels': { a: 'b' } }],
    ['a status', { 'status.phase': 'Running' }],
    ['its placement', { 'spec.nodeName': 'n' }],
  ])('does not count %s', (_, changes) => {
    expect(generationAfter(changes, 36)).toBe(1);
  });

  test('counts a resize', () => {
    expect(resize(POD, { [`${MAIN}.requests.cpu`]: '200m' }).pod.metadata.generation).toBe(2);
    expect(resize(POD, {}).pod.metadata.generation).toBe(1);
  });

  test('that was observed stays when a writer of the status leaves it out', () => {
    const condition = (type: string, observedGeneration?: number): JsonObject => ({
      type,
      status: 'True',
      ...(observedGeneration === undefined ? {} : { observedGeneration }),
    });
    const made = manifestsIn(36).created(pods, POD);
    const old = {
      ...made,
      status: { observedGeneration: 3, conditions: [condition('Ready', 2), condition('a/b', 3)] },
    };
    const written = (status: JsonObject): unknown =>
      viewOf('status').write({ ...structuredClone(old), status }, structuredClone(old)).status;
    expect(written({ conditions: [condition('a/b'), condition('Ready', 4), condition('New')] })).toEqual({
      observedGeneration: 3,
      conditions: [condition('a/b', 3), condition('Ready', 4), condition('New')],
    });
    expect(written({ observedGeneration: 4, conditions: [] })).toEqual({
      observedGeneration: 4,
      conditions: [],
    });
  });
});
