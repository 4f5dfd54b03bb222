import { pause } from '../../util/pause.ts';
import type { DatabaseSource } from './connection.ts';
import { isUnknownFunction } from './statements.ts';

/**
 * An object that was written last so many revisions ago gets its bytes; or so long ago. Most of what is written often is written
 * again before that, and its bytes are never copied. What a cold start has to look for in the log is bounded by it too.
 */
const BEHIND_REVISIONS = 100_000;
const OLDER_THAN = '10 minutes';
/** Commits wait for a step, a few milliseconds at most: this is theirs in between. */
const STEP_PAUSE_MS = 5;

/**
 * Brings objects the bytes that commits have left to the log, as far as that is due (migrations/0042). Any server may do it, at
 * the same time too: one at a time makes a step, and the database knows where the next one begins.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function fillObjects(database: DatabaseSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await makeStep(database)) !== 'nothing') await pause(STEP_PAUSE_MS, signal);
}

async function makeStep(database: DatabaseSource): Promise<string | undefined> {
  const { pool } = await database();
  try {
    const { rows } = await pool.query<{ step: string }>({
      text: STEP,
      values: [BEHIND_REVISIONS, OLDER_THAN],
    });
    return rows[0]?.step;
  } catch (error) {
    // The migration waits for somebody who may apply it; until then nothing is left out.
    if (isUnknownFunction(error)) return 'nothing';
    throw error;
  }
}

const STEP = 'SELECT fill_objects($1, $2) AS step';
