import type { Database } from '../connection/connection.ts';
import { isUnknownFunction } from '../connection/statements.ts';

/** What keeps the log, and the disk, from shrinking. */
export interface Retention {
  /** How long ago the oldest row of history should have gone. Partitions go as a whole, so that some of it is usual. */
  readonly behindMs: number;
  /** Partitions that lie behind the window as a whole. */
  readonly partitionsBehind: number;
  /** Age of the oldest transaction that the user may see. */
  readonly oldestTransactionMs: number;
  /** WAL that slots, of any program, make PostgreSQL keep. */
  readonly walOfSlotsBytes: number;
  /** Rows of the log at which filling has looked, and objects that it gave their bytes, by all servers since the migration 0083. */
  readonly rowsLookedAt: number;
  readonly objectsFilled: number;
}

interface RetentionRow {
  readonly behind: string | null;
  readonly partitions: string | null;
  readonly transaction: string | null;
  readonly wal: string | null;
  readonly looked: string | null;
  readonly filled: string | null;
}

/** Returns undefined while a needed migration waits. */
export async function readRetention({ pool }: Database): Promise<Retention | undefined> {
  try {
    const [row] = (await pool.query<RetentionRow>({ text: RETENTION })).rows;
    return {
      behindMs: Number(row?.behind ?? 0) * 1000,
      partitionsBehind: Number(row?.partitions ?? 0),
      oldestTransactionMs: Number(row?.transaction ?? 0) * 1000,
      walOfSlotsBytes: Number(row?.wal ?? 0),
      rowsLookedAt: Number(row?.looked ?? 0),
      objectsFilled: Number(row?.filled ?? 0),
    };
  } catch (error) {
    if (isUnknownFunction(error)) return undefined;
    throw error;
  }
}

const RETENTION = `
  SELECT r.behind_s AS behind, r.partitions,
    (SELECT extract(epoch FROM clock_timestamp() - min(a.xact_start)) FROM pg_stat_activity a WHERE a.backend_type = 'client backend')
      AS transaction,
    (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)) FROM pg_replication_slots s) AS wal,
    (SELECT to_jsonb(f) ->> 'passed' FROM filling f) AS looked,
    (SELECT to_jsonb(f) ->> 'filled' FROM filling f) AS filled
  FROM retention() r`;

/** Names the backends in the detail of drop_partition's error, as far as the user may see what they are. */
export async function describeReaders({ pool }: Database, error: unknown): Promise<string> {
  const pids = error instanceof Error && 'detail' in error ? String(error.detail ?? '') : '';
  if (!/^\d+(,\d+)*$/.test(pids)) return 'another transaction';
  const { rows } = await pool.query<{ reader: string }>({ text: READERS, values: [pids] });
  return rows.map(({ reader }) => reader).join('; ') || `process ${pids}`;
}

const READERS = `
  SELECT format(
    'process %s (application %s, user %s, %s, its transaction began %s s ago)', a.pid, coalesce(nullif(a.application_name, ''), 'unnamed'),
    a.usename, coalesce(a.state, 'state hidden'), coalesce(round(extract(epoch FROM clock_timestamp() - a.xact_start))::text, '?')
  ) AS reader
  FROM pg_stat_activity a
  WHERE a.pid = ANY (string_to_array($1, ',')::int[])
  ORDER BY a.pid
  LIMIT 5`;
