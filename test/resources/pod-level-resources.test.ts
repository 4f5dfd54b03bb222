import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { Job } from '../../src/api/types/batch/v1.ts';
import type { Pod } from '../../src/api/types/core/v1.ts';
import { heldResources, podResources } from '../../src/object/pod-resources.ts';
import { qosClass } from '../../src/object/pod-spec.ts';
import { fromResourceList } from '../../src/object/resource-list.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { manifestsIn } from '../kit/manifests.ts';

/** What a pod states for all of its containers together (feature PodLevelResources). */

const gates = { PodLevelResources: true };
const of36 = manifestsIn(36);

const podWith = (resources: JsonValue, ...ofContainers: JsonObject[]): JsonObject => ({
  spec: {
    resources,
    containers: (ofContainers.length === 0 ? [{}] : ofContainers).map((own, at) => ({
      name: `c${at}`,
      image: 'i',
      resources: own,
    })),
  },
});

const storedOf = (manifest: JsonObject, minor: Minor = 36): Pod['spec'] =>
  (manifestsIn(minor, gates).created(pods, manifest) as Pod).spec;

test('is there since 1.32, and on by default since 1.34', () => {
  const manifest = podWith({ requests: { cpu: '1' } });
  const has = (minor: Minor): boolean =>
    (manifestsIn(minor).created(pods, manifest) as Pod).spec?.resources !== undefined;
  expect(MINORS.filter(has)).toEqual([34, 35, 36]);
  expect(MINORS.filter((minor) => storedOf(manifest, minor)?.resources !== undefined)).toEqual([
    32, 33, 34, 35, 36,
  ]);
});

describe('defaults', () => {
  test.each<[string, JsonObject, JsonObject[], JsonObject]>([
    [
      'nothing without limits',
      { requests: { cpu: '1' } },
      [{ requests: { memory: '1Gi' } }],
      { requests: { cpu: '1' } },
    ],
    [
      'requests of its limits',
      { limits: { cpu: '2', memory: '1Gi' } },
      [],
      { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '2', memory: '1Gi' } },
    ],
    [
      'requests of its containers',
      { limits: { cpu: '2' } },
      [
        {
          requests: { cpu: '500m', memory: '1Gi', 'example.com/gpu': '1' },
          limits: { 'example.com/gpu': '1' },
        },
        { requests: { cpu: '500m' } },
      ],
      { limits: { cpu: '2' }, requests: { cpu: '1', memory: '1Gi' } },
    ],
    [
      'huge pages of its containers',
      { requests: { cpu: '1' } },
      [{ requests: { cpu: '1' }, limits: { 'hugepages-2Mi': '4Mi' } }],
      { limits: { 'hugepages-2Mi': '4Mi' }, requests: { cpu: '1', 'hugepages-2Mi': '4Mi' } },
    ],
  ])('of a pod are %s', (_, resources, ofContainers, stored) => {
    expect(storedOf(podWith(resources, ...ofContainers))?.resources).toEqual(stored);
  });

  test('leave templates as they are', () => {
    const template = podWith({ limits: { cpu: '2' } });
    const { spec } = of36.created(jobs, { spec: { template } }) as Job;
    expect(spec?.template?.spec?.resources).toEqual({ limits: { cpu: '2' } });
  });
});

describe('rules', () => {
  test.each<[string, JsonObject, JsonObject[], string[], Minor?]>([
    [
      'enough for all',
      { requests: { cpu: '1' }, limits: { cpu: '2' } },
      [{ requests: { cpu: '1' }, limits: { cpu: '2' } }],
      [],
    ],
    [
      'other resources of containers',
      { requests: { cpu: '1' } },
      [{ requests: { cpu: '1', 'ephemeral-storage': '1Gi' } }],
      [],
    ],
    [
      'claims',
      { claims: [{ name: 'a' }] },
      [],
      ['spec.resources.claims: Forbidden: claims cannot be set for Resources at pod-level'],
    ],
    [
      'resources that pods do not have',
      { requests: { 'ephemeral-storage': '1Gi' } },
      [],
      [
        'spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
      ],
    ],
    [
      'huge pages before 1.34',
      { limits: { cpu: '1', 'hugepages-2Mi': '2Mi' } },
      [],
      [
        'spec.resources.limits[hugepages-2Mi]: Unsupported value: "hugepages-2Mi": supported values: "cpu", "memory"',
        'spec.resources.requests[hugepages-2Mi]: Unsupported value: "hugepages-2Mi": supported values: "cpu", "memory"',
      ],
      33,
    ],
    [
      'more than its limit',
      { requests: { cpu: '2' }, limits: { cpu: '1' } },
      [],
      ['spec.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      'less than its containers request',
      { requests: { cpu: '1' } },
      [{ requests: { cpu: '600m' } }, { requests: { cpu: '600m', memory: '1Gi' } }],
      [
        'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1200m',
      ],
    ],
    [
      'a container with more than the pod',
      { limits: { cpu: '1' } },
      [{ limits: { cpu: '2' }, requests: { cpu: '1' } }],
      [
        'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
      ],
    ],
  ])('of %s', (_, resources, ofContainers, problems, minor = 36) => {
    expect(manifestsIn(minor, gates).problemsOnCreate(pods, podWith(resources, ...ofContainers))).toEqual(
      problems,
    );
  });

  test('refuse them for Windows', () => {
    const manifest = podWith({ requests: { cpu: '1' } });
    expect(
      of36.problemsOnCreate(pods, { spec: { ...(manifest.spec as JsonObject), os: { name: 'windows' } } }),
    ).toEqual(['spec.resources: Forbidden: may not be set for a windows pod']);
  });
});

test('decides the class of service in place of the containers', () => {
  const classOf = (resources: JsonObject, own: JsonObject = {}): string =>
    qosClass(podWith(resources, own).spec as Pod['spec'] & object);
  const all = { cpu: '1', memory: '1Gi' };
  expect(classOf({ requests: all, limits: all })).toBe('Guaranteed');
  expect(classOf({ requests: { cpu: '1' } }, { requests: all, limits: all })).toBe('Burstable');
  expect(classOf({}, { requests: all, limits: all })).toBe('BestEffort');
});

test('counts in place of the sum of the containers', () => {
  const { spec = {} } = podWith(
    { requests: { cpu: '2' } },
    { requests: { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' } },
  ) as Pod;
  expect(fromResourceList(podResources(spec, 'requests'))).toEqual({
    cpu: '2',
    memory: '1Gi',
    'example.com/gpu': '1',
  });
});

test('a pod holds the larger of its requests and what its node has set aside', () => {
  const { spec = {} } = podWith(
    {},
    { requests: { cpu: '1' }, limits: { cpu: '1' } },
    { requests: { cpu: '1' } },
  ) as Pod;
  const containerStatuses = [
    {
      name: 'c0',
      allocatedResources: { cpu: '2' },
      resources: { requests: { cpu: '1500m' }, limits: { cpu: '3' } },
    },
    { name: 'c1', allocatedResources: { cpu: '500m' } },
  ];
  const held = (status: Pod['status'] & object, of: 'requests' | 'limits') =>
    fromResourceList(heldResources({ kind: 'Pod', apiVersion: 'v1', metadata: {}, spec, status }, of));
  expect(held({ containerStatuses }, 'requests')).toEqual({ cpu: '3' });
  expect(held({ containerStatuses }, 'limits')).toEqual({ cpu: '3' });
  expect(held({}, 'requests')).toEqual({ cpu: '2' });
  const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
  expect(held({ containerStatuses, conditions }, 'requests')).toEqual({ cpu: '2500m' });
});
