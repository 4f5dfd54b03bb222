import { expect, test } from 'vitest';
import { createNamespaceLifecycle } from '../../../src/admission/plugins/namespaces.ts';
import type { ResourceOf } from '../../../src/api/names.ts';
import type { ConfigMap } from '../../../src/api/types/core/v1.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { namespaces } from '../../../src/resources/core/namespace.ts';
import { AddedEvent } from '../../../src/storage/added-event.ts';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import { DeliveredEvents } from '../../../src/storage/delivered-events.ts';
import { ObjectReader } from '../../../src/storage/object-reader.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry, WatchQuery } from '../../../src/storage/store.ts';
import { AppliedChange } from '../../../src/storage/watch-cache/applied-change.ts';
import { AS_SERVER } from '../../../src/verbs/client/client.ts';
import { orNamespaceGone } from '../../../src/verbs/writing/write-call.ts';
import { createTestClient } from '../../kit/client.ts';

const MAPS: ResourceOf<ConfigMap> = { group: '', resource: 'configmaps' };
const NAME = { namespace: 'shop', name: 'm' };

const map = (value: string, metadata: ConfigMap['metadata'] = {}): ConfigMap => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { ...NAME, ...metadata },
  data: { k: value },
});

const setTo =
  (value: string) =>
  (copy: ConfigMap): ConfigMap => ({ ...copy, data: { k: value } });

function setUp() {
  const parts = createTestClient({ definitions: [configmaps] });
  const write = (object: ConfigMap): void => parts.store.put('', 'configmaps', object);
  return { ...parts, write };
}

test('what is trusted to the cache costs no question, and may be old', async () => {
  const { client, store, write } = setUp();
  write(map('old'));
  store.catchUp();
  write(map('new'));
  expect((await client.get(MAPS, NAME, 'cached'))?.data).toEqual({ k: 'old' });
  expect((await client.get(MAPS, NAME, 'cached-if-found'))?.data).toEqual({ k: 'old' });
  expect((await client.list(MAPS, {}, 'cached'))[0]?.data).toEqual({ k: 'old' });
  expect(await client.get(MAPS, { ...NAME, name: 'other' }, 'cached')).toBeUndefined();
  expect(store.questions).toBe(0);
  expect((await client.get(MAPS, NAME))?.data).toEqual({ k: 'new' });
  expect((await client.list(MAPS))[0]?.data).toEqual({ k: 'new' });
});

test('that there is no object, or another one than is asked for, is believed to the database only', async () => {
  const { client, store, write } = setUp();
  write(map('a', { uid: '1' }));
  expect((await client.get(MAPS, NAME, 'cached-if-found'))?.data).toEqual({ k: 'a' });
  store.catchUp();
  write(map('b', { uid: '2' }));
  expect((await client.get(MAPS, NAME, { uid: '1' }))?.data).toEqual({ k: 'a' });
  expect((await client.get(MAPS, NAME, { uid: '2' }))?.data).toEqual({ k: 'b' });
  expect(await client.get(MAPS, { ...NAME, name: 'none' }, { uid: '3' })).toBeUndefined();
});

test('an object carries the version that it was read at, and may be changed', async () => {
  const { client, write } = setUp();
  write(map('a'));
  const [one, same] = [await client.get(MAPS, NAME), await client.get(MAPS, NAME)];
  expect(one?.metadata.resourceVersion).toBe('1');
  if (one?.data !== undefined) one.data.k = 'mine';
  expect(same?.data).toEqual({ k: 'a' });
});

test('between the objects of a long list, other work has its turn', async () => {
  const { client, write } = setUp();
  for (let n = 0; n < 250; n += 1) write(map('a', { name: `m${n}` }));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const names: unknown[] = [];
  for await (const { metadata } of client.each(MAPS)) names.push(metadata.name);
  // The process goes on to other files.
  clearImmediate(next);
  expect(names).toHaveLength(250);
  expect(turns).toBeGreaterThanOrEqual(2);
});

