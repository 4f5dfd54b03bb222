import { expect, test } from 'vitest';
import type { ApiObject } from '../../../src/api/object-meta.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/api/types/core/v1.ts';
import type { PodGroup } from '../../../src/api/types/scheduling/v1alpha2.ts';
import type { VolumeAttributesClass } from '../../../src/api/types/storage/v1beta1.ts';
import type { DueRule } from '../../../src/controllers/cleaning/due-objects.ts';
import {
  podsOfLostNodes,
  unboundVolumes,
  unusedAttributesClasses,
  unusedClaims,
  unusedPodGroups,
} from '../../../src/controllers/cleaning/ending-objects.ts';
import { nodes } from '../../../src/resources/core/node.ts';
import { persistentvolumes } from '../../../src/resources/core/persistent-volume/definition.ts';
import { persistentvolumeclaims } from '../../../src/resources/core/persistent-volume-claim/definition.ts';
import { pods } from '../../../src/resources/pod/definition.ts';
import { podgroups } from '../../../src/resources/scheduling/pod-group.ts';
import { volumeattributesclasses } from '../../../src/resources/storage/volume-attributes-class.ts';
import { createTestClient } from '../../kit/client.ts';

const AT = '2026-02-02T00:00:00Z';

const GROUPS: Readonly<Record<string, string>> = {
  podgroups: 'scheduling.k8s.io',
  volumeattributesclasses: 'storage.k8s.io',
};
const groupOf = (resource: string): string => GROUPS[resource] ?? '';

function begin() {
  const { client, store } = createTestClient({
    definitions: [nodes, persistentvolumes, persistentvolumeclaims, podgroups, pods, volumeattributesclasses],
    minor: 36,
  });
  return {
    put: (resource: string, object: object): void =>
      store.put(groupOf(resource), resource, object as ApiObject),
    /** What the rule does with the object as it is, and what it has written. */
    act: async <T extends ApiObject>(rule: DueRule<T>) => {
      const [entry] = await client.entries(rule.resource, {});
      if (entry === undefined) throw new Error(`there are no ${rule.resource.resource}`);
      expect(rule.mayBeDue(entry)).toBe(true);
      const againMs = await rule.act(entry, client);
      return { againMs, writes: store.commits.splice(0).map(({ verb, key }) => `${verb} ${key.name}`) };
    },
    isThere: async (resource: string): Promise<boolean> =>
      (await client.entries({ group: groupOf(resource), resource }, {})).length > 0,
  };
}

const ending = (more: object) => ({
  ...{ name: 'a', namespace: 'default', deletionTimestamp: AT, deletionGracePeriodSeconds: 0 },
  ...more,
});
const claim = (more: object = {}) =>
  ({
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    metadata: ending({ finalizers: ['kubernetes.io/pvc-protection'], ...more }),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }) as PersistentVolumeClaim;
const pod = (spec: object, metadata: object = { name: 'p', namespace: 'default' }) =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata,
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  }) as Pod;
const MOUNTED = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }] };

test('a claim that no pod uses goes when it is deleted', async () => {
  const { put, act, isThere } = begin();
  put('persistentvolumeclaims', claim());
  put('pods', pod(MOUNTED));
  put('pods', pod({ ...MOUNTED, nodeName: 'n' }, { name: 'p', namespace: 'elsewhere' }));
  expect(unusedClaims.dueAt(claim())).toBe(0);
  expect(await act(unusedClaims)).toEqual({ againMs: undefined, writes: ['delete a'] });
  expect(await isThere('persistentvolumeclaims')).toBe(false);
});

test('a group of pods that is deleted goes once no running pod names it', async () => {
  const { put, act, isThere } = begin();
  const metadata = ending({ finalizers: ['scheduling.k8s.io/podgroup-protection'] });
  const group = {
    kind: 'PodGroup',
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    metadata,
    spec: {},
  } as PodGroup;
  const member = pod({ schedulingGroup: { podGroupName: 'a' } });
  put('podgroups', group);
  put('pods', member);
  put('pods', pod({ schedulingGroup: { podGroupName: 'b' } }, { name: 'other', namespace: 'default' }));
  expect(unusedPodGroups.dueAt(group)).toBe(0);
  expect(
    unusedPodGroups.dueAt({ ...group, metadata: { ...metadata, finalizers: ['example.com/mine'] } }),
  ).toBeUndefined();
  expect(await act(unusedPodGroups)).toEqual({ againMs: 5000, writes: [] });
  put('pods', { ...member, status: { phase: 'Succeeded' } });
  expect(await act(unusedPodGroups)).toEqual({ againMs: undefined, writes: ['delete a'] });
  expect(await isThere('podgroups')).toBe(false);
});

