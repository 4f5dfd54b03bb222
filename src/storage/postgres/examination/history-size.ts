import type pg from 'pg';

/**
 * What the log takes on disk, by resource, what is written to it in a day, and what it will hold in the end. All are estimates: where
 * the log is large, a sample of its pages is counted.
 */

/** Counted in half a second. */
const MOST_COUNTED_BYTES = 64 * 1024 * 1024;
const RATE_S = 3600;
const DAY_S = 86_400;
const SHOWN = 10;
/** A partition has so many rows at least (next_partition_size of migrations/0084). */
const LEAST_ROWS = 10_000;
/** A partition is thinned when it lies so many windows of the resource back, and at least this share of it goes (migrations/0086). */
const THINNED_AFTER = 2;
const THINNED_FROM = 0.5;

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
  /** In the last hour. */
  readonly recent_rows: string;
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

interface Prediction {
  readonly resource: string;
  readonly windowS: number;
  readonly nowBytes: number;
  readonly dayBytes: number;
  readonly thenBytes: number;
}

function describe(total: TotalRow, rows: readonly ResourceRow[]): string[] {
  const { bytes, age_s } = total;
  const resources = predict(total, rows);
  const shown = resources.slice(0, SHOWN);
  const rest =
    resources.length > shown.length
      ? [`and ${resources.length - shown.length} resources that take less`]
      : [];
  const all = `all: ${size(Number(bytes))} on disk`;
  // The first writes of a cluster are more than it goes on with.
  if (Number(age_s) < RATE_S)
    return [
      `${all}; what it will take can be seen once it is an hour old`,
      ...shown.map(({ resource, nowBytes }) => `${resource}: ${size(nowBytes)}`),
      ...rest,
    ];
  const sum = (of: (one: Prediction) => number): string =>
    size(resources.reduce((so, one) => so + of(one), 0));
  return [
    `${all}; at the rate of the last hour about ${sum(({ dayBytes }) => dayBytes)} are written a day, and ${sum(({ thenBytes }) => thenBytes)} kept in the end`,
    ...shown.map(
      ({ resource, windowS, nowBytes, dayBytes, thenBytes }) =>
        `${resource}: ${size(nowBytes)}; about ${size(dayBytes)} a day, and ${size(thenBytes)} kept for the window of ${duration(windowS)}`,
    ),
    ...rest,
  ];
}

/**
 * History leaves in whole partitions, so that what is kept is older than the window by up to the length of one. The largest in the end
 * come first.
 */
function predict({ bytes, window_s, shorter }: TotalRow, rows: readonly ResourceRow[]): Prediction[] {
  const windows: Readonly<Record<string, { readonly window?: number }>> = JSON.parse(shorter ?? '{}');
  const ofAllS = Number(window_s ?? 0);
  const shorterS = (resource: string): number => windows[resource]?.window ?? ofAllS;
  const shortestS = Math.min(...rows.map(({ resource }) => shorterS(resource)));
  const rowsASecond = rows.reduce((sum, { recent_rows }) => sum + Number(recent_rows), 0) / RATE_S;
  const usualS = Math.min(ofAllS / 8, Math.max(shortestS, ofAllS / 30));
  const partitionS = Math.max(usualS, LEAST_ROWS / Math.max(rowsASecond, LEAST_ROWS / DAY_S));
  const isShort = ({ resource }: ResourceRow): boolean => shorterS(resource) < ofAllS;
  const recent = (of: readonly ResourceRow[]): number =>
    of.reduce((sum, { recent_share }) => sum + Number(recent_share), 0);
  const areThinned = recent(rows.filter(isShort)) >= THINNED_FROM * recent(rows);
  return rows
    .map((row) => {
      const windowS = shorterS(row.resource);
      const leavesS = isShort(row) && areThinned ? Math.min(THINNED_AFTER * windowS, ofAllS) : ofAllS;
      const secondBytes = (Number(bytes) * Number(row.recent_share)) / RATE_S;
      return {
        resource: row.resource,
        windowS,
        nowBytes: Number(bytes) * Number(row.share),
        dayBytes: secondBytes * DAY_S,
        thenBytes: secondBytes * (leavesS + partitionS),
      };
    })
    .sort((a, b) => b.thenBytes - a.thenBytes || b.nowBytes - a.nowBytes);
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

/** The other columns of a row take about as much room as its entries in the indexes. */
const sharesOf = (percent: number): string => `
  WITH counted AS (
    SELECT r.resource || CASE WHEN r.api_group = '' THEN '' ELSE '.' || r.api_group END AS resource,
      r.committed_at > clock_timestamp() - $1 * interval '1 second' AS is_recent,
      400 + coalesce(pg_column_size(r.object), 0) + coalesce(pg_column_size(r.encoded), 0) AS bytes
    FROM revisions r TABLESAMPLE SYSTEM (${percent})
  )
  SELECT resource, sum(bytes) / sum(sum(bytes)) OVER () AS share,
    coalesce(sum(bytes) FILTER (WHERE is_recent), 0) / sum(sum(bytes)) OVER () AS recent_share,
    100 / (${percent})::float8 * count(*) FILTER (WHERE is_recent) AS recent_rows
  FROM counted
  GROUP BY resource
  ORDER BY share DESC`;
