import { expect, test, vi } from 'vitest';
import { ThreadPulse } from '../../src/server/threads/thread-pulse.ts';

test('a thread that does not answer is unready after two seconds, and not alive after thirty; an answer mends both', async () => {
  // inTime waits one more round of the event loop, which is the real one.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
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

test('a thread that hangs is noticed after five looks, and one that was only late is not', async () => {
  vi.useFakeTimers();
  try {
    let answer: (trouble: string) => void = () => {};
    const ask = (): Promise<string> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const pulse = new ThreadPulse('thread 2', ask);
    const stop = new AbortController();
    let failure: unknown;
    const watched = pulse.watch(stop.signal).catch((error: unknown) => {
      failure = error;
    });
    await vi.advanceTimersByTimeAsync(14_000);
    answer('');
    await vi.advanceTimersByTimeAsync(14_000);
    expect(failure).toBeUndefined();
    await vi.advanceTimersByTimeAsync(4000);
    expect(String(failure)).toContain('thread 2: no answer for 15 s');
    await watched;
    const stopped = new ThreadPulse('thread 3', ask).watch(stop.signal);
    stop.abort();
    await stopped;
  } finally {
    vi.useRealTimers();
  }
});
