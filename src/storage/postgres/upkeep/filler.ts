import { pause } from '../../../util/pause.ts';
import { isUnknownFunction } from '../connection/statements.ts';

/**
 * An object last written so many revisions or so long ago gets its bytes. Most of what is written often is written again before
 * that, and its bytes are never copied. This also bounds what a cold start looks for in the log.
 */
const BEHIND_REVISIONS = 100_000;
const OLDER_THAN = '10 minutes';
/** Commits wait for a step, a few milliseconds at most; this lets them in. */
const STEP_PAUSE_MS = 5;

/** Makes one step by a call of SQL, and returns its answer. */
type MakeStep = (call: string) => Promise<string>;

/**
 * Gives objects the bytes that commits have left to the log, as far as due (migrations/0083). Any server may do it, several at once
 * too: steps take turns, and the database knows where the next begins.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function fillObjects(makeStep: MakeStep, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await fillSome(makeStep)) !== 'nothing') await pause(STEP_PAUSE_MS, signal);
}

async function fillSome(makeStep: MakeStep): Promise<string> {
  try {
    return await makeStep(`fill_objects(${BEHIND_REVISIONS}, '${OLDER_THAN}')`);
  } catch (error) {
    // The migration is not applied yet; until then commits leave nothing out.
    if (isUnknownFunction(error)) return 'nothing';
    throw error;
  }
}
