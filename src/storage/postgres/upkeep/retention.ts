import type { Database } from '../connection/connection.ts';
import { isUnknownFunction } from '../connection/statements.ts';

/** What keeps the log, and the disk, from shrinking. */
export interface Retention {
  /** How long ago the oldest row of history should have gone. Partitions go as a whole, so that some of it is usual. */
  readonly behindMs: number;
  /** Partitions that lie behind the window as a whole. */
  readonly partitionsBehind: number;
  /** The oldest transaction that the user may see, of other sessions than its own; undefined where there is none. */
  readonly oldestTransaction: OldTransaction | undefined;
  /** WAL that slots, of any program, make PostgreSQL keep. */
  readonly walOfSlotsBytes: number;
  /** Rows of the log at which filling has looked, and objects that it gave their bytes, by all servers since the migration 0083. */
  readonly rowsLookedAt: number;
  readonly objectsFilled: number;
}

/** A transaction and who holds it. */
interface OldTransaction {
  readonly ageMs: number;
  /** Empty for a prepared transaction, which no process has any more. */
  readonly process: string;
  readonly application: string;
  readonly user: string;
}

interface RetentionRow {
  readonly behind: string | null;
  readonly partitions: string | null;
  readonly age: string | null;
  readonly process: string | null;
  readonly application: string | null;
  readonly user: string | null;
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
      oldestTransaction: toTransaction(row),
      walOfSlotsBytes: Number(row?.wal ?? 0),
      rowsLookedAt: Number(row?.looked ?? 0),
      objectsFilled: Number(row?.filled ?? 0),
    };
  } catch (error) {
    if (isUnknownFunction(error)) return undefined;
    throw error;
  }
}

function toTransaction(row: RetentionRow | undefined): OldTransaction | undefined {
  if (row === undefined || row.age === null) return undefined;
  const { age, process, application, user } = row;
  return {
    ageMs: Number(age) * 1000,
    process: process ?? '',
    application: application ?? '',
    user: user ?? '',
  };
}

const RETENTION = `
  SELECT r.behind_s AS behind, r.partitions,
    extract(epoch FROM clock_timestamp() - t.began) AS age, t.process, t.application, t.user,
    (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)) FROM pg_replication_slots s) AS wal,
    (SELECT to_jsonb(f) ->> 'passed' FROM filling f) AS looked,
    (SELECT to_jsonb(f) ->> 'filled' FROM filling f) AS filled
  FROM retention() r
  LEFT JOIN LATERAL (
    SELECT a.xact_start AS began, a.pid::text AS process, a.application_name AS application, a.usename AS user
    FROM pg_stat_activity a
    WHERE a.backend_type = 'client backend' AND a.xact_start IS NOT NULL AND a.pid <> pg_backend_pid()
    UNION ALL
    SELECT p.prepared, '', 'prepared transaction ' || p.gid, p.owner FROM pg_prepared_xacts p
    ORDER BY 1
    LIMIT 1
  ) t ON true`;

/** The sessions with transactions that began before a thinned copy, which it waits for; '' for none. */
export async function findOlderTransactions({ pool }: Database): Promise<string> {
  const { rows } = await pool.query<{ pids: string | null }>({ text: OLDER_TRANSACTIONS });
  return rows[0]?.pids ?? '';
}

const OLDER_TRANSACTIONS = `
  SELECT string_agg(l.pid::text, ',') AS pids
  FROM thinning t
  JOIN pg_locks l ON l.locktype = 'virtualxid' AND l.granted AND l.virtualtransaction = ANY (t.waits_for)`;
