import { expect, test } from 'vitest';
import { percentile, summarize } from './percentile.ts';

test('a percentile is the smallest value that so many do not exceed', () => {
  const hundred = Float64Array.from({ length: 100 }, (_, at) => at + 1);
  expect([0.01, 0.5, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([1, 50, 99, 100]);
  expect(percentile(Float64Array.of(7), 0.99)).toBe(7);
});

test('values need not be in order, and none at all have no percentile', () => {
  expect(summarize([3, 1, 20])).toEqual({ p50: 3, p99: 20, max: 20 });
  expect(summarize([]).p50).toBeNaN();
});
