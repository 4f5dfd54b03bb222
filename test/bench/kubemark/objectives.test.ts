import { expect, test } from 'vitest';
import { firstToGiveIn } from './held.ts';
import { podsPerSecondOf } from './jobs.ts';
import { type Asked, judge, Times } from './objectives.ts';

const CREATE: Asked = { verb: 'POST', resource: 'pods', scope: 'resource' };
const LIST: Asked = { verb: 'LIST', resource: 'pods', scope: 'namespace' };

test('times of all processes are judged together: writes by a second, lists by thirty', () => {
  const [one, other] = [new Times(), new Times()];
  for (let at = 0; at < 99; at += 1) one.took(CREATE, 10);
  for (let at = 0; at < 2; at += 1) other.took(CREATE, 1001);
  other.took(LIST, 29_000);
  const verdicts = judge([...one.take(), ...other.take()]);
  expect(verdicts.map(({ asked, count, p99Ms, isHeld }) => [asked.verb, count, p99Ms, isHeld])).toEqual([
    ['LIST', 1, 29_000, true],
    ['POST', 101, 1001, false],
  ]);
  expect(one.take()).toEqual([]);
});

test('what is refused more often than once in a hundred is not held, however fast', () => {
  const times = new Times();
  for (let at = 0; at < 100; at += 1) times.took(CREATE, 1);
  times.failed(CREATE, '409');
  expect(judge(times.take())[0]).toMatchObject({ failed: 1, isHeld: true });
  for (let at = 0; at < 100; at += 1) times.took(CREATE, 1);
  for (const status of ['409', '409', '503']) times.failed(CREATE, status);
  expect(judge(times.take())[0]).toMatchObject({ failed: 3, isHeld: false });
});

test('a full load or machine is named before the server, which nothing is known about then', () => {
  const parts = { server: 0.95, database: 0.2, load: 0.3, machine: 0.6, delay: 0.1 };
  expect(firstToGiveIn(parts)).toMatch(/^the server .* gave in first$/);
  expect(firstToGiveIn({ ...parts, machine: 1 })).toMatch(/^the machine .* gave in first$/);
  expect(firstToGiveIn({ ...parts, server: 0.5 })).toMatch(/^nearest to its end: the machine/);
});

test('pods are replaced at ten a second, fewer in small clusters and more in large ones', () => {
  expect([5, 50, 100, 1000, 5000].map(podsPerSecondOf)).toEqual([1, 5, 10, 10, 50]);
});
