import { expect, test } from 'vitest';
import { aborted } from '../../src/util/aborted.ts';
import { runTogether } from '../../src/util/run-together.ts';

test('when one loop fails, the others are stopped and waited for before the error is told', async () => {
  const told: string[] = [];
  const fail = Promise.withResolvers<never>();
  const together = runTogether(
    [
      () => fail.promise,
      async (signal) => {
        await aborted(signal);
        await new Promise(setImmediate);
        told.push('the other has ended');
        throw new Error('on the way out');
      },
    ],
    new AbortController().signal,
  ).catch((error: Error) => told.push(error.message));
  fail.reject(new Error('broken'));
  await together;
  expect(told).toEqual(['the other has ended', 'broken']);
});

test('a loop that has nothing more to do does not end the others', async () => {
  const stop = new AbortController();
  const told: string[] = [];
  const together = runTogether([async () => {}, aborted], stop.signal).then(() =>
    told.push('all have ended'),
  );
  await new Promise(setImmediate);
  expect(told).toEqual([]);
  stop.abort();
  await together;
  expect(told).toEqual(['all have ended']);
});
