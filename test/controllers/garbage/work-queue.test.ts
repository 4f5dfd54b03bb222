import { expect, test, vi } from 'vitest';
import { WorkQueue } from '../../../src/controllers/garbage/work-queue.ts';
import { endTurn } from '../../../src/util/turns.ts';

type WorkQueueOptions = ConstructorParameters<typeof WorkQueue<string>>[0];

const SHORT = { firstMs: 1, longestMs: 2 };

/** A queue whose work ends when the test says so. */
function held(options: Partial<WorkQueueOptions> = {}) {
  const stop = new AbortController();
  const begun: { readonly item: string; readonly end: PromiseWithResolvers<'done' | 'again'> }[] = [];
  const queue = new WorkQueue<string>({
    atOnce: 2,
    work: (item) => {
      const end = Promise.withResolvers<'done' | 'again'>();
      begun.push({ item, end });
      return end.promise;
    },
    onError: () => SHORT,
    ...options,
  });
  const over = queue.run(stop.signal);
  const names = (): string[] => begun.map(({ item }) => item);
  return { queue, begun, names, stop, over };
}

async function turns(): Promise<void> {
  for (let at = 0; at < 3; at += 1) await endTurn();
}

test('so many at a time are worked on, in the order in which they came, and each once', async () => {
  const { queue, begun, names, stop, over } = held();
  for (const item of ['a', 'b', 'c', 'a', 'c']) queue.add(item);
  expect(names()).toEqual([]);
  await turns();
  expect(names()).toEqual(['a', 'b']);
  expect(queue.depth).toBe(1);
  begun[1]?.end.resolve('done');
  await turns();
  expect(names()).toEqual(['a', 'b', 'c']);
  stop.abort();
  for (const { end } of begun) end.resolve('done');
  await over;
});

test('what is added while it is worked on is worked on again afterwards, and never twice at a time', async () => {
  const { queue, begun, names, stop, over } = held();
  queue.add('a');
  await turns();
  queue.add('a');
  queue.add('a');
  await turns();
  expect(names()).toEqual(['a']);
  begun[0]?.end.resolve('done');
  await turns();
  expect(names()).toEqual(['a', 'a']);
  begun[1]?.end.resolve('done');
  await turns();
  expect(names()).toHaveLength(2);
  expect(queue.unfinished).toBe(0);
  stop.abort();
  await over;
});

test('an item that fails is tried again after longer and longer waits, and delays no other item', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    let attempts = 0;
    const worked: string[] = [];
    const stop = new AbortController();
    const queue = new WorkQueue<string>({
      atOnce: 1,
      work: async (item) => {
        worked.push(item);
        if (item === 'bad' && ++attempts < 5) throw new Error('no');
        return 'done';
      },
      onError: () => ({ firstMs: 100, longestMs: 100_000 }),
    });
    const over = queue.run(stop.signal);
    queue.add('bad');
    queue.add('good');
    await turns();
    expect(worked).toEqual(['bad', 'good']);
    const waits: number[] = [];
    for (let passed = 0; attempts < 5; passed += 10) {
      const before = attempts;
      vi.advanceTimersByTime(10);
      await turns();
      if (attempts > before) waits.push(passed - waits.reduce((sum, wait) => sum + wait, 0));
      expect(passed).toBeLessThan(10_000);
    }
    for (const [at, wait] of waits.slice(1).entries()) expect(wait).toBeGreaterThan((waits[at] ?? 0) * 0.9);
    expect(waits.at(-1)).toBeGreaterThan(350);
    expect(queue.counts.retried).toBe(4);
    expect(queue.unfinished).toBe(0);
    stop.abort();
    await over;
  } finally {
    vi.useRealTimers();
  }
});

test('what came too late is tried again, and is no failure', async () => {
  let attempts = 0;
  const errors: unknown[] = [];
  const stop = new AbortController();
  const done = Promise.withResolvers<void>();
  const queue = new WorkQueue<string>({
    atOnce: 1,
    work: async () => {
      attempts += 1;
      if (attempts < 3) return 'again';
      done.resolve();
      return 'done';
    },
    onError: (error) => {
      errors.push(error);
      return SHORT;
    },
  });
  const over = queue.run(stop.signal);
  queue.add('a');
  await done.promise;
  expect(errors).toEqual([]);
  stop.abort();
  await over;
});

test('it ends when the work that was begun has ended, and begins none', async () => {
  const { queue, begun, names, stop, over } = held({ atOnce: 1 });
  queue.add('a');
  queue.add('b');
  await turns();
  stop.abort();
  let isOver = false;
  void over.then(() => {
    isOver = true;
  });
  await turns();
  expect(isOver).toBe(false);
  begun[0]?.end.reject(new Error('cut off'));
  await over;
  expect(names()).toEqual(['a']);
});

test('it ends at once when it is stopped while items are worked on', async () => {
  const stop = new AbortController();
  const queue = new WorkQueue<string>({
    atOnce: 1,
    work: async () => {
      // Longer than one may work without a rest. What is asked for first comes first: the end, in the midst of the rest.
      for (const until = performance.now() + 15; performance.now() < until; );
      setImmediate(() => stop.abort());
      return 'done';
    },
    onError: () => SHORT,
  });
  queue.add('a');
  await queue.run(stop.signal);
});