test.each([
  ['persistentvolumeclaims', { ...claim(), spec: { ...claim().spec, volumeAttributesClassName: 'a' } }],
  ['persistentvolumeclaims', { ...claim(), status: { currentVolumeAttributesClassName: 'a' } }],
  [
    'persistentvolumeclaims',
    {
      ...claim(),
      status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'a', status: 'Pending' } },
    },
  ],
  [
    'persistentvolumes',
    {
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: { name: 'v' },
      spec: { volumeAttributesClassName: 'a' },
    },
  ],
])('a class of attributes that is deleted goes once no %s names it: %j', async (resource, user) => {
  const attributes = {
    kind: 'VolumeAttributesClass',
    apiVersion: 'storage.k8s.io/v1',
    metadata: ending({ namespace: '', finalizers: ['kubernetes.io/vac-protection'] }),
    driverName: 'example.com',
    parameters: { iops: '1' },
  } as VolumeAttributesClass;
  const { put, act, isThere } = begin();
  put('volumeattributesclasses', attributes);
  expect(unusedAttributesClasses.dueAt(attributes)).toBe(0);
  put(resource, user);
  expect(await act(unusedAttributesClasses)).toEqual({ againMs: 5000, writes: [] });
  put(
    resource,
    JSON.parse(JSON.stringify(user).replaceAll('AttributesClassName":"a"', 'AttributesClassName":"b"')),
  );
  expect(await act(unusedAttributesClasses)).toEqual({ againMs: undefined, writes: ['delete a'] });
  expect(await isThere('volumeattributesclasses')).toBe(false);
});

test('a claim stays while a pod on a node uses it, and is looked at again', async () => {
  const { put, act } = begin();
  put('persistentvolumeclaims', claim());
  put('pods', pod({ ...MOUNTED, nodeName: 'n' }));
  expect(await act(unusedClaims)).toEqual({ againMs: 5000, writes: [] });
});

test('the claim of an ephemeral volume stays until its pod is shut down', async () => {
  const { put, act } = begin();
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-of-p', controller: true }];
  put('persistentvolumeclaims', claim({ name: 'p-v', ownerReferences }));
  const spec = { nodeName: 'n', volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: {} } }] };
  put('pods', pod(spec));
  expect(await act(unusedClaims)).toEqual({ againMs: 5000, writes: [] });
  put('pods', pod(spec, ending({ name: 'p', finalizers: ['example.com/wait'] })));
  expect(await act(unusedClaims)).toEqual({ againMs: undefined, writes: ['delete p-v'] });
});

test('other finalizers stay', async () => {
  const { put, act, isThere } = begin();
  const finalizers = ['example.com/mine', 'kubernetes.io/pvc-protection'];
  put('persistentvolumeclaims', claim({ finalizers }));
  expect(await act(unusedClaims)).toEqual({ againMs: undefined, writes: ['update a'] });
  expect(await isThere('persistentvolumeclaims')).toBe(true);
});

test('claims and volumes that are not being deleted keep their protection', () => {
  const { deletionTimestamp: _, ...metadata } = claim().metadata;
  expect(unusedClaims.dueAt({ ...claim(), metadata })).toBeUndefined();
  expect(unusedClaims.dueAt(claim({ finalizers: ['example.com/mine'] }))).toBeUndefined();
});

test('a volume goes when no claim has it', async () => {
  const volume = (phase: string) =>
    ({
      kind: 'PersistentVolume',
      apiVersion: 'v1',
      metadata: ending({ namespace: '', finalizers: ['kubernetes.io/pv-protection'] }),
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
      status: { phase },
    }) as PersistentVolume;
  expect(unboundVolumes.dueAt(volume('Bound'))).toBeUndefined();
  expect(unboundVolumes.dueAt(volume('Released'))).toBe(0);
  const { put, act, isThere } = begin();
  put('persistentvolumes', volume('Released'));
  expect(await act(unboundVolumes)).toEqual({ againMs: undefined, writes: ['delete a'] });
  expect(await isThere('persistentvolumes')).toBe(false);
});

test('a pod that is to end goes when its node is gone, and never while there is one', async () => {
  const lost = pod({ nodeName: 'n' }, ending({ deletionGracePeriodSeconds: 30 }));
  expect(podsOfLostNodes.dueAt(lost)).toBe(Date.parse(AT) + 40_000);
  expect(podsOfLostNodes.dueAt(pod({}, ending({})))).toBeUndefined();
  const { put, act, isThere } = begin();
  put('nodes', { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } });
  put('pods', lost);
  expect(await act(podsOfLostNodes)).toEqual({ againMs: 20_000, writes: [] });
  put('pods', { ...lost, spec: { ...lost.spec, nodeName: 'other' } });
  expect(await act(podsOfLostNodes)).toEqual({ againMs: undefined, writes: ['delete a'] });
  expect(await isThere('pods')).toBe(false);
});
