import { expect, test, vi } from 'vitest';
import { leavePartitions } from '../../src/storage/postgres/upkeep/leaver.ts';
import { pause } from '../../src/util/pause.ts';

test('between two steps of leaving partitions, commits have the database to themselves for three times as long as a step took', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const begunAt: number[] = [];
    const stopping = new AbortController();
    const durations = [20, 500, 10];
    const leaving = leavePartitions(async () => {
      begunAt.push(performance.now());
      const ms = durations.shift();
      if (ms === undefined) return 'nothing';
      await pause(ms, stopping.signal);
      return 'more';
    }, stopping.signal);
    const startedAt = performance.now();
    await vi.runAllTimersAsync();
    await leaving;
    expect(begunAt.map((at) => Math.round(at - startedAt))).toEqual([0, 80, 2080, 2120]);
  } finally {
    vi.useRealTimers();
  }
});
