import { MAX_SEATS } from '../work/work.ts';
import type { Level } from './level.ts';

/** The part of a level's seats that one request may take. */
const WIDEST_PART = 0.15;

/**
 * Divides the server's seats among the levels by their shares, rounding up, and says how much of it each may lend and
 * borrow. Answers the sum, which is a little more than the server's seats.
 */
export function assignLimits(levels: readonly Level[], serverSeats: number): number {
  const shareSum = levels.reduce((sum, { config }) => sum + config.shares, 0);
  let nominalSum = 0;
  for (const level of levels) {
    const { shares, lendablePercent, borrowingLimitPercent, queuing } = level.config;
    const nominal = shareSum === 0 ? 0 : Math.ceil((serverSeats * shares) / shareSum);
    const borrowed =
      borrowingLimitPercent === undefined ? serverSeats : Math.round((nominal * borrowingLimitPercent) / 100);
    const lent = Math.round((nominal * lendablePercent) / 100);
    level.limits = { nominal, minimum: nominal - lent, maximum: nominal + borrowed };
    level.recorder.limits(level.limits);
    level.widest = queuing === undefined ? MAX_SEATS : widestOf(nominal, queuing.handSize);
    nominalSum += nominal;
  }
  return nominalSum;
}

/** A flow can hold as many requests at the heads of queues as its hand has cards; all of them must find room. */
function widestOf(nominal: number, handSize: number): number {
  const widest = Math.min(Math.ceil(nominal * WIDEST_PART), Math.floor(nominal / handSize), MAX_SEATS);
  return Math.max(widest, 1);
}
