import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ServerStorageVersion } from '../../../src/api/types/apiserverinternal/v1alpha1.ts';
import {
  STORAGE_VERSIONS,
  StorageVersionCleaning,
  StorageVersionUpdates,
  withServer,
} from '../../../src/controllers/migration/storage-versions.ts';
import { storageversions } from '../../../src/resources/apiserverinternal/storage-version.ts';
import { horizontalpodautoscalers } from '../../../src/resources/autoscaling/horizontal-pod-autoscaler/definition.ts';
import { leases } from '../../../src/resources/coordination/lease.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { subjectaccessreviews } from '../../../src/resources/reviews.ts';
import { validateObject } from '../../../src/verbs/writing/prepare-write.ts';
import { createTestClient } from '../../kit/client.ts';

const TIME = '2026-02-02T00:00:00Z';
const LATER = '2026-02-02T01:00:00Z';
const says = (apiServerID: string, encodingVersion = 'v1'): ServerStorageVersion => ({
  apiServerID,
  encodingVersion,
  decodableVersions: ['v1', 'v2'],
  servedVersions: ['v1'],
});
const agreed = (lastTransitionTime = TIME) => ({
  type: 'AllEncodingVersionsEqual',
  status: 'True',
  lastTransitionTime,
  reason: 'CommonEncodingVersionSet',
  message: 'Common encoding version set',
});

test('servers that store in one version agree, and others do not', () => {
  const one = withServer({}, says('a'), TIME);
  expect(one).toEqual({ storageVersions: [says('a')], commonEncodingVersion: 'v1', conditions: [agreed()] });
  const two = withServer(one, says('b'), LATER);
  expect(two.storageVersions).toEqual([says('a'), says('b')]);
  expect(two.conditions).toEqual([agreed()]);
  const apart = withServer(two, says('b', 'v2'), LATER);
  expect(apart.commonEncodingVersion).toBeUndefined();
  expect(apart.conditions).toEqual([
    {
      type: 'AllEncodingVersionsEqual',
      status: 'False',
      lastTransitionTime: LATER,
      reason: 'CommonEncodingVersionUnset',
      message: 'Common encoding version unset',
    },
  ]);
  expect(withServer(two, says('b'), LATER)).toBe(two);
});

test('agreement on another version is since now', () => {
  const moved = withServer(withServer({}, says('a'), TIME), says('a', 'v2'), LATER);
  expect(moved.commonEncodingVersion).toBe('v2');
  expect(moved.conditions).toEqual([agreed(LATER)]);
});

const all = [storageversions, leases, configmaps, horizontalpodautoscalers, subjectaccessreviews];
const parts = { now: () => new Date(TIME), onError: () => {} };

test('a server says of everything that it stores in which versions it does', async () => {
  const { client, registry, store } = createTestClient({ definitions: all });
  const updates = new StorageVersionUpdates({ ...parts, client, registry, server: 'apiserver-a' });
  await updates.update();
  const said = await client.list(STORAGE_VERSIONS);
  expect(said.map(({ metadata }) => metadata.name).sort()).toEqual([
    'autoscaling.horizontalpodautoscalers',
    'coordination.k8s.io.leases',
    'core.configmaps',
    'internal.apiserver.k8s.io.storageversions',
  ]);
  const scalers = said.find(({ metadata }) => metadata.name === 'autoscaling.horizontalpodautoscalers');
  expect(scalers?.status?.storageVersions).toEqual([
    {
      apiServerID: 'apiserver-a',
      encodingVersion: 'autoscaling/v2',
      decodableVersions: ['autoscaling/v2', 'autoscaling/v1'],
      servedVersions: ['autoscaling/v2', 'autoscaling/v1'],
    },
  ]);
  const [view] = storageversions.subresources;
  for (const object of said) {
    expect(validateObject(storageversions, object, loadTypes())).toEqual([]);
    expect(view?.access === 'view' ? view.validate?.(object, object) : undefined).toEqual([]);
  }
  store.catchUp();
  const before = store.commits.length;
  await updates.update();
  expect(store.commits.length).toBe(before);
});

test('entries of servers whose lease is gone are removed, and versions without entries too', async () => {
  const { client, store } = createTestClient({ definitions: all });
  const put = (name: string, ...servers: string[]): void =>
    store.put('internal.apiserver.k8s.io', 'storageversions', {
      kind: 'StorageVersion',
      apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
      metadata: { name },
      spec: {},
      status: {
        storageVersions: servers.map((id) => says(id, id === 'here' ? 'v1' : 'v2')),
      },
    });
  put('core.both', 'here', 'gone');
  put('core.lost', 'gone', 'too');
  put('core.fine', 'here');
  put('core.empty');
  store.put('coordination.k8s.io', 'leases', {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { namespace: 'kube-system', name: 'here' },
  });
  await new StorageVersionCleaning({ ...parts, client }).clean();
  const left = await client.list(STORAGE_VERSIONS);
  expect(left.map(({ metadata, status }) => [metadata.name, status?.storageVersions ?? []])).toEqual([
    ['core.both', [says('here')]],
    ['core.fine', [says('here')]],
    ['core.empty', []],
  ]);
  expect(left[0]?.status?.commonEncodingVersion).toBe('v1');
});
