import { expect, test } from 'vitest';
import { parseOptions } from '../../src/options/options.ts';

test('priority and fairness is on by default, with 600 seats', () => {
  expect(parseOptions([]).limits).toMatchObject({
    priorityAndFairness: true,
    maxRequestsInflight: 400,
    maxMutatingRequestsInflight: 200,
  });
});

test('the limits may not be negative, and with priority and fairness not both be 0', () => {
  const zero = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0'];
  expect(() => parseOptions(['--max-requests-inflight=-1'])).toThrow(
    '--max-requests-inflight can not be negative',
  );
  expect(() => parseOptions(['--max-mutating-requests-inflight=-1'])).toThrow('can not be negative');
  expect(() => parseOptions(zero)).toThrow('--enable-priority-and-fairness');
  expect(() => parseOptions(zero.slice(1))).not.toThrow();
  expect(() => parseOptions([...zero, '--enable-priority-and-fairness=false'])).not.toThrow();
});
