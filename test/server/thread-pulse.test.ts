import { expect, test, vi } from 'vitest';
import { ThreadPulse } from '../../src/server/threads/thread-pulse.ts';

test('a thread that does not answer is unready after two seconds, and not alive after thirty; an answer mends both', async () => {
  vi.useFakeTimers();
  try {
    let answer: (trouble: string) => void = () => {};
    let questions = 0;
    const ask = (): Promise<string> => {
      questions += 1;
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    let nowMs = 0;
    const pulse = new ThreadPulse('thread 2', ask, () => nowMs);
    const unready = expect(pulse.assertReady()).rejects.toThrow('thread 2: no answer for 2 s');
    await vi.advanceTimersByTimeAsync(2000);
    await unready;
    nowMs = 30_000;
    pulse.assertAlive();
    nowMs = 30_001;
    expect(() => pulse.assertAlive()).toThrow('thread 2: no answer for 30 s');
    expect(questions).toBe(1);
    answer('');
    await vi.advanceTimersByTimeAsync(0);
    pulse.assertAlive();
    answer('thread 2: watch-cache: it does not work at the moment');
    await expect(pulse.assertReady()).rejects.toThrow('thread 2: watch-cache: it does not work');
    const ready = pulse.assertReady();
    answer('');
    await ready;
  } finally {
    vi.useRealTimers();
  }
});
