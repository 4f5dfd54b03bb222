import { expect, test } from 'vitest';
import { type Scope, toPosition } from '../../../src/storage/key.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Change } from '../../../src/storage/revision-log.ts';
import type { ListQuery, SoughtValue } from '../../../src/storage/store.ts';
import { listFound, listTree } from '../../../src/storage/watch-cache/listing.ts';
import { RecentEncodings } from '../../../src/storage/watch-cache/recent-encodings.ts';
import { ResourceCache } from '../../../src/storage/watch-cache/resource-cache.ts';
import type { ValueIndex } from '../../../src/storage/watch-cache/value-index.ts';

const PODS = { group: '', resource: 'pods' };
const NODES = 5;

/** Pods that come, go and change their nodes, at random but the same for the same seed. */
class Pods {
  reads = 0;
  onRead: () => void = () => {};
  readonly cache = new ResourceCache({
    resource: PODS,
    loadedAt: toRevision(0),
    encodings: new RecentEncodings(),
    readFields: (object) => {
      this.reads += 1;
      this.onRead();
      return { node: String(object.node) };
    },
  });
  readonly #names: number;
  #revision = 0;
  #state: number;

  constructor(seed: number, names = 200) {
    this.#state = seed;
    this.#names = names;
  }

  below(count: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * count);
  }

  change(): void {
    const key = { ...PODS, namespace: `ns-${this.below(3)}`, name: `pod-${this.below(this.#names)}` };
    const known = this.cache.get(toPosition(key));
    if (known === undefined) this.#apply('create', key);
    else this.#apply(this.below(3) === 0 ? 'delete' : 'update', key);
  }

  #apply(verb: Change['verb'], key: Change['key']): void {
    this.#revision += 1;
    const node = this.below(NODES);
    const app = this.below(50);
    const labels = app < 10 ? { app: `app-${app}`, tier: 'web' } : { tier: 'web' };
    const json = Buffer.from(
      JSON.stringify({ metadata: { labels }, node: node === 0 ? '' : `node-${node}` }),
    );
    const revision: Revision = toRevision(this.#revision);
    this.cache.apply({ verb, key, uid: key.name, revision, json } as Change);
  }
}

const soughtNode = (node: string): SoughtValue[] => [{ of: 'field', name: 'node', value: node }];

const onNode = (node: string): Pick<ListQuery, 'sought' | 'matches'> => ({
  sought: soughtNode(node),
  matches: ({ fields }) => fields.node === node,
});

async function nodeIndexOf(cache: ResourceCache): Promise<ValueIndex> {
  const found = await cache.indexFor(soughtNode('node-1'), {});
  if (found === undefined) throw new Error('a field is always looked up');
  return found.index;
}

test('looking up finds what looking at everything finds, in order, in any scope and chunk', async () => {
  for (const seed of [1, 2, 3]) {
    const pods = new Pods(seed);
    for (let turn = 0; turn < 200; turn += 1) {
      for (let changes = pods.below(20); changes > 0; changes -= 1) pods.change();
      const scopes = [{}, { namespace: 'ns-1' }, { name: 'pod-7' }, { namespace: 'ns-2', name: 'pod-9' }];
      const query: ListQuery = {
        resource: PODS,
        scope: scopes[pods.below(4)] ?? {},
        freshness: { kind: 'any' },
        limit: pods.below(2) * (1 + pods.below(8)),
        ...(pods.below(3) === 0 ? { after: `ns-1\0pod-${pods.below(200)}` } : {}),
        ...onNode(`node-${1 + pods.below(NODES)}`),
      };
      const snapshot = pods.cache.snapshot(toRevision(turn));
      const found = await pods.cache.indexFor(query.sought ?? [], query.scope);
      expect(found && listFound(found, snapshot, query)).toEqual(await listTree(snapshot, query));
    }
  }
});

test('a label that few objects have is looked up from the second query on, and finds what looking at everything finds', async () => {
  const pods = new Pods(8, 4000);
  for (let changes = 0; changes < 4000; changes += 1) pods.change();
  const app: SoughtValue = { of: 'label', name: 'app', value: 'app-3' };
  expect(await pods.cache.indexFor([app], {})).toBeUndefined();
  for (let turn = 0; turn < 50; turn += 1) {
    for (let changes = pods.below(50); changes > 0; changes -= 1) pods.change();
    const query: ListQuery = {
      ...{ resource: PODS, scope: turn % 2 === 0 ? {} : { namespace: 'ns-1' }, freshness: { kind: 'any' } },
      ...{ limit: pods.below(2) * 5, sought: [app], matches: ({ labels }) => labels.app === 'app-3' },
    };
    const snapshot = pods.cache.snapshot(toRevision(turn));
    const found = await pods.cache.indexFor([app], query.scope);
    expect(found && listFound(found, snapshot, query)).toEqual(await listTree(snapshot, query));
  }
  const none = await pods.cache.indexFor([{ ...app, value: 'no-such' }], {});
  expect(none?.index.count('no-such')).toBe(0);
});

