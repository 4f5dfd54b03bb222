import { expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { alreadyExists } from '../../src/api/status.ts';
import { EveryNamespace } from '../../src/controllers/every-namespace.ts';
import { rootCertificate } from '../../src/controllers/namespace-objects.ts';
import { Registry } from '../../src/registry/registry.ts';
import { configmaps } from '../../src/resources/core/config-map.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { Entry, Store } from '../../src/storage/store.ts';
import { CachedEntry } from '../../src/storage/watch-cache/cached-entry.ts';
import type { Change } from '../../src/verbs/writing/change.ts';
import type { ObjectWriter } from '../../src/verbs/writing/writer.ts';
import { Authority } from '../kit/pki.ts';

function toEntry(object: ApiObject, fields: Record<string, string> = {}): Entry {
  const { name = '', namespace = '', uid = '1' } = object.metadata;
  const key = { group: '', resource: '', namespace, name };
  const stored = { key, uid, revision: toRevision(1), json: Buffer.from(JSON.stringify(object)) };
  return new CachedEntry(stored, () => fields);
}

/** A namespace in which somebody else makes the map a moment before: the cache has not heard of it yet. */
function raced(theirs: ApiObject) {
  const written: unknown[] = [];
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'shop' } };
  const store = {
    get: async ({ resource }: { resource: string }, { kind }: { kind: string }) => {
      if (resource === 'namespaces') return toEntry(namespace, { 'status.phase': 'Active' });
      return kind === 'latest' ? toEntry(theirs) : undefined;
    },
  };
  const writer = {
    create: () => Promise.reject(alreadyExists(configmaps, 'kube-root-ca.crt')),
    update: async (_context: unknown, _name: string, change: Change) => {
      written.push((await change.apply(structuredClone(theirs))).data);
    },
  };
  return { store: store as unknown as Store, writer: writer as unknown as ObjectWriter, written };
}

const map = (certificate: string): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'kube-root-ca.crt', namespace: 'shop' },
  data: { 'ca.crt': certificate },
});

test('of two writers that create the same map, the second checks the result of the first', async () => {
  const { pem: ours } = await Authority.create('ours');
  const { pem: theirs } = await Authority.create('theirs');
  const registry = new Registry();
  registry.add(configmaps, () => true);
  for (const [made, wanted] of [
    ['nonsense', [{ 'ca.crt': ours }]],
    [theirs, []],
    [ours, []],
  ] as const) {
    const { written, ...parts } = raced(map(made));
    const object = rootCertificate(ours);
    const everywhere = new EveryNamespace({ ...parts, object, manager: 'm', registry, onError: () => {} });
    await everywhere.ensure('shop', false);
    expect(written).toEqual(wanted);
  }
});
