import { describeTrouble, explainFault, isPassing } from '../storage/postgres/connection/trouble.ts';
import { persist } from '../util/pause.ts';
import { createReminder } from '../util/reminder.ts';
import { explainRefusal } from './explain-refusal.ts';

interface WaitOptions {
  readonly signal: AbortSignal;
  /** How long to wait; absent: without limit. */
  readonly patience?: { readonly ms: number; readonly flag: string };
  /** Reports now and then, in one line, why the start waits. */
  say(line: string): void;
}

/**
 * Runs work on the database as soon as it is available: waits for one that starts, fails over or has no free connections,
 * because server and database may start together.
 * @throws the signal's reason, and Error with a message of one line when waiting does not help, or lasted too long
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
      // Never interrupts work: it may be a migration.
      isPassing: (error) => isPassing(error) && performance.now() < endsAtMs,
      onFailure: (error) => remind(explainRefusal(error, describeTrouble(error))),
    });
  } catch (error) {
    if (patience === undefined || !isPassing(error)) throw explainFault(error);
    const reason = `the database did not answer within ${patience.ms / 1000} s (${patience.flag})`;
    throw new Error(`${reason}: ${describeTrouble(error)}`, { cause: error });
  }
}
