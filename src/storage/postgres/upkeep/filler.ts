import { pause } from '../../../util/pause.ts';

/**
 * One step. An object gets its bytes ten minutes after its last write, or earlier, after so many revisions: 100,000, or three times the number of
 * objects where that is more. Most of what is written often is written again before that, and its bytes are never copied; where each
 * write takes an object at random, one in twenty is not. The log has the bytes of no more objects than a cold start reads anyway.
 *
 * The number of objects is the planner's estimate, which costs a step three pages. It is -1 before the first ANALYZE.
 */
const FILL_STEP = `fill_objects(
  greatest(100000, 3 * (SELECT c.reltuples::bigint FROM pg_class c WHERE c.oid = 'objects'::regclass)), '10 minutes'
)`;

/** Commits wait for a step; this lets them in. */
const STEP_PAUSE_MS = 5;

/** Makes one step by a call of SQL, and returns its answer. */
type MakeStep = (call: string) => Promise<string>;

/**
 * Gives objects the bytes that commits have left to the log, as far as due (fill_objects, in migrations/). Any server may do it, several at once
 * too: steps take turns, and the database knows where the next begins.
 *
 * A step copies at most 50 objects or 250 kB, under the ordering lock: 2 to 6 ms, 28 ms at most. It needs the lock because a commit
 * writes objects at the places where it has found them. A commit that looked for them again by key, so that fills may move them meanwhile,
 * would take 4% more CPU for ten writes, and each commit would pay that.
 *
 * The bytes lie in the rows of the table, as in the log, so that its heap is as large as the objects. Out of line (toast_tuple_target = 128),
 * 20,000 objects of 5.4 kB take 630 pages of heap instead of 20,400, but replacing one of 5 kB writes a quarter more WAL, and reading all of
 * them, as a cold start does, takes a third more CPU. Upkeep follows the log, so it does not pay for a wide heap.
 * @throws what PostgreSQL and the network say; then, and on the signal, another call goes on
 */
export async function fillObjects(makeStep: MakeStep, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await makeStep(FILL_STEP)) !== 'nothing') await pause(STEP_PAUSE_MS, signal);
}
