import { expect, test } from 'vitest';
import { API_SERVICES } from '../../src/aggregation/managed-api-services.ts';
import { RemoteVersions } from '../../src/aggregation/remote-versions.ts';
import type { APIService } from '../../src/api/types/apiregistration/v1.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { Entry, ObjectEventType } from '../../src/storage/store.ts';
import { LaggingStore } from '../kit/client.ts';

/** The index of group versions that other servers serve. */

async function entryOf(group: string, service: string | undefined, available = 'True'): Promise<Entry> {
  const api: APIService = {
    ...{ kind: 'APIService', apiVersion: 'apiregistration.k8s.io/v1', metadata: { name: `v1.${group}` } },
    spec: {
      group,
      version: 'v1',
      ...(service === undefined ? {} : { service: { namespace: 'far', name: service } }),
    },
    status: { conditions: [{ type: 'Available', status: available }] },
  };
  const store = new LaggingStore();
  store.put(API_SERVICES.group, API_SERVICES.resource, api);
  const entry = await store.get({ ...API_SERVICES, namespace: '', name: `v1.${group}` }, { kind: 'latest' });
  if (entry === undefined) throw new Error('it was just put there');
  return entry;
}

const event = (type: ObjectEventType, entry: Entry) => ({ type, entry, revision: toRevision(9) });

test('it knows those of other servers alone, and tells of their changes alone', async () => {
  const remote = new RemoteVersions();
  let changes = 0;
  remote.onChange(() => {
    changes += 1;
  });
  remote.replace([await entryOf('apps', undefined)]);
  expect([remote.isEmpty, remote.find('apps', 'v1'), changes]).toEqual([true, undefined, 0]);
  remote.apply(event('ADDED', await entryOf('far.example.com', 'api')));
  expect(remote.find('far.example.com', 'v1')).toMatchObject({
    service: { namespace: 'far', name: 'api', port: 443 },
    tls: { serverName: 'api.far.svc', isVerified: true },
    isAvailable: true,
  });
  remote.apply(event('MODIFIED', await entryOf('far.example.com', undefined)));
  expect([remote.isEmpty, changes]).toEqual([true, 2]);
  remote.apply(event('MODIFIED', await entryOf('apps', undefined)));
  expect(changes).toBe(2);
});

test('a group of two names is found by either, and stays with one API service when the other goes', async () => {
  const remote = new RemoteVersions();
  const [one, other] = [await entryOf('storage.k8s.io', 'one'), await entryOf('storage.cluster.io', 'other')];
  remote.replace([one]);
  remote.apply(event('ADDED', other));
  expect(remote.find('storage.k8s.io', 'v1')?.service.name).toBe('other');
  remote.apply(event('DELETED', one));
  expect(remote.find('storage.k8s.io', 'v1')?.service.name).toBe('other');
  remote.apply(event('DELETED', other));
  expect(remote.isEmpty).toBe(true);
});
