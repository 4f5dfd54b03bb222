import { StatusError } from '../../api/status.ts';

/** What others may have done before a write, as a fact in its result: no failure, and nothing that must be caught. */

/** @throws what else went wrong */
export const orNotFound = <Result>(write: Promise<Result>): Promise<Result | 'not-found'> =>
  orFact(write, 'NotFound', 'not-found');

/** @throws what else went wrong */
export const orExists = <Result>(write: Promise<Result>): Promise<Result | 'exists'> =>
  orFact(write, 'AlreadyExists', 'exists');

/** `reason`: of the status that tells the fact. @throws what else went wrong */
export async function orFact<Result, Fact extends string>(
  write: Promise<Result>,
  reason: 'NotFound' | 'AlreadyExists' | 'Conflict',
  fact: Fact,
): Promise<Result | Fact> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === reason) return fact;
    throw error;
  }
}

/**
 * A namespace that ends, or is no more, takes nothing new: plugins refuse it (403 with a cause, 404).
 * @throws what else went wrong
 */
export async function orNamespaceGone<Result>(write: Promise<Result>): Promise<Result | 'namespace-gone'> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { reason, details } = error.status;
    const isEnding = details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;
    if (reason === 'NotFound' || isEnding) return 'namespace-gone';
    throw error;
  }
}
