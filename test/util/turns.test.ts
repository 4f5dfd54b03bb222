import { expect, test } from 'vitest';
import {
  atOnce,
  inOwnTurn,
  inTurns,
  Pace,
  type Steps,
  untilTheyWait,
  waitFor,
} from '../../src/util/turns.ts';

function* adding(numbers: readonly (number | Promise<number>)[]): Steps<number> {
  let sum = 0;
  for (const one of numbers) {
    sum += one instanceof Promise ? yield* waitFor(one) : one;
    yield;
  }
  return sum;
}

test('steps are done at once until they wait for something', async () => {
  expect(untilTheyWait(adding([1, 2, 3]))).toBe(6);
  const later = untilTheyWait(adding([1, Promise.resolve(2), 3]));
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(6);
  expect(await inTurns(adding([Promise.resolve(2), 3]))).toBe(5);
  expect(() => atOnce(adding([Promise.resolve(2)]))).toThrow('these steps wait');
});

test('steps get the error of the promise that they wait for', async () => {
  function* forgiving(): Steps<string> {
    try {
      return String(yield* adding([Promise.reject(new Error('away'))]));
    } catch (error) {
      return `it is ${(error as Error).message}`;
    }
  }
  expect(await untilTheyWait(forgiving())).toBe('it is away');
  await expect(inTurns(adding([Promise.reject(new Error('away'))]))).rejects.toThrow('away');
});

test('a turn is over after its time, and the next one begins when other work has run', async () => {
  let nowMs = 0;
  let reads = 0;
  const now = (): number => {
    reads += 1;
    return nowMs;
  };
  const pace = new Pace({ stepsBetween: 4, turnMs: 5, now });
  nowMs = 6;
  expect([pace.isOver(), pace.isOver(2)]).toEqual([false, false]);
  expect(reads).toBe(1);
  expect(pace.isOver()).toBe(true);
  expect([...pace.pass()]).toHaveLength(1);
  expect(pace.isOver(4)).toBe(false);
  nowMs = 12;
  expect(pace.isOver(4)).toBe(true);
  await pace.rest();
  expect(pace.isOver(4)).toBe(false);
});

test('a step for a large object runs after other work, for a small one at once', async () => {
  const ran: string[] = [];
  setImmediate(() => ran.push('other work'));
  expect(inOwnTurn(false, () => ran.push('small'))).toBe(1);
  await inOwnTurn(true, () => ran.push('large'));
  expect(ran).toEqual(['small', 'other work', 'large']);
});
