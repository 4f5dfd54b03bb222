import { afterEach, expect, test, vi } from 'vitest';
import type { Stored, Target } from '../../../src/controllers/garbage/followed-kinds.ts';
import { Graph, type Node } from '../../../src/controllers/garbage/graph.ts';

const MAPS = { group: '', resource: 'configmaps' } as unknown as Stored;
const TARGET: Target = { resource: MAPS, namespaced: true, isServed: true };

afterEach(() => vi.restoreAllMocks());

/** Objects that are all deleted in the foreground, each owned by the one before it; the first by the last in a ring. */
function chainOf(length: number, isRing: boolean): (at: number) => Node {
  const graph = new Graph({ find: () => TARGET, due: () => {}, onForeign: () => {} });
  graphs.push(graph);
  for (let at = 0; at < length; at++) {
    const owner = at > 0 ? at - 1 : isRing ? length - 1 : undefined;
    const reference = { apiVersion: 'v1', group: '', kind: 'ConfigMap', blocks: true };
    const references = owner === undefined ? [] : [{ ...reference, name: `m${owner}`, uid: `u${owner}` }];
    graph.observe(
      `u${at}`,
      { resource: MAPS, namespace: 'a', name: `m${at}` },
      { references, ending: 'foreground' },
    );
  }
  return (at) => {
    const node = graph.find(`u${at}`);
    if (node === undefined) throw new Error('there is no such node');
    return node;
  };
}

const graphs: Graph[] = [];
const waits = async (node: Node): Promise<boolean | undefined> => graphs.at(-1)?.waitsForItself(node);

test('others have their turns while a long chain of owners is walked', async () => {
  const middle = chainOf(20_000, false)(10_000);
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 100));
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  expect(await waits(middle)).toBe(false);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(10);
});

test('the ends of a chain of owners are judged at once, however long it is', async () => {
  const node = chainOf(20_000, false);
  let looks = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (looks += 1));
  expect([await waits(node(0)), await waits(node(19_999))]).toEqual([false, false]);
  expect(looks).toBeLessThan(10);
});

test('all objects of a long ring wait for themselves, and none that hangs on it', async () => {
  const node = chainOf(1000, true);
  expect(await Promise.all([0, 1, 500, 999].map((at) => waits(node(at))))).toEqual([true, true, true, true]);
  const graph = graphs.at(-1);
  const reference = { apiVersion: 'v1', group: '', kind: 'ConfigMap', blocks: true, name: 'm3', uid: 'u3' };
  const place = { resource: MAPS, namespace: 'a', name: 'hanging' };
  graph?.observe('hanging', place, { references: [reference], ending: 'foreground' });
  const hanging = graph?.find('hanging');
  expect(hanging && (await waits(hanging))).toBe(false);
});
