import { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import {
  describeEncryption,
  explainRefusal,
  type Handshake,
  handshakes,
  isRefusedHandshake,
  type TlsFiles,
  tlsConfig,
} from './encryption.ts';
import type { KnownHistory } from './known-history.ts';
import { newestMigration } from './migration.ts';
import { Password } from './password-file.ts';
import { TEXT_TYPES } from './statements.ts';
import { parseTarget, type Target } from './target.ts';

/** How to reach PostgreSQL. Built from --kvstore-servers and the TLS files beside it. */
export interface ConnectionOptions extends TlsFiles {
  /** postgres:// URLs of the hosts of one database; the writable one is found. */
  readonly urls: readonly string[];
  /** Connections of the pool for reads; the committer and the tail have one each beside it. */
  readonly poolSize: number;
  /** What each connection is held against. Absent where there may be no schema yet. */
  readonly history?: KnownHistory;
}

const CONNECT_TIMEOUT_MS = 5000;
const KEEPALIVE_DELAY_MS = 10_000;
/** No statement of ours runs that long on purpose; one that does has met a lock or a lost network. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Migrations and hands at psql hold locks; a queue that does not move must not take all connections. */
const LOCK_TIMEOUT_MS = 10_000;
/** Between two statements of a transaction of ours there is no work. */
const IDLE_IN_TRANSACTION_MS = 30_000;
/** How PostgreSQL notices that we are gone without a goodbye: half a minute, where systems take two hours. */
const TCP_SETTINGS =
  "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; SET tcp_user_timeout = '30s'";
/** When the client stops waiting for an answer that PostgreSQL should have given up on by then. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5000;
/** A peer that is gone does not answer a goodbye. */
const CLOSE_TIMEOUT_MS = 1000;
/** SQLSTATE read_only_sql_transaction: what writing to a standby is answered with. */
const READ_ONLY = '25006';

/** SQLSTATE invalid_password. */
const WRONG_PASSWORD = '28P01';

/** A host, and the kind of connection that it takes. */
export interface Route {
  readonly target: Target;
  readonly handshake: Handshake;
}

/** Whether connections of the one serve for the other. */
export const isSameRoute = (a: Route, b: Route): boolean => isDeepStrictEqual(a, b);

/** Without the URL, so that what is in it is not in what the driver throws. */
export function toClientConfig(
  { target, handshake }: Route,
  options: ConnectionOptions,
  purpose: string,
  password = new Password(target),
): pg.ClientConfig {
  const { host, port, user, database, settings } = target;
  return {
    ...settings,
    ...{ host, port, user, database },
    password: () => password.read(),
    ssl: tlsConfig(handshake, target, options),
    application_name: toApplicationName(purpose),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    types: TEXT_TYPES,
  };
}

/** Who looks at a database's connections sees what they are for, and which migrations their servers know. */
export const toApplicationName = (purpose: string): string =>
  `pg-apiserver ${purpose} (schema ${newestMigration()})`;

/** A connection of our own, for what must not wait for one of the pool. */
export interface Connection {
  readonly client: pg.Client;
  /**
   * Whether statements may be prepared by name. Not behind a pooler in transaction mode (PgBouncer), which may give each
   * transaction another session.
   */
  readonly prepares: boolean;
  readonly route: Route;
  /** One line for a person: whether it is encrypted, and whether the server's certificate was verified. */
  readonly encryption: string;
  /** Says goodbye, or ends the connection without when the peer does not answer. Never rejects. */
  close(): Promise<void>;
}

/** The pool for reads and upkeep. */
export interface Database {
  readonly pool: pg.Pool;
  /** As {@link Connection.prepares}. */
  readonly prepares: boolean;
}

/** How the writable database is reached; asked anew for each use, because a failover changes the answer. */
export type DatabaseSource = () => Promise<Database>;

/**
 * A connection to the host that takes writes. With several hosts each is tried in turn, so that a failover is followed by
 * the next connection.
 * @throws the last host's error when none can be written to
 */
export async function connectWritable(
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket = () => new Socket(),
): Promise<Connection> {
  let last: unknown = new Error('no PostgreSQL server was given');
  for (const url of options.urls) {
    try {
      return await connectTo(parseTarget(url), options, purpose, createSocket);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Which host takes writes, for connections that are made elsewhere (pool, replication). @throws as connectWritable */
export async function findWritable(
  options: ConnectionOptions,
): Promise<Pick<Connection, 'route' | 'prepares'>> {
  const { route, prepares, close } = await connectWritable(options, 'probe');
  await close();
  return { route, prepares };
}

/** By the first kind of connection that the server takes. */
async function connectTo(
  target: Target,
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket,
): Promise<Connection> {
  let refusal: unknown;
  for (const handshake of handshakes(target, options)) {
    const password = new Password(target);
    const attempt = (): Promise<Connection> =>
      connectBy({ target, handshake }, options, { purpose, password, socket: createSocket() });
    try {
      return await attempt().catch(async (error: unknown) => {
        // It may have been rotated between its reading and the server's.
        if (codeOf(error) === WRONG_PASSWORD && (await password.hasChanged())) return attempt();
        throw error;
      });
    } catch (error) {
      refusal = explainRefusal(error, target.host);
      if (!isRefusedHandshake(error)) break;
    }
  }
  throw refusal;
}

async function connectBy(
  route: Route,
  options: ConnectionOptions,
  { purpose, password, socket }: { purpose: string; password: Password; socket: Socket },
): Promise<Connection> {
  const client = new pg.Client({
    ...toClientConfig(route, options, purpose, password),
    query_timeout: QUERY_TIMEOUT_MS,
    stream: () => socket,
  });
  // A client without a listener turns a broken connection into an uncaught exception.
  client.on('error', () => {});
  const close = async (): Promise<void> => {
    const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
    await client.end().catch(() => {});
    clearTimeout(timer);
    socket.destroy();
  };
  try {
    await client.connect();
    const prepares = await hasSessionOfItsOwn(client);
    await beginSession(client, route.target.host, prepares);
    await options.history?.assure(client);
    const { stream } = client.connection;
    const encryption = describeEncryption(route.handshake, stream, route.target, options);
    return { client, prepares, route, encryption, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** A pooler tells its clients process ids of its own making. */
async function hasSessionOfItsOwn(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: string }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid === String(Reflect.get(client, 'processID'));
}

/**
 * Refuses standbys and bounds what a session may hold up. Bounds are not startup parameters, which poolers refuse; where the
 * session would be handed to others, what is left are the client's own and those that functions which lock have themselves.
 */
async function beginSession(client: pg.ClientBase, host: string, prepares: boolean): Promise<void> {
  const { rows } = await client.query<{ standby: string }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby === 't') {
    const error = new Error(`${host} is a standby`);
    throw Object.assign(error, { code: READ_ONLY });
  }
  if (prepares) await client.query(SESSION_SETTINGS);
}

const SESSION_SETTINGS = [
  `SET statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  `SET lock_timeout = ${LOCK_TIMEOUT_MS}`,
  `SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
  TCP_SETTINGS,
].join('; ');

/** For what may take as long as it likes, outside of a transaction. */
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

/** What {@link beginSession} has set; nothing where the session is a pooler's. */
const BOUNDS = `
  SELECT format('SET %I = %L', name, setting) AS bound
  FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout') AND source = 'session'`;

/** Bounded, for reads. */
export function createPool(options: ConnectionOptions, route: Route, prepares: boolean): pg.Pool {
  const pool = new pg.Pool({
    ...toClientConfig(route, options, 'reads'),
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
    query_timeout: QUERY_TIMEOUT_MS,
    verify: (client, done) => {
      const begin = beginSession(client, route.target.host, prepares).then(() =>
        options.history?.assure(client),
      );
      begin.then(
        () => done(),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
  pool.on('error', () => {});
  return pool;
}
