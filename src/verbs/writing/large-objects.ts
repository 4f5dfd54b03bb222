import { endTurn } from '../../util/end-turn.ts';
import { atOnce, inTurns, type Steps } from '../../util/steps.ts';

/**
 * A write has many steps, and each of them looks at all of an object. For one of the usual size they take less than a
 * millisecond together; for the largest, each of them takes as much as others may be made to wait for at once.
 */
const LARGE_BYTES = 64 * 1024;

export const isLarge = (sizeBytes: number): boolean => sizeBytes > LARGE_BYTES;

/** In turns with other work for a large object, else at once: then there is nothing to wait for, and it answers undefined. */
export function runSteps(large: boolean, steps: Steps<void>): Promise<void> | undefined {
  if (large) return inTurns(steps);
  atOnce(steps);
  return undefined;
}

/** Between two steps: for a large object, other work has its turn. Undefined when there is nothing to wait for. */
export const endTurnIf = (large: boolean): Promise<void> | undefined => (large ? endTurn() : undefined);
