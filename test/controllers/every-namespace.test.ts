import { expect, test } from 'vitest';
import { AdmissionChain } from '../../src/admission/admission.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import { EveryNamespace, type NamespaceObject } from '../../src/controllers/every-namespace.ts';
import { GatedFields } from '../../src/registry/gated-fields.ts';
import { Registry } from '../../src/registry/registry.ts';
import { configmaps } from '../../src/resources/core/config-map.ts';
import { StorageError } from '../../src/storage/errors.ts';
import type { ObjectKey } from '../../src/storage/key.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { Write } from '../../src/storage/revision-log.ts';
import type { Entry, Freshness, Store } from '../../src/storage/store.ts';
import { ValueAllocator } from '../../src/verbs/allocator.ts';
import { Ownership } from '../../src/verbs/ownership.ts';
import { ObjectWriter } from '../../src/verbs/writer.ts';

const NAME = 'kube-root-ca.crt';

const map = (value: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: NAME, namespace: 'a', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { k: value },
});

const entry = (name: string, object: ApiObject, revision: number): Entry => ({
  namespace: 'a',
  name,
  uid: 'u',
  revision: toRevision(revision),
  json: toStoredJson(object),
  metadataEnd: 0,
  labels: {},
  fields: { 'status.phase': 'Active' },
  ownerUids: [],
});

/** What every namespace should have: a map that says `ours`. */
const object: NamespaceObject = {
  resource: { group: '', resource: 'configmaps' },
  name: NAME,
  create: () => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: NAME }, data: { k: 'ours' } }),
  mend: (current) =>
    (current.data as { k?: string }).k === 'ours' ? undefined : { ...current, data: { k: 'ours' } },
};

/** A cache that does not know yet what somebody else made a moment ago, and the database that does. */
function setUp(made: ApiObject) {
  const stored = entry(NAME, made, 7);
  const updates: unknown[] = [];
  const store = {
    get: ({ resource }: ObjectKey, { kind }: Freshness) => {
      if (resource === 'namespaces') return Promise.resolve(entry('a', map(''), 1));
      return Promise.resolve(kind === 'any' ? undefined : stored);
    },
    commit: ({ verb, key, object: written }: Write & { object: ApiObject }) => {
      if (verb === 'create')
        return Promise.reject(new StorageError({ kind: 'exists', key, current: stored.revision }));
      updates.push(written);
      return Promise.resolve(toRevision(8));
    },
  } as unknown as Store;
  const registry = new Registry();
  registry.add(configmaps, () => true);
  const types = loadTypes();
  const now = (): Date => new Date('2026-02-02T00:00:00Z');
  const writer = new ObjectWriter({
    gatedFields: new GatedFields(() => true),
    store,
    admission: new AdmissionChain([]),
    types,
    ownership: new Ownership({ types, registry, now }),
    allocator: new ValueAllocator({} as never, []),
    now,
    eventTtlMs: 0,
    collectsGarbage: true,
  });
  const onError = (error: unknown): void => {
    throw error;
  };
  return { updates, every: new EveryNamespace({ object, manager: 'm', store, registry, writer, onError }) };
}

test('of two who make it at once, the second leaves what the first one made as it should be', async () => {
  const { every, updates } = setUp(map('ours'));
  await every.ensure('a');
  expect(updates).toEqual([]);
});

test('of two who make it at once, the second mends what the first one made otherwise', async () => {
  const { every, updates } = setUp(map('theirs'));
  await every.ensure('a');
  expect(updates).toHaveLength(1);
});
