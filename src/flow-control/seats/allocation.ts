import type { FlowMetrics } from '../metrics.ts';
import type { Level } from './level.ts';

/** A claim to `target` seats, at least `lower` and at most `upper`. */
export interface Wish {
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

interface Allocation {
  /** In the order of the wishes; may be fractions. */
  readonly seats: readonly number[];
  /** Every wish gets this part of its target, within its bounds. */
  readonly fraction: number;
}

/** No fraction could raise a target of zero. */
const LEAST_TARGET = 0.001;

/**
 * Divides `total` so that every wish gets the same fraction of its target, within its bounds (Kubernetes: the same rule). The sum
 * rises with the fraction, in straight lines between the fractions at which a wish meets a bound, so the right fraction lies on
 * the line that passes the total.
 *
 * Example: 10 for targets 6 (1 to 20) and 2 (4 to 20) gives 6 and 4 at a fraction of 1: the lower bound raises the second.
 *
 * Undefined when the bounds leave no solution.
 */
export function allocate(total: number, wishes: readonly Wish[]): Allocation | undefined {
  const bounded = wishes.map((wish) => ({ ...wish, target: Math.max(wish.target, LEAST_TARGET) }));
  const given = (fraction: number): number[] =>
    bounded.map(({ target, lower, upper }) => Math.min(Math.max(fraction * target, lower), upper));
  const turns = bounded
    .flatMap(({ target, lower, upper }) => [lower / target, upper / target])
    .sort((a, b) => a - b);
  let before = { fraction: turns[0] ?? 0, sum: sum(given(turns[0] ?? 0)) };
  // Sums of the same bounds may differ in the last digits.
  if (before.sum > total + TOLERANCE) return undefined;
  for (const fraction of turns) {
    const at = { fraction, sum: sum(given(fraction)) };
    if (at.sum >= total) {
      const rise = at.sum - before.sum;
      const part = rise === 0 ? 0 : (total - before.sum) / rise;
      const found = before.fraction + part * (at.fraction - before.fraction);
      return { seats: given(found), fraction: found };
    }
    before = at;
  }
  return before.sum >= total - TOLERANCE
    ? { seats: given(before.fraction), fraction: before.fraction }
    : undefined;
}

const TOLERANCE = 1e-7;
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

interface AdjustmentOptions {
  /** Sum of the levels' nominal seats. */
  readonly nominalSum: number;
  readonly serverSeats: number;
  readonly now: number;
  readonly metrics: FlowMetrics;
}

/**
 * No level lends its last seat: without one, its next request would wait for the next adjustment. Kubernetes lets levels of very
 * small servers, and those that lend everything, fall to zero.
 */
const lastSeat = ({ limits }: Level): number => Math.min(limits.nominal, 1);

/** The seats that a level must get now: its recent demand, up to its own seats, and at least the seats that it cannot lend. */
function minimumNow(level: Level): number {
  const { config, limits, statistics } = level;
  if (config.exempt) return Math.max(limits.minimum, statistics.highWatermark);
  return Math.max(limits.minimum, Math.min(limits.nominal, statistics.highWatermark), lastSeat(level));
}

/**
 * Lends seats of levels that do not need them to levels that do, by their demand since the last adjustment. Exempt requests run
 * in any case, so their seats are subtracted first; if that leaves too few, every level gets less.
 */
export function adjustSeats(levels: readonly Level[], options: AdjustmentOptions): void {
  const { nominalSum, serverSeats, now, metrics } = options;
  for (const level of levels) level.statistics.update(level.demand.reset(now));
  const seats = divide(levels, nominalSum, metrics);
  for (const level of levels) {
    const { statistics } = level;
    level.setSeats(seats.get(level) ?? level.seats, Math.max(1, Math.round(serverSeats / 10)));
    level.recorder.adjusted({
      highWatermark: statistics.highWatermark,
      average: statistics.average,
      deviation: statistics.deviation,
      smoothed: statistics.smoothed,
      target: targetOf(level),
      limit: level.seats,
    });
  }
}

const targetOf = (level: Level): number => Math.max(minimumNow(level), level.statistics.smoothed);

function divide(levels: readonly Level[], nominalSum: number, metrics: FlowMetrics): Map<Level, number> {
  const seats = new Map<Level, number>();
  const limited = levels.filter(({ config }) => !config.exempt);
  let remaining = nominalSum;
  for (const level of levels.filter(({ config }) => config.exempt)) {
    seats.set(level, minimumNow(level));
    remaining -= minimumNow(level);
  }
  const minimumSum = limited.reduce((sum, { limits }) => sum + limits.minimum, 0);
  const nowSum = limited.reduce((sum, level) => sum + minimumNow(level), 0);
  if (remaining <= nowSum) {
    // Too few seats for all current minimums: each level gets the same part of the difference above the seats that it cannot lend.
    const part = remaining <= minimumSum ? 0 : (remaining - minimumSum) / (nowSum - minimumSum);
    for (const level of limited) {
      const { minimum } = level.limits;
      const more = Math.round((minimumNow(level) - minimum) * part);
      seats.set(level, Math.max(minimum + more, lastSeat(level)));
    }
    metrics.fairFraction(0);
    return seats;
  }
  const wishes = limited.map((level) => ({
    target: targetOf(level),
    lower: minimumNow(level),
    upper: level.limits.maximum,
  }));
  const allocation = allocate(remaining, wishes);
  // Without a solution every level keeps its seats.
  if (allocation === undefined) return seats;
  metrics.fairFraction(allocation.fraction);
  for (const [at, level] of limited.entries())
    seats.set(level, Math.round(allocation.seats[at] ?? level.seats));
  return seats;
}
