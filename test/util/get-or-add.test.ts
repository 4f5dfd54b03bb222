import { expect, test } from 'vitest';
import { getOrAdd } from '../../src/util/get-or-add.ts';

test('a value is made once for its key, and none is made for a key that has one', () => {
  const groups = new Map<string, number[]>();
  for (const [name, item] of [
    ['odd', 1],
    ['even', 2],
    ['odd', 3],
  ] as const)
    getOrAdd(groups, name, () => []).push(item);
  expect([...groups]).toEqual([
    ['odd', [1, 3]],
    ['even', [2]],
  ]);
  const known = new Map([['zero', 0]]);
  expect(getOrAdd(known, 'zero', () => expect.unreachable())).toBe(0);
});
