import { expect, test } from 'vitest';
import { DerivedCache } from '../../src/codec/packed-pages.ts';

const sized = (sizeBytes: number) => ({ sizeBytes });

test('a value made from an object is found again', () => {
  const kept = new DerivedCache<{ sizeBytes: number }>(1000);
  const object = {};
  const made = sized(100);
  kept.set(object, made);
  expect(kept.get(object)).toBe(made);
  expect(kept.get({})).toBeUndefined();
});

test('when there is no more room the first stay, and are let go when something newer was used instead', () => {
  let now = 0;
  const kept = new DerivedCache<{ sizeBytes: number }>(400, () => now);
  const [first, second, third, fourth] = [{}, {}, {}, {}];
  kept.set(first, sized(100));
  kept.set(second, sized(100));
  kept.set(third, sized(100));
  expect(kept.get(first)).toBeDefined();
  expect(kept.get(third)).toBeUndefined();
  now = 20_000;
  kept.set(third, sized(100));
  expect(kept.get(first)).toBeDefined();
  now = 40_000;
  kept.set(fourth, sized(100));
  expect(kept.get(second)).toBeUndefined();
  expect(kept.get(first)).toBeDefined();
});
