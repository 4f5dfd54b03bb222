import { pause } from '../../util/pause.ts';
import type { Database, DatabaseSource } from './connection.ts';
import { isConnectionFailure } from './statements.ts';

/** Rows looked at in one transaction: small, so that neither locks nor WAL come in lumps. */
const BATCH_ROWS = 1000;
/** As far as a commit lets the log go ahead of its server's clock (commit_revisions). */
const MAX_CLOCK_DIFFERENCE_S = 60;

interface ClockRow {
  readonly corrected: string;
  readonly log_ahead: string | null;
  readonly clock_ahead: string;
}

/**
 * Cuts history off behind the window. A row goes when the row that superseded it is older than the window, and so does an
 * old tombstone; live objects' rows are never touched, nor is the newest row of all, whose revision is the current one.
 *
 * The walk goes forward over the successors, by primary key, from the last compacted revision: each row is looked at once
 * in its life. One server does it at a time: whoever has the row that says how far it has come. How far back history is kept
 * is in that row too, one value for all servers.
 */
export class Compactor {
  readonly #database: DatabaseSource;
  readonly #intervalMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #onTrouble: (message: string) => void;
  readonly #now: () => number;

  constructor(options: {
    database: DatabaseSource;
    intervalMs: number;
    onError: (error: unknown) => void;
    onTrouble: (message: string) => void;
    /** This server's clock. */
    now: () => number;
  }) {
    this.#database = options.database;
    this.#intervalMs = options.intervalMs;
    this.#onError = options.onError;
    this.#onTrouble = options.onTrouble;
    this.#now = options.now;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#intervalMs === 0) return;
    for (;;) {
      await pause(this.#intervalMs, signal);
      if (signal.aborted) return;
      try {
        await this.compact(signal);
      } catch (error) {
        if (!isConnectionFailure(error)) this.#onError(error);
      }
    }
  }

  /** Compacts up to the window. Answers how many rows were deleted. */
  async compact(signal: AbortSignal): Promise<number> {
    const database = await this.#database();
    await this.#correctClock(database, signal);
    let deleted = 0;
    for (;;) {
      const step = await this.#step(database);
      deleted += step.deleted;
      if (step.done || signal.aborted) return deleted;
    }
  }

  /** Rows from the future would end compaction: the window would not get as far for as long as they are ahead. */
  async #correctClock({ pool }: Database, signal: AbortSignal): Promise<void> {
    let total = 0;
    for (;;) {
      const text = 'SELECT corrected, log_ahead, clock_ahead FROM correct_clock($1, $2)';
      const values = [new Date(this.#now()).toISOString(), BATCH_ROWS];
      const [row] = (await pool.query<ClockRow>({ text, values })).rows;
      const corrected = Number(row?.corrected ?? 0);
      if (total === 0) this.#tellOfClocks(row);
      total += corrected;
      if (corrected === 0 || signal.aborted) break;
    }
    if (total > 0)
      this.#onTrouble(`${total} revisions were dated in the future; they have the present time now`);
  }

  #tellOfClocks(row: ClockRow | undefined): void {
    const seconds = Math.round(Number(row?.clock_ahead ?? 0));
    if (Math.abs(seconds) <= MAX_CLOCK_DIFFERENCE_S) return;
    const direction = seconds > 0 ? 'ahead of' : 'behind';
    this.#onTrouble(
      `the database's clock is ${Math.abs(seconds)} s ${direction} this server's: set them right`,
    );
  }

  async #step({ pool }: Database): Promise<{ deleted: number; done: boolean }> {
    const { rows } = await pool.query<{ deleted: string; looked: string }>({
      text: COMPACT,
      values: [BATCH_ROWS],
    });
    const looked = Number(rows[0]?.looked ?? 0);
    return { deleted: Number(rows[0]?.deleted ?? 0), done: looked < BATCH_ROWS };
  }
}

/**
 * One step. `turn` is empty when another server has its turn, which makes everything else empty. The compacted revision is
 * raised in the same transaction as the rows go, so a reader that checks it after reading knows whether it missed any. It is
 * never lowered: the snapshot is older than the lock, and another server may have had its turn in between.
 *
 * Bounds are scalar subqueries, so that the primary key is read from the first of them on and LIMIT ends the reading.
 */
const COMPACT = `
  WITH turn AS MATERIALIZED (
    SELECT revision_at(clock_timestamp() - held.history_window) AS up_to
    FROM (SELECT history_window FROM compaction FOR UPDATE SKIP LOCKED) held
  ), old AS MATERIALIZED (
    SELECT r.revision, r.previous_revision, r.verb, r.committed_at
    FROM revisions r
    WHERE r.revision > (SELECT revision FROM compaction)
      AND r.revision <= (SELECT up_to FROM turn)
      AND r.revision < (SELECT max(revision) FROM revisions)
    ORDER BY r.revision
    LIMIT $1
  ), gone AS (
    DELETE FROM revisions d
    USING (
      SELECT previous_revision AS revision FROM old WHERE previous_revision IS NOT NULL
      UNION ALL
      SELECT revision FROM old WHERE verb = 'delete'
    ) o
    WHERE d.revision = o.revision
    RETURNING 1
  ), moved AS (
    UPDATE compaction c
    SET revision = m.revision, committed_at = m.committed_at, compacted_at = clock_timestamp()
    FROM (SELECT revision, committed_at FROM old ORDER BY revision DESC LIMIT 1) m
    WHERE c.revision < m.revision
  )
  SELECT (SELECT count(*) FROM gone) AS deleted, (SELECT count(*) FROM old) AS looked`;
