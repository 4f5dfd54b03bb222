import type pg from 'pg';
import { PostgresAllocations } from './allocations.ts';
import { BatchingCommitter } from './committer.ts';
import { Compactor } from './compactor.ts';
import {
  type ConnectionOptions,
  createPool,
  type Database,
  findWritable,
  isSameRoute,
  type Route,
  toClientConfig,
} from './connection.ts';
import { Expirer } from './expirer.ts';
import { PostgresFeed } from './feed.ts';
import { KnownHistory } from './known-history.ts';
import { connectToLoad } from './load.ts';
import { PostgresReader } from './reader.ts';
import { PostgresServerLeases } from './server-leases.ts';
import { PostgresSigningKeys } from './signing-keys.ts';

/** How long the answer to which of several hosts takes writes is relied on. */
const RECHECK_MS = 1000;

export interface PostgresOptions extends ConnectionOptions {
  /** 0: never compact here. */
  readonly compactionIntervalMs: number;
  /** One line for the log. */
  readonly onTrouble: (message: string) => void;
  /** This server's clock. */
  readonly now?: () => number;
  /** For how long a partition is asked for nothing before it is dropped. */
  readonly settleMs?: number;
}

/** The log in PostgreSQL, with the services that keep it: everything the server needs of this folder. */
export interface PostgresLog {
  readonly committer: BatchingCommitter;
  readonly allocations: PostgresAllocations;
  readonly reader: PostgresReader;
  readonly feed: PostgresFeed;
  readonly compactor: Compactor;
  readonly expirer: Expirer;
  readonly leases: PostgresServerLeases;
  readonly signingKeys: PostgresSigningKeys;
  /** Connections for reads, now. */
  pool(): PoolState;
  /** Of the whole database on disk. */
  sizeBytes(): Promise<number>;
  /** Resolves when the database answers. @throws what it said instead */
  ping(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

export interface PoolState {
  readonly total: number;
  readonly idle: number;
  /** Reads that wait for a connection. */
  readonly waiting: number;
}

export function openPostgres(given: PostgresOptions): PostgresLog {
  const history = new KnownHistory();
  const options = { ...given, history };
  const { onTrouble, now = Date.now } = options;
  history.onEpoch((epoch) => onTrouble(`history begins anew after revision ${epoch}: see the table epochs`));
  const writable = new WritableDatabase(options);
  const database = (): Promise<Database> => writable.get();
  const reader = new PostgresReader(database, () => connectToLoad(options), history);
  const committer = new BatchingCommitter(options, now);
  const onError = (error: unknown): void => onTrouble(error instanceof Error ? error.message : String(error));
  const clientConfig = async (): Promise<pg.ClientConfig> =>
    toClientConfig((await findWritable(options)).route, options, 'tail');
  return {
    committer,
    allocations: new PostgresAllocations(database),
    reader,
    feed: new PostgresFeed({ reader, clientConfig, onTrouble, history }),
    compactor: new Compactor({
      database,
      intervalMs: options.compactionIntervalMs,
      onError,
      onTrouble,
      now,
      ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
    }),
    expirer: new Expirer({ database, onError }),
    leases: new PostgresServerLeases(database),
    signingKeys: new PostgresSigningKeys(database),
    pool: () => writable.state(),
    sizeBytes: async () => {
      const { pool } = await database();
      const text = 'SELECT pg_database_size(current_database()) AS bytes';
      return Number((await pool.query<{ bytes: string }>(text)).rows[0]?.bytes ?? 0);
    },
    ping: async (timeoutMs) => {
      const answer = database().then(({ pool }) => pool.query('SELECT 1'));
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      });
      await Promise.race([answer, late]).finally(() => clearTimeout(timer));
    },
    close: async () => {
      await committer.close();
      await writable.close();
    },
  };
}

/** One pool to the host that takes writes; with several hosts, replaced when that host is no longer the one. */
class WritableDatabase {
  readonly #options: ConnectionOptions;
  #current: (Database & { readonly route: Route }) | undefined;
  #finding: Promise<Database> | undefined;
  #checkedAtMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async get(): Promise<Database> {
    const isSingle = this.#options.urls.length === 1;
    const isFresh = isSingle || Date.now() - this.#checkedAtMs < RECHECK_MS;
    if (this.#current !== undefined && isFresh) return this.#current;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  state(): PoolState {
    const pool = this.#current?.pool;
    return {
      total: pool?.totalCount ?? 0,
      idle: pool?.idleCount ?? 0,
      waiting: pool?.waitingCount ?? 0,
    };
  }

  async #find(): Promise<Database> {
    const { route, prepares } = await findWritable(this.#options);
    this.#checkedAtMs = Date.now();
    if (this.#current !== undefined && isSameRoute(this.#current.route, route)) return this.#current;
    void this.#current?.pool.end().catch(() => {});
    this.#current = { route, prepares, pool: createPool(this.#options, route, prepares) };
    return this.#current;
  }

  async close(): Promise<void> {
    await this.#finding?.catch(() => {});
    await this.#current?.pool.end();
    this.#current = undefined;
  }
}
