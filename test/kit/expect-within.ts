import { expect } from 'vitest';
import { slowness } from './slowness.ts';

/** Expects CPU time of this thread below a bound, which grows with how slow the machine is at this moment. */
export function expectWithin(boundMs: number, tookMs: number, what?: string): void {
  if (tookMs < boundMs) return;
  expect(tookMs, what).toBeLessThan(boundMs * slowness());
}