test('a list is of one namespace, or of all', async () => {
  const { client, write } = setUp();
  write(map('a'));
  write(map('b', { namespace: 'farm' }));
  expect((await client.list(MAPS, { namespace: 'farm' })).map(({ data }) => data)).toEqual([{ k: 'b' }]);
  expect(await client.entries(MAPS)).toHaveLength(2);
});

test('a create finds that the object exists', async () => {
  const { client, write } = setUp();
  expect(await client.create(MAPS, map('mine'))).toMatchObject({ data: { k: 'mine' } });
  write(map('theirs', { name: 'n' }));
  expect(await client.create(MAPS, map('mine', { name: 'n' }))).toBe('exists');
});

test('ensure creates what is not there, and writes nothing where nothing is to be mended', async () => {
  const { client, store } = setUp();
  expect(await client.ensure(MAPS, map('wanted'))).toMatchObject({ data: { k: 'wanted' } });
  expect(store.commits).toHaveLength(1);
  const mend = (found: ConfigMap): ConfigMap | undefined =>
    found.data?.k === 'wanted' ? undefined : setTo('wanted')(found);
  expect(await client.ensure(MAPS, map('other'))).toMatchObject({ data: { k: 'wanted' } });
  expect(await client.ensure(MAPS, map('wanted'), { mend })).toMatchObject({ data: { k: 'wanted' } });
  expect(store.commits).toHaveLength(1);
});

test('an object that may stay is not put before plugins and rules, which might refuse it by now', async () => {
  const refuseUpdates = {
    name: 'RefuseUpdates',
    operations: ['UPDATE'],
    mutate: () => Promise.reject(new Error('refused')),
  } as const;
  const { client, store } = createTestClient({ definitions: [configmaps], plugins: () => [refuseUpdates] });
  store.put('', 'configmaps', map('theirs'));
  expect(await client.ensure(MAPS, map('wanted'))).toMatchObject({ data: { k: 'theirs' } });
  const ensured = client.ensure(MAPS, map('wanted'), { mend: setTo('wanted') });
  await expect(ensured).rejects.toThrow('refused');
});

test('an ensure that loses the race mends what the winner made', async () => {
  for (const [made, commits] of [
    ['wrong', 1],
    ['wanted', 0],
  ] as const) {
    const { client, store, write } = setUp();
    store.beforeCommit = () => write(map(made, { labels: { by: 'winner' } }));
    const mend = (found: ConfigMap): ConfigMap | undefined =>
      found.data?.k === 'wanted' ? undefined : setTo('wanted')(found);
    const ensured = await client.ensure(MAPS, map('wanted'), { mend });
    expect(ensured).toMatchObject({ data: { k: 'wanted' }, metadata: { labels: { by: 'winner' } } });
    expect(store.commits).toHaveLength(commits);
  }
});

test('an ensure whose object is deleted meanwhile creates it', async () => {
  const { client, store, write } = setUp();
  write(map('wrong'));
  store.beforeCommit = () => store.drop('', 'configmaps', NAME);
  expect(await client.ensure(MAPS, map('wanted'), { mend: setTo('wanted') })).toMatchObject({
    data: { k: 'wanted' },
  });
  expect(store.commits.map(({ verb }) => verb)).toEqual(['create']);
});

test('an update that meets a newer object is applied to that', async () => {
  const { client, store, write } = setUp();
  write(map('1'));
  store.catchUp();
  store.beforeCommit = () => write(map('2'));
  const seen: unknown[] = [];
  const updated = await client.update(MAPS, NAME, (copy) => {
    seen.push(copy.data?.k);
    return setTo(`${copy.data?.k} and mine`)(copy);
  });
  expect(updated).toMatchObject({ data: { k: '2 and mine' } });
  expect(seen).toEqual(['1', '2']);
});

