import type pg from 'pg';
import { assertSchema, type ClusterSchema, searchPath } from './cluster-schema.ts';
import { hideValues } from './parameter-log.ts';
import { assertIsolation, ISOLATION, SESSION_FACTS, type SessionFacts } from './session-facts.ts';

/** What a session may hold up, and what kind of host it must have. */

/** No statement of ours runs that long on purpose; one that does has met a lock or a lost network. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Migrations and people in psql hold locks; a queue that is stuck must not take all connections. */
const LOCK_TIMEOUT_MS = 10_000;
/** Our transactions do no work between two statements. */
const IDLE_IN_TRANSACTION_MS = 30_000;
/** Makes PostgreSQL notice in half a minute that we are gone, where systems take two hours. */
export const TCP_SETTINGS =
  "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; SET tcp_user_timeout = '30s'";
/** SQLSTATE read_only_sql_transaction: the error for a write to a standby. */
const READ_ONLY = '25006';

/** The purpose of a session. `look`: to see what the host is. */
export type Access = 'writes' | 'reads' | 'standby' | 'look';

/** Returns false behind a pooler, which makes up process ids. */
export async function hasSessionOfItsOwn(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: string }>('SELECT pg_backend_pid()::text AS pid');
  return rows[0]?.pid === String(Reflect.get(client, 'processID'));
}

export interface SessionBounds {
  readonly statementMs: number;
  readonly lockMs: number;
}

export const SESSION_BOUNDS: SessionBounds = { statementMs: STATEMENT_TIMEOUT_MS, lockMs: LOCK_TIMEOUT_MS };

interface SessionWish extends SessionBounds {
  readonly prepares: boolean;
  readonly access: Access;
  readonly schema: ClusterSchema | undefined;
}

/**
 * Refuses hosts of the wrong kind, and bounds what a session may hold up. Bounds are not startup parameters, which poolers refuse;
 * where sessions are shared, only the client's own bounds are left, and those of functions that lock.
 */
export async function beginSession(client: pg.ClientBase, host: string, wish: SessionWish): Promise<void> {
  const { rows } = await client.query<SessionFacts>(SESSION_FACTS);
  const [facts] = rows;
  if (facts === undefined) throw new Error(`${host} does not say what a session may do`);
  const isStandby = facts.standby === 't';
  if (wish.access === 'look') return;
  if (wish.access === 'standby' && !isStandby) throw new Error(`${host} is no standby`);
  if (wish.access !== 'standby' && isStandby) throw readOnly(`${host} is a standby`);
  if (wish.access === 'writes' && facts.readonly === 'on') throw readOnly(`${host} is read-only`);
  if (wish.prepares) {
    await client.query(sessionSettings(wish, facts));
    return;
  }
  assertIsolation(facts);
  if (wish.schema !== undefined) await assertSchema(client, wish.schema);
}

export const readOnly = (message: string): Error => Object.assign(new Error(message), { code: READ_ONLY });

const sessionSettings = (
  { statementMs, lockMs, schema }: SessionWish,
  { superuser, version }: SessionFacts,
): string =>
  [
    ...(schema === undefined ? [] : [searchPath(schema)]),
    `SET statement_timeout = ${statementMs}`,
    `SET lock_timeout = ${lockMs}`,
    `SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
    `SET default_transaction_isolation = '${ISOLATION}'`,
    TCP_SETTINGS,
    ...hideValues({ isSuperuser: superuser === 'on', version: Number(version) }),
  ].join('; ');

/** Runs work that may take any time, outside of a transaction. */
export async function withoutTimeouts<Result>(
  client: pg.ClientBase,
  work: () => Promise<Result>,
): Promise<Result> {
  const { rows } = await client.query<{ bound: string }>(BOUNDS);
  if (rows.length === 0) return work();
  await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
  try {
    return await work();
  } finally {
    await client.query(rows.map(({ bound }) => bound).join('; '));
  }
}

/** The bounds set by {@link beginSession}; none where the session is a pooler's. */
const BOUNDS = `
  SELECT format('SET %I = %L', name, setting) AS bound
  FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout') AND source = 'session'`;
