import { expect, test } from 'vitest';
import { runTogether, Slots, workInBatches } from '../../src/util/concurrency.ts';
import { aborted } from '../../src/util/pause.ts';
import { endTurn } from '../../src/util/turns.ts';

test('when one loop fails, the others are stopped and waited for before the error is thrown', async () => {
  const events: string[] = [];
  const fail = Promise.withResolvers<never>();
  const together = runTogether(
    [
      () => fail.promise,
      async (signal) => {
        await aborted(signal);
        await new Promise(setImmediate);
        events.push('the other has ended');
        throw new Error('on the way out');
      },
    ],
    new AbortController().signal,
  ).catch((error: Error) => events.push(error.message));
  fail.reject(new Error('broken'));
  await together;
  expect(events).toEqual(['the other has ended', 'broken']);
});

test('a loop that has nothing more to do does not end the others', async () => {
  const stop = new AbortController();
  const events: string[] = [];
  const together = runTogether([async () => {}, aborted], stop.signal).then(() =>
    events.push('all have ended'),
  );
  await new Promise(setImmediate);
  expect(events).toEqual([]);
  stop.abort();
  await together;
  expect(events).toEqual(['all have ended']);
});

test('no more than so many are done at once, in the order they came, also when some fail', async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  let active = 0;
  let most = 0;
  const results = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((n) =>
      slots.run(async () => {
        begun.push(n);
        active += 1;
        most = Math.max(most, active);
        await new Promise((resolve) => setTimeout(resolve, 5));
        active -= 1;
        if (n % 2 === 0) throw new Error('even');
        return n;
      }),
    ),
  );
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
});

/** Work that ends when its signal fires: `begun` has what was begun and has not ended. */
function createWork() {
  const begun = new Map<number, PromiseWithResolvers<void>>();
  const work = async (item: number): Promise<void> => {
    const end = Promise.withResolvers<void>();
    begun.set(item, end);
    await end.promise.finally(() => begun.delete(item));
  };
  return { begun, work };
}

test('as many batches as there are workers are under way at a time', async () => {
  for (const workers of [1, 3]) {
    const { begun, work } = createWork();
    const items = Array.from({ length: 10 }, (_, at) => at);
    const all = workInBatches(items, { workers, batchSize: 2, work });
    const sizes: number[] = [];
    while (begun.size > 0) {
      sizes.push(begun.size);
      for (const { resolve } of begun.values()) resolve();
      await endTurn();
    }
    await all;
    expect(sizes).toEqual(workers === 1 ? [2, 2, 2, 2, 2] : [6, 4]);
  }
});

test('after a failure no batch is begun, and those under way have ended before it is thrown', async () => {
  const { begun, work } = createWork();
  const events: string[] = [];
  const all = workInBatches([0, 1, 2, 3, 4, 5], { workers: 2, batchSize: 1, work }).catch((error: Error) =>
    events.push(error.message),
  );
  begun.get(0)?.reject(new Error('refused'));
  await endTurn();
  expect([...begun.keys()]).toEqual([1]);
  expect(events).toEqual([]);
  begun.get(1)?.resolve();
  await all;
  expect(events).toEqual(['refused']);
  expect(begun.size).toBe(0);
});

test('a large batch does not begin as a whole before others have their turn', async () => {
  let begun = 0;
  const work = async (): Promise<void> => {
    begun += 1;
  };
  const all = workInBatches(Array.from({ length: 256 }), { workers: 1, batchSize: 256, work });
  const seen: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    seen.push(begun);
    await endTurn();
  }
  await all;
  expect(seen).toEqual([32, 64, 96]);
  expect(begun).toBe(256);
});
