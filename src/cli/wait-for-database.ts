import { describeTrouble, explainFault, isPassing } from '../storage/postgres/trouble.ts';
import { persist } from '../util/pause.ts';
import { createReminder } from '../util/reminder.ts';

export interface WaitOptions {
  readonly signal: AbortSignal;
  /** How long it may take to answer; without end unless told. */
  readonly patience?: { readonly ms: number; readonly flag: string };
  /** Told now and then what is waited for, in one line. */
  say(line: string): void;
}

/**
 * Does something with the database as soon as there is one: one that starts, fails over or is full of connections is waited
 * for, because server and database may be started together.
 * @throws the signal's reason, and Error that says in one line what to change where waiting does not help, or what was waited for
 * in vain
 */
export async function waitForDatabase<Result>(
  work: () => Promise<Result>,
  { signal, patience, say }: WaitOptions,
): Promise<Result> {
  const remind = createReminder((trouble) => say(`waiting for the database: ${trouble}`));
  const endsAtMs = patience === undefined ? Number.POSITIVE_INFINITY : performance.now() + patience.ms;
  try {
    return await persist(work, {
      signal,
      // What is under way is not cut off: it may be a migration.
      isPassing: (error) => isPassing(error) && performance.now() < endsAtMs,
      onFailure: (error) => remind(describeTrouble(error)),
    });
  } catch (error) {
    if (patience === undefined || !isPassing(error)) throw explainFault(error);
    const reason = `the database did not answer within ${patience.ms / 1000} s (${patience.flag})`;
    throw new Error(`${reason}: ${describeTrouble(error)}`, { cause: error });
  }
}
