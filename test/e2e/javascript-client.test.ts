import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** The official JavaScript client, as programs use it. */

let database: TestDatabase;
let cluster: Cluster;
let config: KubeConfig;
let core: CoreV1Api;
const namespace = 'default';
const MAPS = `/api/v1/namespaces/${namespace}/configmaps`;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC']);
  config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const make = (name: string, data: Record<string, string>, labels: Record<string, string> = {}) =>
  core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels }, data } });

const patchMap = (
  name: string,
  body: unknown,
  strategy: PatchStrategy,
  more: object = {},
): Promise<V1ConfigMap> =>
  core.patchNamespacedConfigMap(
    { name, namespace, body, ...more },
    setHeaderOptions('Content-Type', strategy),
  );

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ApiException) return error.code;
    throw error;
  }
}

async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < 20_000; waited += 50)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(done()).toBe(true);
}

test('every type of patch is applied', async () => {
  await make('patched', { a: '1' });
  const operations = [{ op: 'replace', path: '/data/a', value: '2' }];
  expect((await patchMap('patched', operations, PatchStrategy.JsonPatch)).data).toEqual({ a: '2' });
  const merge = { data: { a: null, b: '1' } };
  expect((await patchMap('patched', merge, PatchStrategy.MergePatch)).data).toEqual({ b: '1' });
  const strategic = { metadata: { finalizers: ['x/a'] }, data: { c: '1' } };
  const patched = await patchMap('patched', strategic, PatchStrategy.StrategicMergePatch);
  expect(patched).toMatchObject({ data: { b: '1', c: '1' }, metadata: { finalizers: ['x/a'] } });
  const removed = { metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a'] } };
  const freed = await patchMap('patched', removed, PatchStrategy.StrategicMergePatch);
  expect(freed.metadata?.finalizers).toBeUndefined();
});

test('server-side apply creates, finds conflicts, and takes over by force', async () => {
  const body = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ssa' }, data });
  const apply = (fieldManager: string, data: object, force = false) =>
    patchMap('ssa', body(data), PatchStrategy.ServerSideApply, { fieldManager, force });
  expect((await apply('one', { a: '1', b: '1' })).data).toEqual({ a: '1', b: '1' });
  expect(await codeOf(apply('two', { a: '2' }))).toBe(409);
  const forced = await apply('two', { a: '2' }, true);
  expect(forced.metadata?.managedFields?.map(({ manager }) => manager).sort()).toEqual(['one', 'two']);
  expect((await apply('one', {})).data).toEqual({ a: '2' });
});

test('a watch shows what happens from the list on, and ends when it is aborted', async () => {
  const { metadata } = await core.listNamespacedConfigMap({ namespace });
  const events: [string, string | undefined][] = [];
  const ended = new Promise<unknown>((resolve) => {
    void new Watch(config)
      .watch(
        MAPS,
        { resourceVersion: metadata?.resourceVersion, labelSelector: 'watched', allowWatchBookmarks: true },
        (type: string, object: V1ConfigMap) => events.push([type, object.data?.a]),
        resolve,
      )
      .then(async (controller) => {
        await make('watched', { a: '1' }, { watched: 'yes' });
        await patchMap('watched', { data: { a: '2' } }, PatchStrategy.MergePatch);
        await core.deleteNamespacedConfigMap({ name: 'watched', namespace });
        await until(() => events.length === 3);
        controller.abort();
      });
  });
  await ended;
  expect(events).toEqual([
    ['ADDED', '1'],
    ['MODIFIED', '2'],
    ['DELETED', '2'],
  ]);
});

test('an informer that is refused begins as soon as it is allowed, and follows every change', async () => {
  const name = 'reader';
  await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name } } });
  const body = { spec: { audiences: [], expirationSeconds: 3600 } };
  const { status } = await core.createNamespacedServiceAccountToken({ name, namespace, body });
  const limited = new KubeConfig();
  const server = config.getCurrentCluster();
  if (server === null) throw new Error('no cluster');
  limited.loadFromClusterAndUser(server, { name, token: status?.token ?? '' });
  const reader = limited.makeApiClient(CoreV1Api);
  const list = () => reader.listNamespacedConfigMap({ namespace, labelSelector: 'informed' });
  const informer = makeInformer<V1ConfigMap>(limited, MAPS, list, 'informed');
  const seen: string[] = [];
  const errors: unknown[] = [];
  for (const verb of ['add', 'update', 'delete'] as const)
    informer.on(verb, ({ metadata, data }) => seen.push(`${verb} ${metadata?.name} ${data?.a}`));
  informer.on('error', (error) => errors.push(error));

  await informer.start();
  expect(errors).toMatchObject([{ code: 403 }]);
  await allowReading(name);
  await make('informed', { a: '1' }, { informed: 'yes' });
  await untilAsync(async () => (await codeOf(list())) === undefined);
  await informer.start();
  await until(() => seen.length === 1);
  await patchMap('informed', { data: { a: '2' } }, PatchStrategy.MergePatch);
  await until(() => seen.length === 2);
  expect(informer.get('informed', namespace)?.data).toEqual({ a: '2' });
  await core.deleteNamespacedConfigMap({ name: 'informed', namespace });
  await until(() => seen.length === 3);
  await informer.stop();
  expect(seen).toEqual(['add informed 1', 'update informed 2', 'delete informed 2']);
  expect(errors).toHaveLength(1);
});

async function allowReading(name: string): Promise<void> {
  const rbac = config.makeApiClient(RbacAuthorizationV1Api);
  await rbac.createNamespacedRole({
    namespace,
    body: {
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
    },
  });
  await rbac.createNamespacedRoleBinding({
    namespace,
    body: {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  });
}

async function untilAsync(done: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 20_000; waited += 100) {
    if (await done()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('it did not happen');
}

test('a deployment is scaled through its scale, and a list comes in chunks', async () => {
  const apps = config.makeApiClient(AppsV1Api);
  const labels = { app: 'web' };
  await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  });
  const scale = await apps.patchNamespacedDeploymentScale(
    { name: 'web', namespace, body: { spec: { replicas: 4 } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  expect(scale).toMatchObject({ spec: { replicas: 4 }, status: { selector: 'app=web' } });
  for (let n = 0; n < 5; n += 1) await make(`chunk-${n}`, {}, { chunk: 'yes' });
  const first = await core.listNamespacedConfigMap({ namespace, labelSelector: 'chunk', limit: 3 });
  const next = { namespace, labelSelector: 'chunk', limit: 3, _continue: first.metadata?._continue ?? '' };
  const second = await core.listNamespacedConfigMap(next);
  expect([...first.items, ...second.items].map(({ metadata }) => metadata?.name)).toEqual(
    Array.from({ length: 5 }, (_, n) => `chunk-${n}`),
  );
  await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'chunk' });
  expect((await core.listNamespacedConfigMap({ namespace, labelSelector: 'chunk' })).items).toEqual([]);
});

test('objects of any kind go through the client of kinds it does not know beforehand', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const cron = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'any', namespace },
    spec: {
      schedule: '* * * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
      },
    },
  };
  const made: KubernetesObject = await objects.create(cron);
  expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
  const patch = { ...cron, spec: { suspend: true } };
  const patched = await objects.patch(
    patch,
    undefined,
    undefined,
    undefined,
    undefined,
    PatchStrategy.MergePatch,
  );
  expect(patched.spec?.suspend).toBe(true);
  expect((await objects.list('batch/v1', 'CronJob', namespace)).items).toHaveLength(1);
  await objects.delete(cron);
  expect(await codeOf(objects.read({ ...cron, metadata: { name: 'any', namespace } }))).toBe(404);
});
