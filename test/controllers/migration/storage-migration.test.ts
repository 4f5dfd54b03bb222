import { expect, test } from 'vitest';
import type { StorageVersionMigration } from '../../../src/api/types/storagemigration/v1alpha1.ts';
import {
  MIGRATIONS,
  storageMigrations,
  withOutcome,
} from '../../../src/controllers/migration/storage-migration.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { storageversionmigrations } from '../../../src/resources/storagemigration/storage-version-migration.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry } from '../../../src/storage/store.ts';
import { createTestClient } from '../../kit/client.ts';

const TIME = '2026-02-02T00:00:00Z';
const NOW = new Date(TIME);

function setUp(resource: string, createdAt = TIME) {
  const made = createTestClient({ definitions: [configmaps, storageversionmigrations], minor: 36 });
  const { client, store, registry } = made;
  store.put('storagemigration.k8s.io', 'storageversionmigrations', {
    kind: 'StorageVersionMigration',
    apiVersion: 'storagemigration.k8s.io/v1alpha1',
    metadata: { name: 'm', creationTimestamp: createdAt },
    spec: { resource: { group: '', version: 'v1', resource } },
  });
  const rule = storageMigrations({ registry, now: () => NOW, onError: () => {} });
  const act = async () => {
    const [entry] = await client.entries(MIGRATIONS);
    return rule.act(entry as Entry, client);
  };
  const read = () => client.get(MIGRATIONS, { name: 'm' });
  return { ...made, rule, act, read };
}

const outcomes = (migration: StorageVersionMigration | undefined): unknown[] =>
  (migration?.status?.conditions ?? []).map(({ type, status, reason, message }) => [
    type,
    status,
    reason,
    ...(message === undefined ? [] : [message]),
  ]);

test('what is stored in an old form is written again, and the rest is left alone', async () => {
  const { store, act, read, rule, client } = setUp('configmaps');
  const map = (name: string) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { namespace: 'default', name },
  });
  store.put('', 'configmaps', map('old'));
  store.put('', 'configmaps', map('new'));
  const [old] = await client.entries({ group: '', resource: 'configmaps' });
  Object.defineProperty(old, 'isOutdated', { value: true });
  expect(await act()).toBeUndefined();
  const written = store.commits.filter(({ key }) => key.resource === 'configmaps');
  expect(written.map(({ verb, key }) => [verb, key.name])).toEqual([['update', 'old']]);
  const done = await read();
  expect(outcomes(done)).toEqual([
    ['Running', 'False', 'StorageVersionMigrationInProgress'],
    ['Succeeded', 'True', 'StorageVersionMigrationSucceeded'],
  ]);
  expect(done?.status?.resourceVersion).toBe(String(toRevision(1)));
  expect(rule.dueAt(done as StorageVersionMigration)).toBeUndefined();
});

test('a resource that is not served may still come, but not for ever', async () => {
  const young = setUp('widgets');
  expect(await young.act()).toBe(5000);
  expect(outcomes(await young.read())).toEqual([]);
  const old = setUp('widgets', '2026-02-01T23:58:00Z');
  expect(await old.act()).toBeUndefined();
  expect(outcomes(await old.read())).toEqual([
    ['Failed', 'True', 'StorageVersionMigrationFailed', 'resource not found'],
  ]);
});

test('a migration that met an error has failed', async () => {
  const { store, act, read } = setUp('configmaps');
  store.put('', 'configmaps', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { namespace: 'default', name: 'a' },
    data: { 'no key': '' },
  });
  expect(await act()).toBeUndefined();
  expect(outcomes(await read())).toEqual([
    ['Running', 'False', 'StorageVersionMigrationInProgress'],
    ['Failed', 'True', 'StorageVersionMigrationFailed', 'migration encountered unhandled error'],
  ]);
});

test('a migration that was begun and not ended is begun anew', () => {
  const running = withOutcome([], 'Running', { time: TIME, message: '' });
  const again = withOutcome(running, 'Running', { time: '2026-02-03T00:00:00Z', message: '' });
  expect(again).toEqual([{ ...running[0], lastUpdateTime: '2026-02-03T00:00:00Z' }]);
  const { rule } = setUp('configmaps');
  expect(rule.dueAt({ status: { conditions: again } } as StorageVersionMigration)).toBe(0);
});
