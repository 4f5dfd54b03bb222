import type pg from 'pg';

/**
 * What the log takes on disk, by resource, and what it will take when it is as old as the window. Both are estimates: where the log is
 * large, a sample of its pages is counted.
 */

/** Counted in half a second. */
const MOST_COUNTED_BYTES = 64 * 1024 * 1024;
const RATE_S = 3600;
const SHOWN = 10;

interface TotalRow {
  readonly bytes: string;
  readonly heap: string;
  readonly window_s: string | null;
  readonly shorter: string | null;
  readonly age_s: string | null;
}

interface ResourceRow {
  readonly resource: string;
  readonly share: string;
  readonly recent_share: string;
}

/** Lines for a person; none where there is no log. */
export async function describeHistory(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ has: string }>(
    "SELECT to_regclass('revisions') IS NOT NULL AND to_regproc('log_partitions') IS NOT NULL AS has",
  );
  if (rows[0]?.has !== 't') return [];
  const [total] = (await client.query<TotalRow>(TOTAL)).rows;
  if (total === undefined || total.age_s === null) return [];
  const percent = Math.min(100, (100 * MOST_COUNTED_BYTES) / Math.max(1, Number(total.heap)));
  // A number of ours: TABLESAMPLE takes no parameter whose type it does not know.
  const { rows: shares } = await client.query<ResourceRow>(sharesOf(percent), [RATE_S]);
  return describe(total, shares);
}

function describe({ bytes, window_s, shorter, age_s }: TotalRow, rows: readonly ResourceRow[]): string[] {
  const windows: Readonly<Record<string, { readonly window: number }>> = JSON.parse(shorter ?? '{}');
  const resources = rows.map(({ resource, share, recent_share }) => {
    const windowS = windows[resource]?.window ?? Number(window_s ?? 0);
    return {
      resource,
      windowS,
      nowBytes: Number(bytes) * Number(share),
      thenBytes: (Number(bytes) * Number(recent_share) * windowS) / RATE_S,
    };
  });
  const all = `all: ${size(Number(bytes))} on disk`;
  const shown = resources.slice(0, SHOWN);
  const rest =
    resources.length > shown.length
      ? [`and ${resources.length - shown.length} resources that take less`]
      : [];
  // The first writes of a cluster are more than it goes on with.
  if (Number(age_s) < RATE_S)
    return [
      `${all}; what it will take can be seen once it is an hour old`,
      ...shown.map(({ resource, nowBytes }) => `${resource}: ${size(nowBytes)}`),
      ...rest,
    ];
  const then = resources.reduce((sum, { thenBytes }) => sum + thenBytes, 0);
  return [
    `${all}, about ${size(then)} at the rate of the last hour`,
    ...shown.map(
      ({ resource, windowS, nowBytes, thenBytes }) =>
        `${resource}: ${size(nowBytes)}, about ${size(thenBytes)} for the window of ${duration(windowS)}`,
    ),
    ...rest,
  ];
}

/** 1234567 → 1.2 MB */
function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** at;
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

/** 86400 → 1d */
function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const;
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? (['s', 1] as const);
  return `${Number((seconds / length).toFixed(1))}${unit}`;
}

/** A schema of old has no shorter histories. */
const TOTAL = `
  SELECT sum(pg_total_relation_size(p.partition)) AS bytes, sum(pg_relation_size(p.partition)) AS heap,
    (SELECT extract(epoch FROM c.history_window) FROM compaction c) AS window_s,
    (SELECT to_jsonb(c) ->> 'shorter' FROM compaction c) AS shorter,
    (SELECT extract(epoch FROM clock_timestamp() - r.committed_at) FROM revisions r ORDER BY r.revision LIMIT 1) AS age_s
  FROM log_partitions() p`;

/** Of a row, what it has besides the object takes about as much as its entries in the indexes. */
const sharesOf = (percent: number): string => `
  WITH counted AS (
    SELECT r.resource || CASE WHEN r.api_group = '' THEN '' ELSE '.' || r.api_group END AS resource,
      r.committed_at > clock_timestamp() - $1 * interval '1 second' AS is_recent,
      400 + coalesce(pg_column_size(r.object), 0) + coalesce(pg_column_size(r.encoded), 0) AS bytes
    FROM revisions r TABLESAMPLE SYSTEM (${percent})
  )
  SELECT resource, sum(bytes) / sum(sum(bytes)) OVER () AS share,
    coalesce(sum(bytes) FILTER (WHERE is_recent), 0) / sum(sum(bytes)) OVER () AS recent_share
  FROM counted
  GROUP BY resource
  ORDER BY share DESC`;
