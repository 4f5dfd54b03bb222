import { expect, test, vi } from 'vitest';
import type { OwnerReference } from '../../../src/api/object-meta.ts';
import type { Event } from '../../../src/api/types/core/v1.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { clusterRole, configMap, MAPS, MemoryCluster, ROLES, turn } from './memory-cluster.ts';

const toMap = (name: string, blocks = true): OwnerReference => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-${name}` },
  blockOwnerDeletion: blocks,
});

const toRole = (name: string): OwnerReference => ({
  ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name, uid: `uid-${name}` },
});

async function started(...objects: ReturnType<typeof configMap>[]): Promise<MemoryCluster> {
  const cluster = new MemoryCluster();
  for (const object of objects) cluster.put(object);
  await cluster.start();
  await cluster.settled();
  return cluster;
}

const at = (name: string) => ({ namespace: 'a', name });

test('objects without owners and dependents cost no node', async () => {
  await using cluster = await started(
    ...Array.from({ length: 100 }, (_, number) => configMap(`m${number}`, 'a')),
    configMap('owner', 'a'),
    configMap('dependent', 'a', [toMap('owner')]),
  );
  expect(cluster.states[0]?.nodes).toBe(2);
  await cluster.client.remove(MAPS, at('dependent'));
  await cluster.settled();
  expect(cluster.states[0]?.nodes).toBe(0);
});

test('two that wait for each other to go both go', async () => {
  await using cluster = await started(
    configMap('left', 'a', [toMap('right')]),
    configMap('right', 'a', [toMap('left')]),
  );
  const foreground = { propagationPolicy: 'Foreground' } as const;
  await Promise.all(['left', 'right'].map((name) => cluster.client.remove(MAPS, at(name), foreground)));
  await cluster.settled();
  expect(cluster.contents()).toEqual({});
});

test('an owner waits for what blocks it, and for nothing else', async () => {
  const held = configMap('held', 'a', [toMap('owner')]);
  const beside = configMap('beside', 'a', [toMap('owner', false)]);
  for (const { metadata } of [held, beside]) metadata.finalizers = ['example.com/hold'];
  await using cluster = await started(configMap('owner', 'a'), held, beside);
  await cluster.client.remove(MAPS, at('owner'), { propagationPolicy: 'Foreground' });
  await cluster.settled();
  expect(Object.keys(cluster.contents())).toEqual(['owner', 'held', 'beside']);
  await cluster.client.update(MAPS, at('held'), (copy) => {
    copy.metadata.ownerReferences = [toMap('owner', false)];
    return copy;
  });
  await cluster.settled();
  expect(Object.keys(cluster.contents())).toEqual(['held', 'beside']);
});

test('what comes to an owner that waits goes with the others', async () => {
  const held = configMap('held', 'a', [toMap('owner')]);
  held.metadata.finalizers = ['example.com/hold'];
  await using cluster = await started(configMap('owner', 'a'), held);
  await cluster.client.remove(MAPS, at('owner'), { propagationPolicy: 'Foreground' });
  await cluster.settled();
  cluster.put(configMap('late', 'a', [toMap('owner')]));
  await cluster.settled();
  expect(Object.keys(cluster.contents())).toEqual(['owner', 'held']);
});

test('what comes when its owner is gone goes too', async () => {
  const held = configMap('held', 'a', [toMap('owner')]);
  held.metadata.finalizers = ['example.com/hold'];
  await using cluster = await started(configMap('owner', 'a'), held);
  await cluster.client.remove(MAPS, at('owner'));
  await cluster.settled();
  cluster.put(configMap('late', 'a', [toMap('owner')]));
  await cluster.settled();
  expect(Object.keys(cluster.contents())).toEqual(['held']);
});

test('a dependent whose owner is deleted just after its creation is deleted', async () => {
  await using cluster = await started(configMap('owner', 'a'), configMap('other', 'a'));
  cluster.put(configMap('dependent', 'a', [toMap('owner')]));
  cluster.put(configMap('kept', 'a', [toMap('owner'), toMap('other')]));
  cluster.drop('owner');
  await cluster.settled();
  expect(cluster.contents()).toEqual({ other: [], kept: ['other'] });
});

test('in the foreground, what depends on others goes before them, all the way up', async () => {
  await using cluster = await started(
    configMap('one', 'a'),
    configMap('two', 'a', [toMap('one')]),
    configMap('three', 'a', [toMap('two')]),
    configMap('four', 'a', [toMap('three')]),
  );
  await cluster.client.remove(MAPS, at('one'), { propagationPolicy: 'Foreground' });
  await cluster.settled();
  expect(cluster.log.gone).toEqual(['four', 'three', 'two', 'one']);
});

test('an object that is given another owner at the last moment stays', async () => {
  await using cluster = await started(
    ...[configMap('owner', 'a'), configMap('other', 'a')],
    configMap('dependent', 'a', [toMap('owner')]),
  );
  await cluster.client.remove(MAPS, at('owner'));
  cluster.log.beforeCommit = () => cluster.put(configMap('dependent', 'a', [toMap('owner'), toMap('other')]));
  await cluster.settled();
  expect(cluster.contents()).toEqual({ other: [], dependent: ['other'] });
});

test('a reference that is changed to name something else is looked at again', async () => {
  await using cluster = await started(configMap('owner', 'a'), configMap('dependent', 'a', [toMap('owner')]));
  cluster.put(configMap('dependent', 'a', [{ ...toMap('owner'), name: 'another' }]));
  await cluster.settled();
  expect(cluster.contents()).toEqual({ owner: [] });
});

test('an event says that an owner is in another namespace, in both orders of their arrival', async () => {
  await using cluster = await started(
    ...[configMap('owner', 'b'), configMap('early', 'a', [toMap('owner')])],
    ...[configMap('first', 'a'), configMap('after', 'b', [toMap('first')])],
  );
  cluster.put(configMap('valid', 'b', [toMap('owner')]));
  cluster.put(configMap('late', 'a', [toMap('owner')]));
  await cluster.settled();
  expect(cluster.contents()).toEqual({ owner: [], first: [], valid: ['owner'] });
  const events = await cluster.client.list<Event>({ group: '', resource: 'events' });
  expect(events.map(({ involvedObject }) => involvedObject?.name).sort()).toEqual(['after', 'early', 'late']);
});

test('finalizers of a dependent say what becomes of its own dependents', async () => {
  const middle = configMap('middle', 'a', [toMap('owner')]);
  middle.metadata.finalizers = ['orphan'];
  await using cluster = await started(
    configMap('owner', 'a'),
    middle,
    configMap('last', 'a', [toMap('middle')]),
  );
  await cluster.client.remove(MAPS, at('owner'));
  await cluster.settled();
  expect(cluster.contents()).toEqual({ last: [] });
});

test('an object in no namespace that names an owner in one is left alone', async () => {
  await using cluster = await started(configMap('owner', 'a'), clusterRole('role', [toMap('owner')]));
  await cluster.client.remove(MAPS, at('owner'));
  await cluster.settled();
  expect(cluster.contents()).toEqual({ role: ['owner'] });
  const events = await cluster.client.list({ group: '', resource: 'events' }, { namespace: 'default' });
  expect(events).toMatchObject([{ reason: 'OwnerRefInvalidNamespace', involvedObject: { name: 'role' } }]);
});

test('an owner in no namespace owns objects in all of them', async () => {
  await using cluster = await started(
    clusterRole('role'),
    configMap('one', 'a', [toRole('role')]),
    configMap('two', 'b', [toRole('role')]),
  );
  expect(Object.keys(cluster.contents())).toEqual(['role', 'one', 'two']);
  await cluster.client.remove(ROLES, { name: 'role' });
  await cluster.settled();
  expect(cluster.contents()).toEqual({});
});

test('a kind that is not served decides nothing until it is', async () => {
  const missing = { apiVersion: 'example.com/v2', kind: 'Late', name: 'none', uid: 'uid-none' };
  await using cluster = await started(
    configMap('owner', 'a'),
    configMap('waits', 'a', [missing]),
    configMap('kept', 'a', [missing, toMap('owner')]),
  );
  expect(Object.keys(cluster.contents())).toEqual(['owner', 'waits', 'kept']);
  cluster.registry.put('lates', [
    {
      ...configmaps,
      ...{ group: 'example.com', resource: 'lates', kind: 'Late' },
      storage: { group: 'example.com', resource: 'lates', version: 'v1', type: 'core/v1.ConfigMap' },
    },
  ]);
  await vi.waitFor(() => expect(cluster.contents()).toEqual({ owner: [], kept: ['owner'] }), PATIENCE);
});

test('nothing is given up while the database is away', async () => {
  await using cluster = await started(configMap('owner', 'a'), configMap('dependent', 'a', [toMap('owner')]));
  await cluster.client.remove(MAPS, at('owner'));
  cluster.log.isAway = true;
  await vi.waitFor(() => expect(cluster.errors.length).toBeGreaterThan(1), PATIENCE);
  expect(Object.keys(cluster.contents())).toEqual(['dependent']);
  cluster.log.isAway = false;
  await vi.waitFor(() => expect(cluster.contents()).toEqual({}), PATIENCE);
});

test('a thousand dependents are orphaned, with one that comes late, and a reset in the midst loses none of them', async () => {
  const names = Array.from({ length: 1000 }, (_, number) => `m${number}`);
  await using cluster = await started(
    configMap('owner', 'a'),
    ...names.map((name) => configMap(name, 'a', [toMap('owner')])),
  );
  await cluster.client.remove(MAPS, at('owner'), { propagationPolicy: 'Orphan' });
  const released = (): number =>
    Object.values(cluster.contents()).filter((owners) => owners.length === 0).length;
  while (released() < 300) await turn();
  expect(released()).toBeLessThan(1000);
  cluster.put(configMap('late', 'a', [toMap('owner')]));
  await cluster.log.reset();
  await cluster.settled();
  expect(cluster.contents()).toEqual(Object.fromEntries([...names, 'late'].map((name) => [name, []])));
});

test('who comes while dependents are orphaned is orphaned too', async () => {
  const names = Array.from({ length: 200 }, (_, number) => `m${number}`);
  await using cluster = await started(
    configMap('owner', 'a'),
    ...names.map((name) => configMap(name, 'a', [toMap('owner')])),
  );
  await cluster.client.remove(MAPS, at('owner'), { propagationPolicy: 'Orphan' });
  cluster.log.beforeCommit = () => cluster.put(configMap('late', 'a', [toMap('owner')]));
  await cluster.settled();
  expect(cluster.contents()).toEqual(Object.fromEntries([...names, 'late'].map((name) => [name, []])));
});

test('an owner is not let go on the word of a graph that is out of date', async () => {
  const names = Array.from({ length: 500 }, (_, number) => `late${number}`);
  await using cluster = await started(configMap('owner', 'a'), configMap('early', 'a', [toMap('owner')]));
  await cluster.client.remove(MAPS, at('owner'), { propagationPolicy: 'Orphan' });
  const reset = Promise.withResolvers<void>();
  cluster.log.beforeCommit = () => {
    for (const name of names) cluster.put(configMap(name, 'a', [toMap('owner')]));
    cluster.log.reset().then(reset.resolve, reset.reject);
  };
  await reset.promise;
  await cluster.settled();
  expect(cluster.contents()).toEqual(Object.fromEntries(['early', ...names].map((name) => [name, []])));
});
