import { pause } from '../../../util/pause.ts';
import type { DatabaseSource } from '../connection/connection.ts';

/**
 * An object last written so many revisions or so long ago gets its bytes. Most of what is written often is written again before
 * that, and its bytes are never copied. This also bounds what a cold start looks for in the log.
 */
const BEHIND_REVISIONS = 100_000;
const OLDER_THAN = '10 minutes';
/** Commits wait for a step, a few milliseconds at most; this lets them in. */
const STEP_PAUSE_MS = 5;

/**
 * Gives objects the bytes that commits have left to the log, as far as due (fill_objects, in migrations/). Any server may do it, several at once
 * too: steps take turns, and the database knows where the next begins.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function fillObjects(database: DatabaseSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await makeStep(database)) !== 'nothing') await pause(STEP_PAUSE_MS, signal);
}

async function makeStep(database: DatabaseSource): Promise<string | undefined> {
  const { pool } = await database();
  const values = [BEHIND_REVISIONS, OLDER_THAN];
  const { rows } = await pool.query<{ step: string }>({ text: STEP, values });
  return rows[0]?.step;
}

const STEP = 'SELECT fill_objects($1, $2) AS step';