test('an update finds that the object is gone', async () => {
  const { client, store, write } = setUp();
  expect(await client.update(MAPS, NAME, setTo('x'))).toBe('not-found');
  write(map('a'));
  store.catchUp();
  store.drop('', 'configmaps', NAME);
  expect(await client.update(MAPS, NAME, setTo('x'))).toBe('not-found');
  expect(await client.updateState(MAPS, { ...NAME, subresource: 'status' }, setTo('x'))).toBe('not-found');
});

test('the rules for clients hold for an update, and not for what the server itself found out', async () => {
  const { client, write } = setUp();
  write({ ...map('a'), immutable: true });
  await expect(client.update(MAPS, NAME, setTo('b'))).rejects.toThrow('field is immutable');
  const written = await client.updateState(MAPS, { ...NAME, subresource: 'status' }, setTo('b'));
  expect(written).toMatchObject({ data: { k: 'b' }, immutable: true });
});

test('a removal tells what became of the object', async () => {
  const { client, store, write } = setUp();
  expect(await client.remove(MAPS, NAME)).toBe('not-found');
  write(map('a', { uid: '1' }));
  expect(await client.remove(MAPS, NAME, { uid: '2' })).toBe('conflict');
  expect(await client.remove(MAPS, NAME, { uid: '1' })).toBe('gone');
  write(map('a', { finalizers: ['example.com/wait'] }));
  expect(await client.remove(MAPS, NAME)).toBe('ending');
  expect(store.commits.map(({ verb }) => verb)).toEqual(['delete', 'update']);
});

test('history names the part of the server that wrote, each write with an id of its own', async () => {
  const { client, store } = setUp();
  const part = client.as('some-controller');
  await part.create(MAPS, map('a'));
  await part.update(MAPS, NAME, setTo('b'));
  const [one, other] = store.commits.map(({ attribution }) => attribution);
  expect(one).toMatchObject({ username: 'system:apiserver', fieldManager: 'some-controller' });
  expect(one?.requestId).not.toBe(other?.requestId);
  const owners = (await client.get(MAPS, NAME))?.metadata.managedFields?.map(({ manager }) => manager);
  expect(owners).toEqual(['some-controller']);
});

