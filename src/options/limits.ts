import { notNegative } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { bool, duration, int, UsageError } from './flag.ts';

export const fairnessFlags = {
  priorityAndFairness: bool('enable-priority-and-fairness', {
    default: true,
    meaning: 'queueing and dispatching handler with priority and fairness replaces the max-in-flight handler',
  }),
};

export const limitsFlags = {
  maxRequestsInflight: int('max-requests-inflight', {
    default: 400,
    meaning:
      'non-mutating requests in flight; with priority and fairness on, the sum with the mutating limit is the total concurrency limit and must be positive; 0 disables otherwise',
    check: limit,
  }),
  maxMutatingRequestsInflight: int('max-mutating-requests-inflight', {
    default: 200,
    meaning: 'mutating requests in flight; same rule',
    check: limit,
  }),
  requestTimeoutMs: duration('request-timeout', {
    default: '1m0s',
    meaning: 'default time a handler keeps a request open',
    check: moreThanZero,
  }),
  minRequestTimeoutMs: int('min-request-timeout', {
    default: 1800,
    meaning: 'honored by watch handlers, which pick a random value above it',
    check: (seconds, flag) => moreThanZero(seconds, flag) * 1000,
  }),
  bytesPerSecond: int('max-connection-bytes-per-sec', {
    default: 0,
    meaning: 'throttle per user connection; long-running requests only',
    check: notNegative,
  }),
};

/** How many requests are served at a time, and for how long. */
export type LimitOptions = ReturnType<typeof readLimits>;

/** @throws UsageError */
export function readLimits(line: CommandLine) {
  const limits = { ...line.valuesOf(fairnessFlags), ...line.valuesOf(limitsFlags) };
  const { maxRequestsInflight, maxMutatingRequestsInflight } = limitsFlags;
  if (limits.priorityAndFairness && limits.maxRequestsInflight + limits.maxMutatingRequestsInflight === 0) {
    throw new UsageError(
      `${maxRequestsInflight.shown} and ${maxMutatingRequestsInflight.shown} must not both be 0 with ` +
        `${fairnessFlags.priorityAndFairness.shown}: their sum is what is divided`,
    );
  }
  return Object.freeze(limits);
}

function limit(count: number, flag: string): number {
  if (count < 0) throw new UsageError(`${flag} can not be negative value`);
  return count;
}

function moreThanZero(time: number, flag: string): number {
  if (time <= 0) throw new UsageError(`${flag} must be more than 0`);
  return time;
}
