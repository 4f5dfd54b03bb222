import type pg from 'pg';

/** What a server or a person wants of the windows that all servers of a database obey. */
export interface WindowWish {
  readonly windowMs: number;
  /** The windows of resources that have one of their own, by `resource` or `resource.group`. */
  readonly shorter?: ReadonlyMap<string, number>;
  /** Without it, the wish is for a database that has no window yet. */
  readonly isGiven: boolean;
}

export interface KeptWindow {
  readonly windowMs: number;
  /** The windows of resources that have a shorter one; absent where none has. */
  readonly shorter?: ReadonlyMap<string, number>;
  /** What it was until now; undefined when it has not changed. 'unset': the database had none. */
  readonly before?: number | 'unset';
}

/** Sets how far back history is kept where that is asked for, or the database has no window yet. */
export async function keepHistoryWindow(
  client: pg.ClientBase,
  { windowMs, shorter, isGiven }: WindowWish,
): Promise<KeptWindow> {
  const { rows } = await client.query<WindowRow>(KEEP, [windowMs, isGiven]);
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no history window: run pg-apiserver migrate');
  const kept = Number(row.kept);
  const before = row.before === null ? 'unset' : Number(row.before);
  if (shorter !== undefined && (isGiven || before === 'unset')) await keepShorter(client, shorter);
  const held = await readShorter(client, kept);
  return {
    windowMs: kept,
    ...(before === kept ? {} : { before }),
    ...(held.size === 0 ? {} : { shorter: held }),
  };
}

async function readShorter(client: pg.ClientBase, windowMs: number): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ shorter: string | null }>(
    "SELECT to_jsonb(c) ->> 'shorter' AS shorter FROM compaction c",
  );
  const held: Readonly<Record<string, { readonly window: number }>> = JSON.parse(rows[0]?.shorter ?? '{}');
  return new Map(
    Object.entries(held)
      .map(([resource, { window }]) => [resource, window * 1000] as const)
      .filter(([, ms]) => ms < windowMs),
  );
}

/** Does nothing in a schema from before shorter histories (migrations/0084). */
async function keepShorter(client: pg.ClientBase, shorter: ReadonlyMap<string, number>): Promise<void> {
  const { rows } = await client.query<{ has: unknown }>(
    "SELECT to_regproc('set_shorter_histories') IS NOT NULL AS has",
  );
  if (rows[0]?.has !== true && rows[0]?.has !== 't') return;
  const windows = Object.fromEntries([...shorter].map(([resource, ms]) => [resource, ms / 1000]));
  await client.query('SELECT set_shorter_histories($1)', [JSON.stringify(windows)]);
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
