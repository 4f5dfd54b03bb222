import { atOnce, endTurn, inTurns, type Steps } from '../../util/end-turn.ts';

/**
 * A write has many steps, and each of them looks at all of an object. For one of the usual size they take less than a
 * millisecond together; for the largest, each of them takes as much as others may be made to wait for at once.
 */
const LARGE_BYTES = 64 * 1024;

export const isLarge = (sizeBytes: number): boolean => sizeBytes > LARGE_BYTES;

/** Undefined, which is not to be waited for, when all was done at once. */
export function stepwise(large: boolean | undefined, steps: Steps<void>): Promise<void> | undefined {
  if (large === true) return inTurns(steps);
  atOnce(steps);
  return undefined;
}

/** Between two steps. Undefined, which is not to be waited for, when there is no need. */
export const breathe = (large: boolean | undefined): Promise<void> | undefined =>
  large === true ? endTurn() : undefined;
