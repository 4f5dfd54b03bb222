import { expect, test } from 'vitest';
import { describeWindow } from '../../src/cli/database.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test('a window is said in whole units, with what it was, and with the shorter ones of some resources', () => {
  expect(describeWindow({ windowMs: DAY_MS })).toBe('history is kept for 1 day');
  expect(describeWindow({ windowMs: 1.5 * HOUR_MS, before: 30 * DAY_MS })).toBe(
    'history is kept for 90 minutes instead of 30 days',
  );
  const shorter = new Map([
    ['leases.coordination.k8s.io', HOUR_MS],
    ['events', 2 * HOUR_MS],
  ]);
  expect(describeWindow({ windowMs: DAY_MS, before: 'unset', shorter })).toBe(
    'history is kept for 1 day, of events for 2 hours, of leases.coordination.k8s.io for 1 hour',
  );
});
