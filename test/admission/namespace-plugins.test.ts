import { expect, test } from 'vitest';
import {
  createNamespaceLifecycle,
  namespaceAutoProvision,
  namespaceExists,
} from '../../src/admission/plugins/namespaces.ts';
import { forbidden, StatusError, unknownError } from '../../src/api/status.ts';
import { ObjectReader } from '../../src/storage/object-reader.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { Store } from '../../src/storage/store.ts';
import { attributesOf, FakeCluster, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const inNamespace = (namespace: string) => toObject({ metadata: { namespace } });
const cluster = new FakeCluster({ namespaces: [{ metadata: { name: 'default' } }] });

test('NamespaceExists refuses every object in a namespace that does not exist', async () => {
  const plugin = pluginFrom(namespaceExists, { objects: cluster });
  for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
    const refused = (namespace: string) =>
      refusalOf(plugin, attributesOf('pods', { operation, old: inNamespace(namespace) }));
    expect(await refused('default')).toBeUndefined();
    expect(await refused('none')).toBe('namespaces "none" not found');
  }
  expect(await refusalOf(plugin, attributesOf('namespaces', { object: toObject({}) }))).toBeUndefined();
});

test('NamespaceLifecycle asks the database about a namespace that this server deleted within 30 seconds', async () => {
  let nowMs = 0;
  const entry = {
    namespace: '',
    name: 'ending',
    uid: 'u',
    revision: toRevision(1),
    json: Buffer.alloc(0),
    sizeBytes: 0,
    metadataEnd: 0,
    labels: {},
    ownerUids: [],
  };
  const get: Store['get'] = async (_, { kind }) => ({
    ...entry,
    fields: { 'status.phase': kind === 'latest' ? 'Terminating' : 'Active' },
  });
  const lagging = new ObjectReader({ get } as Store);
  const plugin = createNamespaceLifecycle(lagging, () => nowMs);
  const create = () => refusalOf(plugin, attributesOf('pods', { object: inNamespace('ending') }));
  expect(await create()).toBeUndefined();
  const old = toObject({ metadata: { name: 'ending' } });
  await refusalOf(plugin, attributesOf('namespaces', { operation: 'DELETE', old }));
  expect(await create()).toContain('because it is being terminated');
  nowMs = 30_000;
  expect(await create()).toBeUndefined();
});

test('NamespaceAutoProvision makes the namespace that something is to be in', async () => {
  const made: string[] = [];
  const plugin = pluginFrom(namespaceAutoProvision, {
    objects: cluster,
    createNamespace: async (name) => {
      made.push(name);
    },
  });
  await refusalOf(plugin, attributesOf('pods', { object: inNamespace('default') }));
  await refusalOf(plugin, attributesOf('pods', { object: inNamespace('dry'), dryRun: true }));
  await refusalOf(plugin, attributesOf('nodes', { object: toObject({}) }));
  expect(made).toEqual([]);
  await refusalOf(plugin, attributesOf('pods', { object: inNamespace('new') }));
  expect(made).toEqual(['new']);
});

test('NamespaceAutoProvision refuses nothing because the database is away', async () => {
  const away = new StatusError({ code: 503, reason: 'ServiceUnavailable', message: 'later' });
  const plugin = pluginFrom(namespaceAutoProvision, {
    objects: cluster,
    createNamespace: () => Promise.reject(away),
  });
  expect(await refusalOf(plugin, attributesOf('pods', { object: inNamespace('new') }))).toBe('later');
});

test.each([
  ['forbidden', forbidden(NAMESPACES, 'new', 'no'), 'namespaces "new" is forbidden: no'],
  ['broken', unknownError('broken'), 'pods "it" is forbidden: broken'],
])('NamespaceAutoProvision where the namespace is %s', async (_, error, refused) => {
  const plugin = pluginFrom(namespaceAutoProvision, {
    objects: cluster,
    createNamespace: () => Promise.reject(error),
  });
  expect(await refusalOf(plugin, attributesOf('pods', { object: inNamespace('new') }))).toBe(refused);
});
