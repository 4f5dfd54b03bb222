import { afterEach, expect, test, vi } from 'vitest';
import { giveBackMemory, IdleCollection } from '../../src/util/give-back-memory.ts';

const MEGABYTE = 1024 * 1024;

afterEach(() => void vi.useRealTimers());

/** How often memory was collected when the server was ready, and 25 s later. */
function collections(usedMegabytes: readonly number[], utilizations: readonly number[] = []): number[] {
  vi.useFakeTimers();
  const [used, busy] = [[...usedMegabytes], [...utilizations]];
  let count = 0;
  giveBackMemory({
    collect: () => {
      count += 1;
    },
    usedBytes: () => (used.shift() ?? 0) * MEGABYTE,
    utilization: () => busy.shift() ?? 0,
  });
  const atOnce = count;
  vi.advanceTimersByTime(25_000);
  return [atOnce, count];
}

test('a small heap is collected after the start, which need not wait', () => {
  expect(collections([20, 20])).toEqual([0, 1]);
});

test('a large heap is collected before the first request, and none is collected while requests would wait', () => {
  expect(collections([500])).toEqual([1, 1]);
  expect(collections([20, 500])).toEqual([0, 0]);
});

test('a server that has work is left alone until it is idle', () => {
  // Each wait begins with a reading that does not count.
  expect(collections([20, 20, 20], [0, 0.5, 0, 0.05])).toEqual([0, 1]);
  expect(collections([20, 20, 20], [0, 0.5, 0, 0.5])).toEqual([0, 0]);
});

test('memory that is freed later is collected once the thread is idle, once for all calls before', () => {
  vi.useFakeTimers();
  const flavors: string[] = [];
  const busy = [0, 0.5, 0, 0.05];
  const collection = new IdleCollection({
    collect: (flavor) => flavors.push(flavor),
    usedBytes: () => 500 * MEGABYTE,
    utilization: () => busy.shift() ?? 0,
  });
  collection.begin();
  collection.begin();
  vi.advanceTimersByTime(15_000);
  expect(flavors).toEqual([]);
  vi.advanceTimersByTime(30_000);
  expect(flavors).toEqual(['regular']);
  collection.begin();
  vi.advanceTimersByTime(15_000);
  expect(flavors).toEqual(['regular', 'regular']);
});
