import { expect, test } from 'vitest';
import { LegacyTokenCleaning } from '../../../src/controllers/cleaning/unused-tokens.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { secrets } from '../../../src/resources/core/secret.ts';
import { serviceaccounts } from '../../../src/resources/core/service-account.ts';
import { pods } from '../../../src/resources/pod/definition.ts';
import { createTestClient } from '../../kit/client.ts';

const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since';
const NOW = '2026-02-02T12:00:00Z';

interface Cluster {
  readonly trackedSince?: string;
  readonly labels?: Record<string, string>;
  readonly createdAt?: string;
  /** What the service account names. */
  readonly names?: readonly string[];
  /** What a pod mounts. */
  readonly mounted?: string;
}

/** What one pass does with a token that has not been used. */
async function clean({ trackedSince = '2024-12-31', labels = {}, names = ['token'], ...more }: Cluster = {}) {
  const { client, store } = createTestClient({ definitions: [configmaps, secrets, serviceaccounts, pods] });
  store.put('', 'configmaps', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' },
    data: { since: trackedSince },
  });
  store.put('', 'serviceaccounts', {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    metadata: { namespace: 'default', name: 'builder' },
    secrets: names.map((name) => ({ name })),
  });
  store.put('', 'secrets', {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: {
      ...{
        namespace: 'default',
        name: 'token',
        labels,
        creationTimestamp: more.createdAt ?? '2020-01-01T00:00:00Z',
      },
      annotations: {
        'kubernetes.io/service-account.name': 'builder',
        'kubernetes.io/service-account.uid': 'uid-of-builder',
      },
    },
    type: 'kubernetes.io/service-account-token',
    data: {},
  });
  store.put('', 'pods', {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { namespace: 'default', name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', secret: { secretName: more.mounted ?? 'other' } }],
    },
  });
  store.catchUp();
  const cleaning = new LegacyTokenCleaning({
    client,
    now: () => new Date(NOW),
    onError: (error) => {
      throw error;
    },
  });
  await cleaning.clean(new AbortController().signal);
  return store.commits.map(({ verb, json }) => [
    verb,
    JSON.parse(json.toString()).metadata.labels?.[INVALID_SINCE],
  ]);
}

test('a token that was not used for a year is marked first', async () => {
  expect(await clean()).toEqual([['update', '2026-02-02']]);
  expect(await clean({ labels: { [LAST_USED]: '2025-02-01' } })).toEqual([['update', '2026-02-02']]);
  expect(await clean({ labels: { [INVALID_SINCE]: 'soon' } })).toEqual([['update', '2026-02-02']]);
});

test('a token that was marked a year ago is deleted', async () => {
  expect(await clean({ labels: { [INVALID_SINCE]: '2025-02-01' } })).toEqual([['delete', '2025-02-01']]);
  expect(await clean({ labels: { [INVALID_SINCE]: '2025-02-02' } })).toEqual([]);
});

test('nothing is known of use before it was recorded, so everything stays for a year', async () => {
  expect(await clean({ trackedSince: '2025-02-01' })).toEqual([['update', '2026-02-02']]);
  expect(await clean({ trackedSince: '2025-02-02' })).toEqual([]);
  expect(await clean({ trackedSince: 'once' })).toEqual([]);
});

test('tokens that are used, young or made by hand stay', async () => {
  expect(await clean({ labels: { [LAST_USED]: '2025-02-02' } })).toEqual([]);
  expect(await clean({ labels: { [LAST_USED]: 'yesterday' } })).toEqual([]);
  expect(await clean({ createdAt: '2025-02-02T12:00:00Z' })).toEqual([]);
  expect(await clean({ names: [] })).toEqual([]);
  expect(await clean({ mounted: 'token' })).toEqual([]);
});
