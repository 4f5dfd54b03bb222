import { Socket } from 'node:net';
import pg from 'pg';
import type { KnownHistory } from '../fencing/known-history.ts';
import { newestMigration } from '../migration/migration.ts';
import type { ClusterSchema } from './cluster-schema.ts';
import { parseTarget, type Target } from './connection-target.ts';
import {
  describeEncryption,
  explainRefusal,
  type Handshake,
  handshakes,
  isRefusedHandshake,
  type TlsFiles,
  tlsConfig,
} from './connection-tls.ts';
import { type Hosts, lookAt } from './hosts.ts';
import { Password } from './password-file.ts';
import type { Queryable } from './prepared.ts';
import {
  type Access,
  beginSession,
  hasSessionOfItsOwn,
  readOnly,
  SESSION_BOUNDS,
  type SessionBounds,
} from './session-bounds.ts';
import { isReadOnly, TEXT_TYPES } from './statements.ts';

/** How to reach PostgreSQL. Built from --kvstore-servers and the TLS files beside it. */
export interface ConnectionOptions extends TlsFiles {
  /** postgres:// URLs of the hosts of one database, one of which takes writes. */
  readonly urls: readonly string[];
  /** Connections of the largest pool, for replay (pools.ts has the others). */
  readonly poolSize: number;
  /** Knows which host worked last. */
  readonly hosts?: Hosts;
  /** Makes a socket connect otherwise than the system does. */
  readonly reroute?: <S extends Socket>(socket: S) => S;
  /** The cluster's schema, when the database may have others. */
  readonly schema?: ClusterSchema | undefined;
  /** Each connection is checked against it. Absent where there may be no schema yet. */
  readonly history?: KnownHistory;
  /** Objects are loaded into memory that all threads see. */
  readonly sharesLoads?: boolean;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Shorter: other hosts can answer, and a caller waits. */
const STANDBY_CONNECT_TIMEOUT_MS = 2000;
/** For all checks of a session before it is used, and the lock under which an epoch may begin. */
const SESSION_TIMEOUT_MS = 15_000;
const KEEPALIVE_DELAY_MS = 10_000;
/** How much longer the client waits than PostgreSQL should work. */
const ANSWER_MARGIN_MS = 500;
const QUERY_TIMEOUT_MS = SESSION_BOUNDS.statementMs + 5000;
/** A peer that is gone does not answer a goodbye. */
const CLOSE_TIMEOUT_MS = 1000;
/** SQLSTATE invalid_password. */
const WRONG_PASSWORD = '28P01';

/** A host, and the handshake that it takes. */
interface Route {
  readonly url: string;
  readonly target: Target;
  readonly handshake: Handshake;
}

/** Omits the URL, so that errors of the driver do not show it. */
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
 * Returns the name shown in the database's list of connections: their purpose, the migrations that their server knows, and which of
 * several clusters it serves. At most 63 bytes.
 */
export const toApplicationName = (purpose: string, schema?: ClusterSchema): string =>
  `pg-apiserver ${purpose} (schema ${newestMigration()}${schema === undefined ? '' : `, cluster ${schema.tag}`})`;

/** A connection of its own, for work that must not wait for the pool. */
export interface Connection {
  readonly client: pg.Client;
  /**
   * Whether statements may be prepared by name: not behind a pooler in transaction mode (PgBouncer), which may give each
   * transaction another session.
   */
  readonly prepares: boolean;
  readonly route: Route;
  /** One line for a person: whether it is encrypted, and whether the server's certificate was verified. */
  readonly encryption: string;
  /** Says goodbye, or drops the connection when the peer does not answer. Never rejects. */
  close(): Promise<void>;
}

/** A pool for one purpose. */
export interface Database {
  readonly pool: Queryable;
  /** As {@link Connection.prepares}. */
  readonly prepares: boolean;
}

/** Returns the writable database; called for each use, because a failover changes it. */
export type DatabaseSource = () => Promise<Database>;

/**
 * Connects to the host that takes writes. It tries each in turn, the last good one first, so that the next connection follows a
 * failover.
 * @throws the last host's error when none can be written to
 */
export function connectWritable(
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket = () => new Socket(),
): Promise<Connection> {
  return connectToOne(options, { purpose, access: 'writes', createSocket });
}

/** As connectWritable; where no host takes writes, connects to a primary all the same: it has all commits. */
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

/** Connects to a standby. @throws as {@link connectWritable} */
export const connectStandby = (
  options: ConnectionOptions,
  purpose: string,
  createSocket: () => Socket = () => new Socket(),
): Promise<Connection> =>
  connectToOne(options, { purpose, access: 'standby', createSocket, connectMs: STANDBY_CONNECT_TIMEOUT_MS });

/** Connects to any host. @throws what it says */
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

/** A read-only error says more than that of a host that does not answer. */
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
  /** The host takes no writes. */
  readonly isReadOnly: boolean;
}

/** Finds a readable host, for connections made elsewhere (pools, replication). @throws as connectReadable */
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

/** Connects by the first handshake that the server takes. */
async function connectTo(url: string, options: ConnectionOptions, wish: Wish): Promise<Connection> {
  const target = parseTarget(url);
  let refusal: unknown;
  for (const handshake of handshakes(target, options)) {
    const password = new Password(target);
    const attempt = (): Promise<Connection> =>
      connectBy({ url, target, handshake }, options, { ...wish, password, socket: wish.createSocket() });
    try {
      return await attempt().catch(async (error: unknown) => {
        // The file may have been rotated after we read it.
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

/**
 * Finds out a replaced host before its log is compared with the known one, rows of which it lacks too.
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

export interface PoolShape extends SessionBounds {
  readonly purpose: string;
  readonly size: number;
  readonly connectMs: number;
  /** `reads` by default. */
  readonly access?: Access;
}

/** A new connection costs PostgreSQL as much CPU as two hundred of the small statements that servers make each second. */
const IDLE_MS = 5 * 60_000;

/** Makes a pool, bounded in connections and in time. */
export function createPool(options: ConnectionOptions, route: FoundRoute, shape: PoolShape): pg.Pool {
  const { purpose, size, connectMs, access = 'reads', ...bounds } = shape;
  const { prepares } = route;
  const { schema } = options;
  const pool = new pg.Pool({
    ...toClientConfig(route, options, purpose),
    max: size,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: IDLE_MS,
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
  // The pool listens to clients that are idle or run a query. One that ends while it is verified would end the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
