import { Socket } from 'node:net';
import pg from 'pg';
import { assertSchema, type ClusterSchema, searchPath } from './cluster-schema.ts';
import {
  describeEncryption,
  explainRefusal,
  type Handshake,
  handshakes,
  isRefusedHandshake,
  type TlsFiles,
  tlsConfig,
} from './encryption.ts';
import { type Hosts, lookAt } from './hosts.ts';
import type { KnownHistory } from './known-history.ts';
import { newestMigration } from './migration.ts';
import { hideValues } from './parameter-log.ts';
import { Password } from './password-file.ts';
import type { Queryable } from './prepared.ts';
import { assertIsolation, ISOLATION, SESSION_FACTS, type SessionFacts } from './session-facts.ts';
import { isReadOnly, TEXT_TYPES } from './statements.ts';
import { parseTarget, type Target } from './target.ts';

/** How to reach PostgreSQL. Built from --kvstore-servers and the TLS files beside it. */
export interface ConnectionOptions extends TlsFiles {
  /** postgres:// URLs of the hosts of one database; the writable one is found. */
  readonly urls: readonly string[];
  /** Connections of the pool for replay, the largest (pools.ts has the others). */
  readonly poolSize: number;
  /** Which host worked last. */
  readonly hosts?: Hosts;
  /** Makes a socket connect by another way than the system's. */
  readonly reroute?: <S extends Socket>(socket: S) => S;
  /** Where the cluster is kept, when there may be others in the database. */
  readonly schema?: ClusterSchema | undefined;
  /** What each connection is held against. Absent where there may be no schema yet. */
  readonly history?: KnownHistory;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Others can answer in its place, and somebody waits. */
const STANDBY_CONNECT_TIMEOUT_MS = 2000;
/** All that is asked of a session before it is used, and the lock under which an epoch may begin. */
const SESSION_TIMEOUT_MS = 15_000;
const KEEPALIVE_DELAY_MS = 10_000;
/** No statement of ours runs that long on purpose; one that does has met a lock or a lost network. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Migrations and hands at psql hold locks; a queue that does not move must not take all connections. */
const LOCK_TIMEOUT_MS = 10_000;
/** Between two statements of a transaction of ours there is no work. */
const IDLE_IN_TRANSACTION_MS = 30_000;
/** How PostgreSQL notices that we are gone without a goodbye: half a minute, where systems take two hours. */
export const TCP_SETTINGS =
  "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; SET tcp_user_timeout = '30s'";
/** How much longer the client waits for an answer than PostgreSQL should work on it. */
const ANSWER_MARGIN_MS = 500;
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5000;
/** A peer that is gone does not answer a goodbye. */
const CLOSE_TIMEOUT_MS = 1000;
/** SQLSTATE read_only_sql_transaction: what writing to a standby is answered with. */
const READ_ONLY = '25006';
/** What a session is begun for. `look`: to see which of these the host could take. */
type Access = 'writes' | 'reads' | 'standby' | 'look';

/** SQLSTATE invalid_password. */
const WRONG_PASSWORD = '28P01';

/** A host, and the kind of connection that it takes. */
export interface Route {
  readonly url: string;
  readonly target: Target;
  readonly handshake: Handshake;
}

/** Without the URL, so that what is in it is not in what the driver throws. */
export function toClientConfig(
  { target, handshake }: Route,
  options: ConnectionOptions,
  purpose: string,
  password = new Password(target),
): pg.ClientConfig {
  const { host, port, user, database, settings } = target;
  const { reroute } = options;
  return {
    ...settings,
    ...{ host, port, user, database },
    password: () => password.read(),
    ssl: tlsConfig(handshake, target, options),
    application_name: toApplicationName(purpose, options.schema),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    types: TEXT_TYPES,
    ...(reroute === undefined ? {} : { stream: () => reroute(new Socket()) }),
  };
}

/**
 * Who looks at a database's connections sees what they are for, which migrations their servers know, and which of several clusters
 * they are of. Of at most 63 bytes.
 */
export const toApplicationName = (purpose: string, schema?: ClusterSchema): string =>
  `pg-apiserver ${purpose} (schema ${newestMigration()}${schema === undefined ? '' : `, cluster ${schema.tag}`})`;

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

/** A pool for one purpose. */
export interface Database {
  readonly pool: Queryable;
  /** As {@link Connection.prepares}. */
  readonly prepares: boolean;
}

/** How the writable database is reached; asked anew for each use, because a failover changes the answer. */
export type DatabaseSource = () => Promise<Database>;

/**
 * A connection to the host that takes writes. With several hosts each is tried in turn, the last good one first, so that a
 * failover is followed by the next connection.
 * @throws the last host's error when none can be written to
 */
export function connectWritable(
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket = () => new Socket(),
): Promise<Connection> {
  return connectToOne(options, { purpose, access: 'writes', createSocket });
}

/** As connectWritable, and where no host takes writes, to one that is no standby all the same: it has all that was committed. */
export async function connectReadable(
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket = () => new Socket(),
): Promise<Connection & { readonly isReadOnly: boolean }> {
  try {
    return { ...(await connectWritable(options, purpose, createSocket)), isReadOnly: false };
  } catch (error) {
    if (!isReadOnly(error)) throw error;
    return { ...(await connectToOne(options, { purpose, access: 'reads', createSocket })), isReadOnly: true };
  }
}

/** To a host that repeats what another one commits. @throws as {@link connectWritable} */
export const connectStandby = (
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket = () => new Socket(),
): Promise<Connection> =>
  connectToOne(options, { purpose, access: 'standby', createSocket, connectMs: STANDBY_CONNECT_TIMEOUT_MS });

/** Whatever the host is. @throws what it says */
export const connectToLook = (
  url: string,
  options: Omit<ConnectionOptions, 'hosts' | 'history'>,
): Promise<Connection> =>
  connectTo(url, options, {
    purpose: 'probe',
    access: 'look',
    createSocket: () => new Socket(),
    connectMs: STANDBY_CONNECT_TIMEOUT_MS,
  });

interface Wish {
  readonly purpose: string;
  readonly access: Access;
  createSocket(): Socket;
  readonly connectMs?: number;
}

/** That a host takes no writes says more than that another does not answer. */
async function connectToOne(options: ConnectionOptions, wish: Wish): Promise<Connection> {
  const { urls, hosts } = options;
  let last: unknown = new Error('no PostgreSQL server was given');
  await hosts?.surveyed();
  for (const url of hosts?.order(urls) ?? urls) {
    try {
      const connection = await connectTo(url, options, wish);
      hosts?.worked(url);
      return connection;
    } catch (error) {
      if (!isReadOnly(last) || isReadOnly(error)) last = error;
    }
  }
  throw last;
}

export interface FoundRoute extends Route, Pick<Connection, 'prepares'> {
  /** No host takes writes; this one is no standby. */
  readonly isReadOnly: boolean;
}

/** Which host can be read, for connections that are made elsewhere (pools, replication). @throws as connectReadable */
export async function findReadable(options: ConnectionOptions): Promise<FoundRoute> {
  const { route, prepares, isReadOnly: takesNoWrites, close } = await connectReadable(options, 'probe');
  await close();
  return { ...route, prepares, isReadOnly: takesNoWrites };
}

/** As {@link findReadable}, for {@link connectStandby}. */
export async function findStandby(options: ConnectionOptions): Promise<FoundRoute> {
  const { route, prepares, close } = await connectStandby(options, 'probe');
  await close();
  return { ...route, prepares, isReadOnly: true };
}

/** By the first kind of connection that the server takes. */
async function connectTo(url: string, options: ConnectionOptions, wish: Wish): Promise<Connection> {
  const target = parseTarget(url);
  let refusal: unknown;
  for (const handshake of handshakes(target, options)) {
    const password = new Password(target);
    const attempt = (): Promise<Connection> =>
      connectBy({ url, target, handshake }, options, { ...wish, password, socket: wish.createSocket() });
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
  { purpose, access, password, socket, connectMs }: Wish & { password: Password; socket: Socket },
): Promise<Connection> {
  const { reroute } = options;
  const client = new pg.Client({
    ...toClientConfig(route, options, purpose, password),
    ...(connectMs === undefined ? {} : { connectionTimeoutMillis: connectMs }),
    query_timeout: QUERY_TIMEOUT_MS,
    stream: () => (reroute === undefined ? socket : reroute(socket)),
  });
  // A client without a listener turns a broken connection into an uncaught exception.
  client.on('error', () => {});
  const close = async (): Promise<void> => {
    const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS);
    await client.end().catch(() => {});
    clearTimeout(timer);
    socket.destroy();
  };
  const late = setTimeout(
    () =>
      socket.destroy(new Error(`${route.target.host}: timeout: no session within ${SESSION_TIMEOUT_MS} ms`)),
    SESSION_TIMEOUT_MS,
  );
  try {
    await client.connect();
    const prepares = await hasSessionOfItsOwn(client);
    const { schema } = options;
    await beginSession(client, route.target.host, { prepares, access, schema, ...SESSION_BOUNDS });
    await assureHost(client, route, options);
    const { stream } = client.connection;
    const encryption = describeEncryption(route.handshake, stream, route.target, options);
    return { client, prepares, route, encryption, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** A pooler tells its clients process ids of its own making. */
export async function hasSessionOfItsOwn(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: string }>('SELECT pg_backend_pid()::text AS pid');
  return rows[0]?.pid === String(Reflect.get(client, 'processID'));
}

/**
 * A host that another one has replaced must be found out before its log is held against what is known: it lacks that too.
 * @throws Error like that of a standby, when another host is on a later timeline
 */
async function assureHost(
  client: pg.ClientBase,
  { url, target }: Route,
  { urls, hosts, history }: ConnectionOptions,
): Promise<void> {
  if (hosts !== undefined && urls.length > 1) {
    hosts.saw(url, await lookAt(client));
    if (hosts.isFenced(url))
      throw readOnly(`${target.host} is on an earlier timeline than another host, which was promoted`);
  }
  await history?.assure(client);
}

interface SessionBounds {
  readonly statementMs: number;
  readonly lockMs: number;
}

const SESSION_BOUNDS: SessionBounds = { statementMs: STATEMENT_TIMEOUT_MS, lockMs: LOCK_TIMEOUT_MS };

interface SessionWish extends SessionBounds {
  readonly prepares: boolean;
  readonly access: Access;
  readonly schema: ClusterSchema | undefined;
}

/**
 * Refuses standbys, or what is none, and bounds what a session may hold up. Bounds are not startup parameters, which poolers refuse; where the
 * session would be handed to others, what is left are the client's own and those that functions which lock have themselves.
 */
async function beginSession(client: pg.ClientBase, host: string, wish: SessionWish): Promise<void> {
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

const readOnly = (message: string): Error => Object.assign(new Error(message), { code: READ_ONLY });

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

export interface PoolShape extends SessionBounds {
  readonly purpose: string;
  readonly size: number;
  readonly connectMs: number;
  /** `reads` unless told. */
  readonly access?: Access;
}

/** Bounded, in connections and in time. */
export function createPool(options: ConnectionOptions, route: FoundRoute, shape: PoolShape): pg.Pool {
  const { purpose, size, connectMs, access = 'reads', ...bounds } = shape;
  const { prepares } = route;
  const { schema } = options;
  const pool = new pg.Pool({
    ...toClientConfig(route, options, purpose),
    max: size,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    query_timeout: bounds.statementMs + ANSWER_MARGIN_MS,
    verify: (client, done) => {
      const begin = beginSession(client, route.target.host, { prepares, access, schema, ...bounds }).then(
        () => assureHost(client, route, options),
      );
      begin.then(
        () => done(),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
  pool.on('error', () => {});
  // The pool listens to clients that are idle or run a query. One whose connection ends while it is verified would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
