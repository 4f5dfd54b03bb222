import type pg from 'pg';
import { errorText } from '../../../util/error-text.ts';
import { pause } from '../../../util/pause.ts';
import { describeBackends } from '../connection/describe-backends.ts';

/** Half an hour: as long as a backup may read what is to change. */
const PATIENCE_MS = 30 * 60_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
/** Statements queued behind ours for a lock wait as long as ours. */
export const LOCK_TIMEOUT = '200ms';
/** Servers migrate one at a time. One that waits this long says for whom. */
const TURN_TIMEOUT = '3s';
const TURN = "hashtext('pg-apiserver'), hashtext('migrate')";

interface Patience<Result> {
  readonly patienceMs?: number;
  readonly say?: (line: string) => void;
  /** Called after a failure. Returns a result that makes another attempt needless, if any. */
  readonly instead?: () => Promise<Result | undefined>;
}

/**
 * Runs `work` until it succeeds, as long as only locks are in the way.
 * @throws what PostgreSQL said
 */
export async function patiently<Result>(
  what: string,
  work: () => Promise<Result>,
  { patienceMs = PATIENCE_MS, say = () => {}, instead = async () => undefined }: Patience<Result>,
): Promise<Result> {
  const untilMs = Date.now() + patienceMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const result = await instead().catch(() => undefined);
      if (result !== undefined) return result;
      if (!isInTheWay(error) || Date.now() > untilMs) throw error;
      say(`${describeFailure(what, error)}; it is tried again`);
      await pause(pauseMs);
    }
  }
}

/** One line. */
export const describeFailure = (what: string, error: unknown): string =>
  `${what} failed: ${errorText(error)}`;

/** SQLSTATE lock_not_available, deadlock_detected, object_in_use: another transaction holds it. */
export const isInTheWay = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(55P03|40P01|55006)$/.test(String(error.code));

/** Runs `work` without a limit of time, but waits shortly for locks: statements of others wait behind it. */
export async function inTransaction<Result>(
  client: pg.ClientBase,
  work: () => Promise<Result>,
  owner?: string,
): Promise<Result> {
  await client.query('BEGIN');
  try {
    await client.query('SET LOCAL statement_timeout = 0');
    await takeTurn(client);
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query(ACT_AS_OWNER, [owner ?? null]);
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that was lost has no transaction any more, and the error says how it was lost.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** @throws an error that is in the way, with the holder of the lock: it is an advisory lock, so any user may be */
async function takeTurn(client: pg.ClientBase): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = '${TURN_TIMEOUT}'; SAVEPOINT turn`);
  try {
    await run(client, `SELECT pg_advisory_xact_lock(${TURN})`);
  } catch (error) {
    if (!isInTheWay(error)) throw error;
    await client.query('ROLLBACK TO turn');
    const held = `the lock of migrations is held by ${await describeHolder(client, TURN)}`;
    throw Object.assign(new Error(held, { cause: error }), { code: '55P03' });
  }
}

/** Names the sessions that hold an advisory lock of two keys, in SQL. */
export async function describeHolder(client: pg.ClientBase, keys: string): Promise<string> {
  const pids = await run(
    client,
    `SELECT string_agg(l.pid::text, ',')
     FROM pg_locks l
     JOIN (SELECT ${keys}) AS keys (first, second) ON l.classid = keys.first::oid AND l.objid = keys.second::oid
     WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
       AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())`,
  );
  return describeBackends(client, String(pids));
}

/** Acts as the schema's owner until the end of the transaction, where the user may. */
const ACT_AS_OWNER = `
  SELECT set_config('role', o.name, true)
  FROM (
    SELECT coalesce(
      (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass('schema_migrations')), $1::name
    ) AS name
  ) o
  WHERE o.name <> current_user AND pg_has_role(
    o.name, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END
  )`;

/** Runs a statement without a limit of time. Returns the first value of its first row. */
export async function run(client: pg.ClientBase, text: string): Promise<unknown> {
  const result = await client.query<unknown[]>({ text, rowMode: 'array', ...NO_TIMEOUT });
  return result.rows?.[0]?.[0];
}

const NO_TIMEOUT = { query_timeout: 2 ** 31 - 1 };
