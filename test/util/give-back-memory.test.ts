import { afterEach, expect, test, vi } from 'vitest';
import { giveBackMemory } from '../../src/util/give-back-memory.ts';

const MEGABYTE = 1024 * 1024;

afterEach(() => void vi.useRealTimers());

/** How often memory was collected when the server was ready, and half a minute later. */
function collections(...usedMegabytes: number[]): number[] {
  vi.useFakeTimers();
  let count = 0;
  const collect = (): void => {
    count += 1;
  };
  giveBackMemory(collect, () => (usedMegabytes.shift() ?? 0) * MEGABYTE);
  const atOnce = count;
  vi.advanceTimersByTime(30_000);
  return [atOnce, count];
}

test('a small heap is collected after the start, which need not wait', () => {
  expect(collections(20, 20)).toEqual([0, 1]);
});

test('a large heap is collected before the first request, and none is collected while requests would wait', () => {
  expect(collections(500)).toEqual([1, 1]);
  expect(collections(20, 500)).toEqual([0, 0]);
});
