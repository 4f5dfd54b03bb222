import { expect, test } from 'vitest';
import { pauseAfter } from '../../src/util/pause.ts';

const BACKOFF = { firstMs: 100, longestMs: 2000 };

test('pauses double up to a bound', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 2000].map((failures) => pauseAfter(failures, BACKOFF, 1));
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 2000, 2000, 2000]);
});

test('half of a pause is left to chance, so that servers that fail together do not come back together', () => {
  expect([0, 0.5, 1].map((chance) => pauseAfter(4, BACKOFF, chance))).toEqual([400, 600, 800]);
  const pauses = new Set(Array.from({ length: 20 }, () => pauseAfter(4, BACKOFF)));
  expect(pauses.size).toBeGreaterThan(1);
});
