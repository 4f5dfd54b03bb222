import { expect, test } from 'vitest';
import { MaxInFlight } from '../../src/flow-control/flow-control.ts';
import { RetryAfter } from '../../src/flow-control/priority-and-fairness.ts';
import { admitted, ownCounters, toRequest } from './kit.ts';

test('without fairness, reading and mutating requests have a limit each, and requests above it are refused at once', () => {
  const limits = new MaxInFlight({ reading: 2, mutating: 1 }, ownCounters().seats);
  const one = admitted(limits.begin(toRequest({ verb: 'get' })));
  admitted(limits.begin(toRequest({ verb: 'list' })));
  expect(limits.begin(toRequest({ verb: 'get' }))).toMatchObject({ admitted: false, retryAfterSeconds: 1 });
  admitted(limits.begin(toRequest({ verb: 'create' })));
  expect(limits.begin(toRequest({ verb: 'patch' }))).toMatchObject({ admitted: false });
  one.end();
  one.end();
  admitted(limits.begin(toRequest({ verb: 'get' })));
  expect(limits.begin(toRequest({ verb: 'get' }))).toMatchObject({ admitted: false });
});

test('administrators and long-running requests are not refused, and 0 is no limit', () => {
  const limits = new MaxInFlight({ reading: 1, mutating: 0 }, ownCounters().seats);
  admitted(limits.begin(toRequest({})));
  expect(limits.begin(toRequest({ groups: ['system:masters'] }))).toBeUndefined();
  expect(limits.begin(toRequest({ verb: 'watch' }))).toBeUndefined();
  expect(limits.begin(toRequest({ verb: 'create' }))).toBeUndefined();
});

test('callers are sent away for twice as long while many are refused, and for less again when few are', () => {
  let now = 0;
  const retry = new RetryAfter(() => now * 1000);
  const refuse = (times: number, everySeconds: number): number => {
    let seconds = 0;
    for (let n = 0; n < times; n += 1) seconds = retry.refuse('level');
    now += everySeconds;
    return seconds;
  };
  const rising = Array.from({ length: 40 }, () => refuse(100, 1));
  expect(rising[0]).toBe(1);
  expect(rising[1]).toBe(2);
  expect([...new Set(rising)]).toEqual([1, 2, 4, 8, 16, 32]);
  now += 100;
  const sinking = Array.from({ length: 60 }, () => refuse(1, 2));
  expect(sinking.at(-1)).toBeLessThan(5);
  expect(retry.refuse('another level')).toBe(1);
});
