import { expect, test } from 'vitest';
import { CountedTree } from '../../../src/storage/watch-cache/counted-tree.ts';
import { cases } from '../../kit/cases.ts';
import { threadMs } from '../../kit/thread-time.ts';

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const END = '\u{10FFFF}';
const sorted = (model: ReadonlyMap<string, number>): [string, number][] =>
  [...model].sort(([a], [b]) => (a < b ? -1 : 1));

function between(tree: CountedTree<number>, low: string, high: string): [string, number][] {
  const found: [string, number][] = [];
  expect(tree.visit(low, high, (key, value) => found.push([key, value]) > 0)).toBe(true);
  return found;
}

function expectSame(
  tree: CountedTree<number>,
  model: ReadonlyMap<string, number>,
  random: (n: number) => number,
): void {
  const expected = sorted(model);
  expect(tree.size).toBe(model.size);
  expect(between(tree, '', END)).toEqual(expected);
  expect([...tree.entries()]).toEqual(expected);
  for (let round = 0; round < 5; round += 1) {
    const [low, high] = [`k${random(4000)}`, `k${random(4000)}`];
    const inside = expected.filter(([key]) => key >= low && key < high);
    expect(between(tree, low, high)).toEqual(inside);
    expect(tree.count(low, high)).toBe(inside.length);
    expect([...tree.entries(low)]).toEqual(expected.filter(([key]) => key >= low));
  }
}

test('a tree holds, counts and orders what a plain map holds, through any changes, and its copies what it held then', () => {
  const random = createRandom(11);
  const tree = new CountedTree<number>();
  const model = new Map<string, number>();
  const copies: [CountedTree<number>, Map<string, number>][] = [];
  for (let step = 0; step < cases(60_000); step += 1) {
    const key = `k${random(4000)}`;
    // Grows to thousands, shrinks to nothing, and grows again.
    if (random(10) < (Math.floor(step / 12_000) % 2 === 0 ? 7 : 2)) {
      tree.set(key, step);
      model.set(key, step);
    } else {
      tree.delete(key);
      model.delete(key);
    }
    expect(tree.get(key)).toBe(model.get(key));
    if (step % 2999 === 0) {
      expectSame(tree, model, random);
      copies.push([tree.clone(), new Map(model)]);
    }
  }
  for (const key of model.keys()) tree.delete(key);
  expect(tree.size).toBe(0);
  expect([...tree.entries()]).toEqual([]);
  for (const [copy, then] of copies) expectSame(copy, then, random);
});

test('a copy that is changed leaves the other as it is', () => {
  const tree = new CountedTree<number>();
  for (let at = 0; at < 10_000; at += 1) tree.set(`k${at}`, at);
  const copy = tree.clone();
  copy.set('k5', -1);
  copy.delete('k7');
  tree.set('new', 1);
  expect([tree.get('k5'), tree.get('k7'), copy.get('new')]).toEqual([5, 7, undefined]);
  expect([tree.size, copy.size]).toEqual([10_001, 9_999]);
});

test('a visitor that has enough ends the visit', () => {
  const tree = new CountedTree<number>();
  for (let at = 0; at < 1000; at += 1) tree.set(String(at).padStart(4, '0'), at);
  const seen: number[] = [];
  expect(tree.visit('0100', END, (_, value) => seen.push(value) < 3)).toBe(false);
  expect(seen).toEqual([100, 101, 102]);
});

test('counting costs the same however many there are', () => {
  const time = (size: number): number => {
    const tree = new CountedTree<number>();
    for (let at = 0; at < size; at += 1) tree.set(String(at).padStart(7, '0'), at);
    const begun = threadMs();
    for (let round = 0; round < cases(2000); round += 1)
      expect(tree.count(`00000${round % 10}`, END)).toBeGreaterThan(0);
    return threadMs() - begun;
  };
  const small = time(1000);
  // A walk would take three hundred times as long.
  expect(Math.min(time(300_000), time(300_000))).toBeLessThan(Math.max(20, small * 20));
});
