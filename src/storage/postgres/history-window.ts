import type pg from 'pg';

/** A wish for the one value that all servers of a database obey. */
export interface WindowWish {
  readonly windowMs: number;
  /** Without it, the wish is for a database without a value. */
  readonly isGiven: boolean;
}

export interface KeptWindow {
  readonly windowMs: number;
  /** The previous value; undefined when it has not changed, 'unset' when there was none. */
  readonly before?: number | 'unset';
}

/** Sets how far back history is kept, where that is given or unset. */
export async function keepHistoryWindow(
  client: pg.ClientBase,
  { windowMs, isGiven }: WindowWish,
): Promise<KeptWindow> {
  const { rows } = await client.query<WindowRow>(KEEP, [windowMs, isGiven]);
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no history window: run pg-apiserver migrate');
  const kept = Number(row.kept);
  const before = row.before === null ? 'unset' : Number(row.before);
  return before === kept ? { windowMs: kept } : { windowMs: kept, before };
}

interface WindowRow {
  readonly before: string | null;
  readonly kept: string;
}

/** The row's lock serializes servers that start together. */
const KEEP = `
  WITH held AS MATERIALIZED (SELECT history_window AS before FROM compaction FOR UPDATE)
  UPDATE compaction
  SET history_window = CASE WHEN $2::boolean OR before IS NULL THEN $1::float8 * interval '1 millisecond' ELSE before END
  FROM held
  RETURNING extract(epoch FROM before) * 1000 AS before, extract(epoch FROM history_window) * 1000 AS kept`;
