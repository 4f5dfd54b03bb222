import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  differenceOf,
  firstHunks,
  type Row,
  type Side,
  toHunks,
} from '../../src/console/model/difference.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

const textOf = (side: Side | undefined): string | undefined => side?.pieces.map(({ text }) => text).join('');
const sideOf = (rows: readonly Row[], which: 'left' | 'right'): string[] =>
  rows.flatMap((row) => textOf(row[which]) ?? []);

test('each side of a difference is what it was made from, and its lines are counted', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'a b', ''), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const rows = differenceOf(before, after);
      expect(sideOf(rows, 'left')).toEqual(before);
      expect(sideOf(rows, 'right')).toEqual(after);
      expect(rows.flatMap(({ left }) => left?.number ?? [])).toEqual(before.map((_, index) => index + 1));
      expect(toHunks(rows).flatMap((hunk) => hunk.rows)).toEqual(rows);
    }),
    { seed: 17, numRuns: 300 },
  );
});

test('a changed line shows which words changed', () => {
  const [row] = differenceOf(['image: web:1.4'], ['image: web:1.5']);
  expect(row).toMatchObject({ kind: 'changed' });
  expect(
    row?.right?.pieces
      .filter(({ isChanged }) => isChanged)
      .map(({ text }) => text)
      .join(''),
  ).toContain('5');
  expect(row?.left?.pieces[0]).toMatchObject({ isChanged: false });
});

test('what is the same far from a change is folded', () => {
  const before = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const after = before.with(20, 'other');
  const hunks = toHunks(differenceOf(before, after));
  expect(hunks.map(({ isFolded, rows }) => [isFolded, rows.length])).toEqual([
    [true, 17],
    [false, 7],
    [true, 16],
  ]);
});

test('states that have nothing in common are compared in no time', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `before ${index}`);
  const after = Array.from({ length: 20_000 }, (_, index) => `after ${index}`);
  const spentMs = cpuMsOf(() => expect(differenceOf(before, after)).toHaveLength(20_000));
  expect(spentMs).toBeLessThan(5000);
});

test('a long run of changes is in parts, of which as many are shown as have the rows that are wanted', () => {
  const lines = Array.from({ length: 2500 }, (_, index) => `line ${index}`);
  const hunks = toHunks(differenceOf([], lines));
  expect(hunks.map(({ rows }) => rows.length)).toEqual([1000, 1000, 500]);
  expect(firstHunks(hunks, 1000)).toHaveLength(1);
  expect(firstHunks(hunks, 1001)).toHaveLength(2);
  expect(firstHunks(hunks, 9999)).toHaveLength(3);
  const same = toHunks(differenceOf(lines, lines));
  expect(firstHunks(same, 1)).toEqual(same);
});
