import { describeTrouble, explainFault, isPassing } from '../storage/postgres/trouble.ts';
import { createReminder } from '../util/now-and-then.ts';
import { persist } from '../util/persist.ts';

export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Told now and then what is waited for, in one line. */
  say(line: string): void;
}

/**
 * Does something with the database as soon as there is one: one that starts, fails over or is full of connections is waited
 * for without end, because server and database may be started together.
 * @throws the signal's reason, and Error that says in one line what to change where waiting does not help
 */
export async function waitForDatabase<Result>(
  work: () => Promise<Result>,
  { signal, say }: WaitOptions,
): Promise<Result> {
  const remind = createReminder((trouble) => say(`waiting for the database: ${trouble}`));
  try {
    return await persist(work, {
      signal,
      isPassing,
      onFailure: (error) => remind(describeTrouble(error)),
    });
  } catch (error) {
    throw explainFault(error);
  }
}