test('a label that most objects have, an inherited name and a small scope are not looked up', async () => {
  const pods = new Pods(9, 4000);
  for (let changes = 0; changes < 4000; changes += 1) pods.change();
  const seek = async (name: string, value: string, scope: Scope = {}) => {
    await pods.cache.indexFor([{ of: 'label', name, value }], scope);
    return pods.cache.indexFor([{ of: 'label', name, value }], scope);
  };
  expect(await seek('tier', 'web')).toBeUndefined();
  expect(await seek('app', 'app-1', { namespace: 'ns-9' })).toBeUndefined();
  expect((await seek('constructor', 'x'))?.index.count('x')).toBe(0);
});

test('of labels, as many indexes are kept as are sought of late', async () => {
  const pods = new Pods(10, 4000);
  for (let changes = 0; changes < 4000; changes += 1) pods.change();
  const first: SoughtValue = { of: 'label', name: 'app', value: 'app-1' };
  await pods.cache.indexFor([first], {});
  expect(await pods.cache.indexFor([first], {})).toBeDefined();
  for (let at = 0; at < 8; at += 1)
    for (const _ of [1, 2]) await pods.cache.indexFor([{ of: 'label', name: `l${at}`, value: 'x' }], {});
  expect(await pods.cache.indexFor([first], {})).toBeUndefined();
});

test('changes between two reads do not read the fields, and the next one reads those of changed objects alone', async () => {
  const pods = new Pods(4);
  for (let changes = 0; changes < 500; changes += 1) pods.change();
  expect(pods.reads).toBe(0);
  (await nodeIndexOf(pods.cache)).entriesWith('node-1');
  expect(pods.reads).toBe(pods.cache.size);
  const before = pods.reads;
  pods.change();
  expect(pods.reads).toBe(before);
  (await nodeIndexOf(pods.cache)).entriesWith('node-1');
  expect(pods.reads).toBeLessThanOrEqual(before + 1);
});

test('after more changes than an index keeps up with it is made anew', async () => {
  const pods = new Pods(5, 4000);
  for (let changes = 0; changes < 100; changes += 1) pods.change();
  (await nodeIndexOf(pods.cache)).entriesWith('node-1');
  for (let changes = 0; changes < 10_000; changes += 1) pods.change();
  expect(pods.cache.size).toBeGreaterThan(4096);
  const found = (await nodeIndexOf(pods.cache)).entriesWith('node-2');
  const expected = [...pods.cache.snapshot(toRevision(1)).tree.entries()]
    .map(([, entry]) => entry)
    .filter(({ fields }) => fields.node === 'node-2');
  expect(found.map(([, entry]) => entry)).toEqual(expected);
});

test('while an index is filled others have their turn, and what they change is found', async () => {
  const pods = new Pods(6, 4000);
  for (let changes = 0; changes < 10_000; changes += 1) pods.change();
  // As if each took a while to read.
  pods.onRead = () => {
    const end = performance.now() + 0.1;
    while (performance.now() < end);
  };
  let turns = 0;
  const other = setInterval(() => {
    turns += 1;
    for (let changes = 0; changes < 5; changes += 1) pods.change();
  }, 1);
  const index = await nodeIndexOf(pods.cache);
  clearInterval(other);
  pods.onRead = () => {};
  expect(turns).toBeGreaterThan(20);
  const snapshot = pods.cache.snapshot(toRevision(1));
  for (const node of ['node-1', 'node-2', 'node-3', 'node-4']) {
    const expected = [...snapshot.tree.entries()].filter(([, { fields }]) => fields.node === node);
    expect(index.entriesWith(node)).toEqual(expected);
  }
});

test('a list of what is selected lets others have their turn, and shows one moment', async () => {
  const pods = new Pods(7, 4000);
  for (let changes = 0; changes < 10_000; changes += 1) pods.change();
  const then = [...pods.cache.snapshot(toRevision(1)).tree.entries()].map(([, entry]) => entry);
  let turns = 0;
  const other = setInterval(() => {
    turns += 1;
    pods.change();
  }, 1);
  const query: ListQuery = {
    ...{ resource: PODS, scope: {}, freshness: { kind: 'any' }, limit: 0 },
    matches: () => {
      const end = performance.now() + 0.1;
      while (performance.now() < end);
      return true;
    },
  };
  const { entries } = await listTree(pods.cache.snapshot(toRevision(1)), query);
  clearInterval(other);
  expect(turns).toBeGreaterThan(20);
  expect(entries).toEqual(then);
});
