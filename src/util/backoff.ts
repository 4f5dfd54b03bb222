/** The pauses between attempts at something that others may wait for too. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to wait after so many failures in a row: twice as long each time up to a bound, and the second half of it left to
 * chance, so that all who lost the same thing at one moment do not come back for it at one moment. `chance`: from 0 to 1.
 *
 *     pauseAfter(1, { firstMs: 100, longestMs: 2000 }, 1) → 100
 *     pauseAfter(4, { firstMs: 100, longestMs: 2000 }, 0) → 400
 *     pauseAfter(9, { firstMs: 100, longestMs: 2000 }, 1) → 2000
 */
export function pauseAfter(
  failures: number,
  { firstMs, longestMs }: Backoff,
  chance: number = Math.random(),
): number {
  const wholeMs = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return wholeMs * (0.5 + chance / 2);
}
