import { defineFlags } from '../flag.ts';

/** Flags under the heading Limits. */
export const limitsFlags = defineFlags('Limits', [
  {
    name: 'max-requests-inflight',
    type: 'int',
    default: 400,
    meaning:
      'non-mutating requests in flight; with priority and fairness on, the sum with the mutating limit is the total concurrency limit and must be positive; 0 disables otherwise',
  },
  {
    name: 'max-mutating-requests-inflight',
    type: 'int',
    default: 200,
    meaning: 'mutating requests in flight; same rule',
  },
  {
    name: 'request-timeout',
    type: 'duration',
    default: '1m0s',
    meaning: 'default time a handler keeps a request open',
  },
  {
    name: 'min-request-timeout',
    type: 'int',
    default: 1800,
    meaning: 'honored by watch handlers, which pick a random value above it',
  },
  {
    name: 'max-connection-bytes-per-sec',
    type: 'int',
    default: 0,
    meaning: 'throttle per user connection; long-running requests only',
  },
]);
