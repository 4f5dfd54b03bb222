import { expect, test } from 'vitest';
import { goDuration } from '../../src/util/go-duration.ts';

test.each([
  [0, '0s'],
  [0.012, '12µs'],
  [503.2, '503.2ms'],
  [1250, '1.25s'],
  [59_999.9996, '1m0s'],
  [90_000, '1m30s'],
  [7_200_000, '2h0m0s'],
  [-2, '-2ms'],
])('%d ms are %s', (ms, text) => {
  expect(goDuration(ms)).toBe(text);
});
