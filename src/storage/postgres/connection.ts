import { readFileSync } from 'node:fs';
import pg from 'pg';
import { TEXT_TYPES } from './statements.ts';

/** How to reach PostgreSQL. Built from --kvstore-servers and the TLS files beside it. */
export interface ConnectionOptions {
  /** postgres:// URLs of the hosts of one database; the writable one is found. */
  readonly urls: readonly string[];
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Connections of the pool for reads; the committer and the tail have one each beside it. */
  readonly poolSize: number;
}

const CONNECT_TIMEOUT_MS = 5000;
const KEEPALIVE_DELAY_MS = 10_000;
/** No statement of ours runs that long on purpose; one that does has met a lock or a lost network. */
const STATEMENT_TIMEOUT_MS = 60_000;

export function toClientConfig(url: string, options: ConnectionOptions, purpose: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: `pg-apiserver ${purpose}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
    types: TEXT_TYPES,
    ...tlsConfig(options),
  };
}

function tlsConfig({ caFile, certFile, keyFile }: ConnectionOptions): pg.ClientConfig {
  if (caFile === undefined && certFile === undefined) return {};
  const read = (file: string | undefined): { text: string } | undefined =>
    file === undefined ? undefined : { text: readFileSync(file, 'utf8') };
  const ca = read(caFile);
  const cert = read(certFile);
  const key = read(keyFile);
  return {
    ssl: {
      ...(ca === undefined ? {} : { ca: ca.text }),
      ...(cert === undefined ? {} : { cert: cert.text }),
      ...(key === undefined ? {} : { key: key.text }),
    },
  };
}

/**
 * A connection to the host that takes writes. With several hosts each is tried in turn, so that a failover is followed by
 * the next connection.
 * @throws the last host's error when none can be written to
 */
export async function connectWritable(options: ConnectionOptions, purpose: string): Promise<pg.Client> {
  let last: unknown = new Error('no PostgreSQL server was given');
  for (const url of options.urls) {
    const client = new pg.Client({
      ...toClientConfig(url, options, purpose),
      statement_timeout: STATEMENT_TIMEOUT_MS,
    });
    // A client without a listener turns a broken connection into an uncaught exception.
    client.on('error', () => {});
    try {
      await client.connect();
      if (options.urls.length === 1 || (await isWritable(client))) return client;
      last = new Error(`${hostOf(url)} is a standby`);
    } catch (error) {
      last = error;
    }
    await client.end().catch(() => {});
  }
  throw last;
}

/** The URL of the host that takes writes, for connections that are made elsewhere (pool, replication). */
export async function findWritableUrl(options: ConnectionOptions): Promise<string> {
  const [only, ...others] = options.urls;
  if (only !== undefined && others.length === 0) return only;
  for (const url of options.urls) {
    try {
      const client = await connectWritable({ ...options, urls: [url] }, 'probe');
      const writable = await isWritable(client).finally(() => client.end());
      if (writable) return url;
    } catch {
      // The next host may answer; when none does, the caller's own connection says why.
    }
  }
  return only ?? '';
}

async function isWritable(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ standby: string }>('SELECT pg_is_in_recovery() AS standby');
  return rows[0]?.standby === 'f';
}

export function hostOf(url: string): string {
  try {
    const { host } = new URL(url);
    return host === '' ? 'the local socket' : host;
  } catch {
    return 'an unreadable URL';
  }
}

/** Bounded, for reads. Which host is the writable one is found anew for each new connection. */
export function createPool(options: ConnectionOptions, url: string): pg.Pool {
  const pool = new pg.Pool({
    ...toClientConfig(url, options, 'reads'),
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  pool.on('error', () => {});
  return pool;
}
