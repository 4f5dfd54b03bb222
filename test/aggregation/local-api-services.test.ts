import { expect, test } from 'vitest';
import { LocalApiServices } from '../../src/aggregation/local-api-services.ts';
import { API_SERVICES } from '../../src/aggregation/managed-api-services.ts';
import type { APIService } from '../../src/api/types/apiregistration/v1.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { createTestClient, type LaggingStore } from '../kit/client.ts';

/** API services of the server's own group versions, when it starts. */

const LABEL = 'kube-aggregator.kubernetes.io/automanaged';

function createServer() {
  const { client, store, registry } = createTestClient({ definitions: BUILT_IN_RESOURCES });
  const onError = (error: unknown): never => {
    throw error;
  };
  const start = async (): Promise<void> => {
    store.catchUp();
    await new LocalApiServices({ client, registry, now: () => new Date(0), onError }).begin();
  };
  return { client, store, registry, start };
}

const written = (store: LaggingStore): string[] =>
  store.commits.splice(0).map(({ verb, key }) => `${verb} ${key.name}`);

const apiService = (group: string, label: string | undefined, spec: object = {}): APIService => ({
  ...{ kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1' },
  metadata: { name: `v1.${group}`, ...(label === undefined ? {} : { labels: { [LABEL]: label } }) },
  spec: { group, version: 'v1', groupPriorityMinimum: 10, versionPriority: 10, ...spec },
});

test('the first start makes one for each group version, and the next one writes nothing', async () => {
  const { store, registry, start } = createServer();
  await start();
  const made = written(store);
  const served = registry
    .groups()
    .flatMap(({ group, versions }) => versions.map((one) => `create ${one}.${group}`));
  expect(made.sort()).toEqual(served.filter((one) => one !== 'create v1.apiregistration.k8s.io').sort());
  await start();
  expect(written(store)).toEqual([]);
});

test('a start mends what is managed, removes what is not served any more, and leaves alone what has an owner', async () => {
  const { client, store, start } = createServer();
  await start();
  written(store);
  store.put(API_SERVICES.group, API_SERVICES.resource, apiService('apps', 'onstart'));
  store.put(API_SERVICES.group, API_SERVICES.resource, apiService('batch', undefined));
  store.put(API_SERVICES.group, API_SERVICES.resource, apiService('gone.example.com', 'onstart'));
  store.put(API_SERVICES.group, API_SERVICES.resource, apiService('ended.example.com', 'true'));
  store.put(API_SERVICES.group, API_SERVICES.resource, apiService('own.example.com', undefined));
  await start();
  expect(written(store).sort()).toEqual([
    'delete v1.ended.example.com',
    'delete v1.gone.example.com',
    'update v1.apps',
  ]);
  const mended = await client.get(API_SERVICES, { name: 'v1.apps' });
  expect(mended?.spec).toMatchObject({ groupPriorityMinimum: 17_800, versionPriority: 15 });
});

test('what another server has begun to serve, and this one does not know of yet, is not removed', async () => {
  const { client, store, start } = createServer();
  await start();
  written(store);
  store.put(API_SERVICES.group, API_SERVICES.resource, apiService('new.example.com', 'true'));
  store.catchUp();
  store.put('apiextensions.k8s.io', 'customresourcedefinitions', {
    ...{ kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' },
    metadata: { name: 'things.new.example.com' },
    spec: { group: 'new.example.com', versions: [{ name: 'v1', served: true, storage: true }] },
  });
  await start();
  expect(written(store)).toEqual([]);
  expect(await client.get(API_SERVICES, { name: 'v1.new.example.com' })).toBeDefined();
});
