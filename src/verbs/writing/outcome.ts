import { StatusError } from '../../api/status.ts';

/** What a write finds that is no failure: a fact that the caller has to look at, where a status would have to be caught. */

/** @throws what else went wrong */
export const orNotFound = <Result>(write: Promise<Result>): Promise<Result | 'not-found'> =>
  orReason(write, 'NotFound', 'not-found');

async function orReason<Result, Fact>(
  write: Promise<Result>,
  reason: string,
  fact: Fact,
): Promise<Result | Fact> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === reason) return fact;
    throw error;
  }
}
