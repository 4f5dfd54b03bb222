import { pause } from '../../../util/pause.ts';

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
 * Gives objects the bytes that commits have left to the log, as far as due (fill_objects, in migrations/). Any server may do it, several at once
 * too: steps take turns, and the database knows where the next begins.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function fillObjects(makeStep: MakeStep, signal: AbortSignal): Promise<void> {
  const step = `fill_objects(${BEHIND_REVISIONS}, '${OLDER_THAN}')`;
  while (!signal.aborted && (await makeStep(step)) !== 'nothing') await pause(STEP_PAUSE_MS, signal);
}
