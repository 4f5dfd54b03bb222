import type { Database } from '../connection/connection.ts';

/** Rows per transaction: few, so that neither locks nor WAL come in lumps. */
const BATCH_ROWS = 1000;
/** How far a commit may take the log ahead of its server's clock (commit_revisions). */
const MAX_CLOCK_DIFFERENCE_S = 60;

interface ClockRow {
  readonly corrected: string;
  readonly log_ahead: string | null;
  readonly clock_ahead: string;
}

interface ClockOptions {
  readonly onTrouble: (message: string) => void;
  /** This server's clock. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Gives rows from the future the present time: the window would not reach them as long as they are ahead. Returns whether the
 * clocks of the database and of this server agree.
 */
export async function correctClock(
  { pool }: Database,
  { onTrouble, now, signal }: ClockOptions,
): Promise<boolean> {
  let total = 0;
  let agree = true;
  for (;;) {
    const text = 'SELECT corrected, log_ahead, clock_ahead FROM correct_clock($1, $2)';
    const values = [new Date(now()).toISOString(), BATCH_ROWS];
    const [row] = (await pool.query<ClockRow>({ text, values })).rows;
    const corrected = Number(row?.corrected ?? 0);
    if (total === 0) agree = compareClocks(row, onTrouble);
    total += corrected;
    if (corrected === 0 || signal.aborted) break;
  }
  if (total > 0) onTrouble(`${total} revisions were dated in the future; they have the present time now`);
  return agree;
}

function compareClocks(row: ClockRow | undefined, onTrouble: (message: string) => void): boolean {
  const difference = describeClockDifference(Number(row?.clock_ahead ?? 0));
  if (difference === undefined) return true;
  onTrouble(difference);
  return false;
}

/** Takes how far the database's clock is ahead, in seconds. Undefined: the clocks agree. */
export function describeClockDifference(aheadS: number): string | undefined {
  const seconds = Math.round(aheadS);
  if (Math.abs(seconds) <= MAX_CLOCK_DIFFERENCE_S) return undefined;
  const direction = seconds > 0 ? 'ahead of' : 'behind';
  return `the database's clock is ${Math.abs(seconds)} s ${direction} this server's: set them right; until then this server cuts off no history`;
}
