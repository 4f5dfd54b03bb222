import { endTurn } from './end-turn.ts';

/**
 * Work that says where it can be interrupted: a generator that yields between two steps. Who has little of it does it at once,
 * who has much of it in turns with everybody else.
 */
export type Steps<Result> = Generator<void, Result>;

export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  let step = steps.next();
  while (step.done !== true) {
    await endTurn();
    step = steps.next();
  }
  return step.value;
}