test("what a part of the server writes belongs to its manager, kube-apiserver's for most parts", async () => {
  const { client } = setUp();
  const owners = async (name: string) =>
    (await client.get(MAPS, { ...NAME, name }))?.metadata.managedFields?.map(
      ({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`,
    );
  await client.create(MAPS, map('a', { name: 'plain' }));
  expect(await owners('plain')).toEqual(['kube-apiserver Update ']);
  const part = client.as('some-part', AS_SERVER);
  await part.create(MAPS, map('a', { name: 'parts' }));
  await part.updateState(
    MAPS,
    { ...NAME, name: 'parts', subresource: 'status' },
    (copy) => ({ ...copy, data: { k: 'b' } }),
    { leavesCopy: true },
  );
  expect(await owners('parts')).toEqual(['kube-apiserver Update ', 'kube-apiserver Update status']);
});

test('an object of before owners were recorded stays without, when the server writes it', async () => {
  const { client, write } = setUp();
  write(map('a'));
  await client.update(MAPS, NAME, setTo('b'));
  expect((await client.get(MAPS, NAME))?.metadata.managedFields).toBeUndefined();
});

test('what the server applies is its own, also where another manager had it', async () => {
  const { client } = setUp();
  expect(await client.apply(MAPS, NAME, { data: { k: 'b' } })).toBe('not-found');
  await client.as('theirs').create(MAPS, { ...map('a'), data: { k: 'a', other: 'a' } });
  const applied = await client
    .as('mine')
    .apply(MAPS, { ...NAME, subresource: 'status' }, { data: { k: 'b' } });
  expect(applied).toMatchObject({ data: { k: 'b', other: 'a' }, metadata: NAME });
  expect((await client.get(MAPS, NAME))?.metadata.managedFields).toEqual([
    {
      ...{ manager: 'mine', operation: 'Apply', apiVersion: 'v1', subresource: 'status' },
      ...{ time: '2026-02-02T00:00:00Z', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:k': {} } } },
    },
    expect.objectContaining({ manager: 'theirs', fieldsV1: { 'f:data': { '.': {}, 'f:other': {} } } }),
  ]);
});

test('a namespace that ends, or is no more, is a fact where it is asked for, and a failure elsewhere', async () => {
  const { client, store } = createTestClient({
    definitions: [configmaps, namespaces],
    plugins: (objects) => [createNamespaceLifecycle(new ObjectReader(objects))],
  });
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', name: 'shop' };
  const namespace = {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: ending,
    status: { phase: 'Terminating' },
  };
  for (const state of ['gone', 'ending']) {
    if (state === 'ending') store.put('', 'namespaces', namespace);
    expect(await orNamespaceGone(client.ensure(MAPS, map('a')))).toBe('namespace-gone');
    await expect(client.ensure(MAPS, map('a'))).rejects.toThrow('shop');
  }
});

test('a watch begins with the objects there are, and goes on with changes, of what matches only', async () => {
  const entry = new CachedEntry(
    {
      key: { ...MAPS, ...NAME },
      uid: '1',
      revision: toRevision(1),
      json: Buffer.from(JSON.stringify(map('a'))),
    },
    () => ({}),
  );
  const asked: WatchQuery[] = [];
  const { client } = createTestClient({
    definitions: [configmaps],
    watch: async (query, signal) => {
      asked.push(query);
      return new DeliveredEvents(async (take) => {
        await take(new AddedEvent(entry));
        await take({ type: 'INITIAL_EVENTS_END', revision: toRevision(1) });
        const change = { revision: toRevision(2), entry: undefined, previous: entry };
        const deleted = new AppliedChange(change, undefined).eventFor(query.matches);
        if (deleted !== undefined) await take(deleted);
      }, signal);
    },
  });
  const isM = ({ name }: Entry): boolean => name === 'm';
  const events: string[] = [];
  for await (const { type, entry: shown } of client.watch(MAPS, new AbortController().signal, isM))
    events.push(`${type} ${shown.name}`);
  expect(events).toEqual(['ADDED m', 'DELETED m']);
  expect(asked[0]).toMatchObject({ start: { kind: 'state', freshness: { kind: 'latest' } }, matches: isM });
});

test('work on a whole list is due once for all that came at once, and not for a bookmark', async () => {
  const added = ['a', 'b', 'c'].map(
    (name) =>
      new AddedEvent(
        new CachedEntry(
          {
            key: { ...MAPS, namespace: 'shop', name },
            uid: name,
            revision: toRevision(1),
            json: Buffer.from('{}'),
          },
          () => ({}),
        ),
      ),
  );
  const bookmark = { type: 'BOOKMARK', revision: toRevision(1) } as const;
  const { client } = createTestClient({
    definitions: [configmaps],
    watch: async () => ({
      deliver: async () => {},
      async *[Symbol.asyncIterator]() {
        yield added.slice(0, 2);
        yield [bookmark];
        yield [bookmark, ...added.slice(2)];
      },
    }),
  });
  let due = 0;
  for await (const _ of client.changes(MAPS, new AbortController().signal)) due += 1;
  expect(due).toBe(2);
});

test('what is not served to clients is written by the server itself, with its owners', async () => {
  const { client: unnamed, store } = createTestClient({ definitions: [configmaps], unserved: true });
  const client = unnamed.as('some-controller');
  await client.create(MAPS, map('a'));
  const written = await client.update(MAPS, NAME, setTo('b'));
  expect(store.commits).toHaveLength(2);
  expect(written).toMatchObject({ data: { k: 'b' }, metadata: { managedFields: [{ apiVersion: 'v1' }] } });
});
