import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject } from '../../../src/api/object-meta.ts';
import type { RestoreSpec } from '../../../src/api/types/history/v1alpha1.ts';
import { boundHistoryWork } from '../../../src/history/large-work.ts';
import { createRestores } from '../../../src/history/restore/restores.ts';
import { toVirtualEntry } from '../../../src/history/virtual-entry.ts';
import { Registry } from '../../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../../src/request/api-request.ts';
import { customresourcedefinitions } from '../../../src/resources/apiextensions/custom-resource-definition.ts';
import { namespaces } from '../../../src/resources/core/namespace.ts';
import { secrets } from '../../../src/resources/core/secret.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry, ListQuery } from '../../../src/storage/store.ts';
import { ALICE } from '../../audit/kit.ts';
import { NO_BIRTHS } from '../no-births.ts';

type RestoreParts = Parameters<typeof createRestores>[0];

const NOW = toRevision(9);

const entryOf = (kind: string, name: string, more: object = {}): Entry =>
  toVirtualEntry({ kind, apiVersion: 'v1', metadata: { name }, ...more } as ApiObject, NOW);

const boats = { scope: 'Namespaced', names: { kind: 'Boat', plural: 'boats' } };
const WAS: ReadonlyMap<string, Entry> = new Map([
  ['namespaces', entryOf('Namespace', 'ns')],
  [
    'customresourcedefinitions',
    entryOf('CustomResourceDefinition', 'boats.secret.example.com', { spec: boats }),
  ],
  ['boats', entryOf('Boat', 'b')],
]);

const history = { begin: async () => ({ revision: toRevision(1) }), newest: async () => NOW };

/** Of the secrets, one cannot be read. */
async function list({ resource, around }: ListQuery) {
  const { group, resource: name } = resource;
  const key = { group, resource: name, namespace: 'ns', name: 'hidden' };
  if (name === 'secrets' && around !== true)
    throw new StorageError({
      kind: 'unreadable',
      objects: [{ key, uid: 'u', revision: NOW, reason: 'no key' }],
    });
  const entry = WAS.get(name);
  return { revision: NOW, entries: entry === undefined ? [] : [entry] };
}

/** Restores a namespace without changes, for a user who may `get` these resources alone. */
async function restoreAs(
  mayGet: readonly string[],
  spec: RestoreSpec = { namespace: 'ns', to: '5' },
): Promise<string> {
  const registry = new Registry();
  for (const definition of [namespaces, secrets, customresourcedefinitions])
    registry.add(definition, () => true);
  const parts = {
    ...{ registry, types: loadTypes(), requestTimeoutMs: 60_000, now: () => new Date() },
    authorizer: {
      authorize: ({ target }: { target: { resource: string } }) => ({
        decision: mayGet.includes(target.resource) ? 'allow' : 'no-opinion',
        reason: '',
      }),
    },
    store: { list, get: async ({ resource }: { resource: string }) => WAS.get(resource) },
    historyOf: () => history,
    births: NO_BIRTHS,
    large: boundHistoryWork().restores,
  };
  const [, restore] = createRestores(parts as unknown as RestoreParts);
  const request = {
    ...{ id: 'r', user: ALICE, query: new URLSearchParams(), receivedAt: new Date(), aborted: false },
    ...{ signal: new AbortController().signal, warn: () => {} },
  };
  const posted = { kind: 'Restore', apiVersion: 'history.cluster.io/v1alpha1', metadata: {}, spec };
  return JSON.stringify(await restore(posted, request as unknown as AuthorizedResourceRequest));
}

test('objects that cannot be restored are named only to users who may get them', async () => {
  const answer = await restoreAs(['namespaces', 'secrets', 'customresourcedefinitions']);
  expect(answer).toContain('"name":"hidden"');
  expect(answer).toContain('boats.secret.example.com');
  const hidden = await restoreAs(['namespaces']);
  expect(hidden).not.toMatch(/"hidden"|boats|Boat|no key/);
  expect(hidden.match(/some objects were left out, which you may not get/g)).toHaveLength(2);
});

test('what cannot be read beside an object fails alone, and is not named to who may not get it', async () => {
  const spec = { object: { resource: 'namespaces', name: 'ns' }, to: '5', withDependents: true };
  expect(await restoreAs(['namespaces', 'secrets'], spec)).toMatch(
    /"hidden".*no key; it may have belonged to ns, or not/,
  );
  const hidden = await restoreAs(['namespaces'], spec);
  expect(hidden).not.toMatch(/"hidden"|no key/);
  expect(hidden).toContain('"action":"unchanged"');
});
