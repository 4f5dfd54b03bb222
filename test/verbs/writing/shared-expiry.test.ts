import { expect, test } from 'vitest';
import { SharedExpiry } from '../../../src/verbs/writing/shared-expiry.ts';

const HOUR = 3_600_000;
const momentsOf = (expiry: SharedExpiry, times: readonly number[]): number[] =>
  times.map((at) => expiry.next(at).getTime());

test('what is written within the reuse time ends together, never before its time', () => {
  const expiry = new SharedExpiry({ ttlMs: HOUR, reuseMs: 60_000 });
  expect(momentsOf(expiry, [0, 1, 59_999, 60_000, 61_000])).toEqual([
    HOUR + 60_000,
    HOUR + 60_000,
    HOUR + 60_000,
    HOUR + 120_000,
    HOUR + 120_000,
  ]);
});

test('a life is no more than a twentieth longer than it should be', () => {
  expect(momentsOf(new SharedExpiry({ ttlMs: 10_000, reuseMs: 60_000 }), [0, 499, 501])).toEqual([
    10_500, 10_500, 11_001,
  ]);
});

test('without a reuse time each ends when its own time is up', () => {
  expect(momentsOf(new SharedExpiry({ ttlMs: HOUR, reuseMs: 0 }), [0, 0, 5])).toEqual([HOUR, HOUR, HOUR + 5]);
});

test('a thousand share a moment, and no more', () => {
  const expiry = new SharedExpiry({ ttlMs: HOUR, reuseMs: 60_000 });
  const moments = momentsOf(
    expiry,
    Array.from({ length: 1001 }, (_, at) => at),
  );
  expect(new Set(moments.slice(0, 1000))).toEqual(new Set([HOUR + 60_000]));
  expect(moments[1000]).toBe(HOUR + 61_000);
});

test('a clock that was set back gives no object a longer life', () => {
  const expiry = new SharedExpiry({ ttlMs: HOUR, reuseMs: 60_000 });
  expect(momentsOf(expiry, [10 * HOUR, 0])).toEqual([11 * HOUR + 60_000, HOUR + 60_000]);
});
