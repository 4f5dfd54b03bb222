/** Somebody who wants `target` seats, must get `lower` and cannot use more than `upper`. */
export interface Wish {
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

export interface Allocation {
  /** In the order of the wishes; not whole numbers. */
  readonly seats: readonly number[];
  /** Everybody gets this part of the target, unless a bound says otherwise. */
  readonly fraction: number;
}

/** A target of nothing could never be raised by any fraction. */
const LEAST_TARGET = 0.001;

/**
 * Divides `total` so that everybody gets the same fraction of their target, within their bounds (Kubernetes: the same
 * rule). What is given out rises with the fraction, in straight lines between the fractions at which somebody meets a
 * bound; so the right fraction lies on the line that passes the total.
 *
 * Example: 10 for targets 6 (1 to 20) and 2 (4 to 20) gives 6 and 4 at a fraction of 1: the second is held up by its bound.
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
