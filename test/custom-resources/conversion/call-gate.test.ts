import { expect, test } from 'vitest';
import {
  CallGate,
  CallRefused,
  type GateLimits,
} from '../../../src/custom-resources/conversion/call-gate.ts';
import { AnswerTimeout } from '../../../src/outbound/webhook-client.ts';
import { endTurn } from '../../../src/util/turns.ts';

const LIMITS: GateLimits = { maxCalls: 2, maxWaiting: 2, maxWaitMs: 60_000, restMs: 60_000 };

function startCalls(gate: CallGate) {
  const calls: PromiseWithResolvers<string>[] = [];
  const results: string[] = [];
  const start = (): void => {
    gate
      .run(() => {
        const call = Promise.withResolvers<string>();
        calls.push(call);
        return call.promise;
      })
      .then(
        (result) => results.push(result),
        (error: Error) => results.push(error.message),
      );
  };
  return { calls, results, start };
}

test('no more calls are under way than may be; others wait in order, and beyond that they are refused', async () => {
  const { calls, results, start } = startCalls(new CallGate(LIMITS));
  for (let times = 0; times < 5; times += 1) start();
  await endTurn();
  expect(calls).toHaveLength(2);
  expect(results).toEqual(['too many calls are under way']);
  calls[0]?.resolve('first');
  await endTurn();
  expect(calls).toHaveLength(3);
  calls[2]?.resolve('third');
  await endTurn();
  calls[1]?.resolve('second');
  calls[3]?.resolve('fourth');
  await endTurn();
  expect(results.slice(1)).toEqual(['first', 'third', 'second', 'fourth']);
  start();
  start();
  await endTurn();
  expect(calls).toHaveLength(6);
});

test('a caller waits no longer than the bound', async () => {
  const { calls, results, start } = startCalls(new CallGate({ ...LIMITS, maxWaitMs: 10 }));
  for (let times = 0; times < 3; times += 1) start();
  await expect.poll(() => results).toEqual(['too many calls are under way']);
  calls[0]?.resolve('first');
  await endTurn();
  start();
  await endTurn();
  expect(calls).toHaveLength(3);
});

test('after a call without an answer the others fail at once, until one that is tried has an answer', async () => {
  let now = 0;
  const gate = new CallGate({ ...LIMITS, restMs: 20 }, () => now);
  const { calls, results, start } = startCalls(gate);
  for (let times = 0; times < 4; times += 1) start();
  await endTurn();
  calls[0]?.reject(new AnswerTimeout(30_000));
  await endTurn();
  const silent = 'it does not answer: no answer within 30s';
  expect(results.sort()).toEqual([silent, silent, 'no answer within 30s']);
  calls[1]?.reject(new AnswerTimeout(30_000));
  start();
  await endTurn();
  expect(calls).toHaveLength(2);
  expect(results.filter((text) => text === silent)).toHaveLength(3);
  // After the rest one call is tried, and only one.
  now = 20;
  start();
  start();
  await endTurn();
  expect(calls).toHaveLength(3);
  expect(results.filter((text) => text === silent)).toHaveLength(4);
  calls[2]?.resolve('it is back');
  await endTurn();
  start();
  start();
  await endTurn();
  expect(calls).toHaveLength(5);
});

test('a failure that comes quickly does not delay other calls', async () => {
  const { calls, results, start } = startCalls(new CallGate(LIMITS));
  start();
  await endTurn();
  calls[0]?.reject(new Error('connection refused'));
  await endTurn();
  start();
  await endTurn();
  expect(calls).toHaveLength(2);
  expect(results).toEqual(['connection refused']);
});

test('a refused call says whether it may soon be tried again', async () => {
  const gate = new CallGate({ ...LIMITS, maxWaiting: 0 });
  const never = (): Promise<never> => new Promise(() => {});
  void gate.run(never);
  void gate.run(never);
  const error = await gate.run(never).catch((reason: unknown) => reason);
  expect(error instanceof CallRefused && error.webhook).toBe('busy');
});
