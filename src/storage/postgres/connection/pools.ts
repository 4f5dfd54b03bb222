import type pg from 'pg';
import { Slots } from '../../../util/concurrency.ts';
import { getOrAdd } from '../../../util/get-or-add.ts';
import { type Backoff, pause, pauseAfter } from '../../../util/pause.ts';
import { StorageError } from '../../errors.ts';
import type { Condition } from './condition.ts';
import {
  type ConnectionOptions,
  createPool,
  type Database,
  type DatabaseSource,
  type FoundRoute,
  findReadable,
  type PoolShape,
} from './connection.ts';
import type { Queryable } from './prepared.ts';
import { isConnectionFailure, isNotYetThere, isReadOnly, toUnavailable } from './statements.ts';
import { describeTrouble } from './trouble.ts';

/**
 * What connections are for. Each purpose has a pool of its own, so that none can starve another: a herd of replays does not delay
 * the question how fresh the cache is, nor a long compaction the tail.
 */
type Purpose = 'fresh' | 'tail' | 'replay' | 'upkeep';

/**
 * Fresh reads end within 3 s: later answers are of no use to them. The tail waits for the ordering lock at times. Together with the
 * lanes of the committer (2), the replication stream (1), the guard (1) and one that loads, probes or migrates, a server has 15
 * connections at most; where there are several hosts, also one to each, to look at it.
 */
const SHAPES = {
  fresh: { size: 2, connectMs: 2000, statementMs: 2000, lockMs: 2000 },
  tail: { size: 2, connectMs: 5000, statementMs: 12_000, lockMs: 10_000 },
  upkeep: { size: 2, connectMs: 5000, statementMs: 30_000, lockMs: 10_000 },
} as const;

const BACKOFF: Backoff = { firstMs: 50, longestMs: 1000 };
/** While the found host takes no writes, look this often for another. */
const RECHECK_MS = 5000;

/** For all purposes together. */
export interface PoolState {
  readonly total: number;
  readonly idle: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

/**
 * Pools are to the host that takes writes, or can at least be read. When it fails, a host is looked for anew, the last good one
 * first.
 */
export class Pools {
  readonly #options: ConnectionOptions;
  readonly #condition: Condition;
  readonly #closing = new AbortController();
  #current: HostPools | undefined;
  #finding: Promise<HostPools> | undefined;
  #foundAtMs = 0;
  /** Failures in a row. */
  #failures = 0;
  #failedAtMs = 0;

  constructor(options: ConnectionOptions, condition: Condition) {
    this.#options = options;
    this.#condition = condition;
    options.hosts?.onFenced((url) => this.#fenced(url));
  }

  for(purpose: Purpose): DatabaseSource {
    return async () => (await this.#host()).database(purpose);
  }

  state(): PoolState {
    return this.#current?.state() ?? { total: 0, idle: 0, waiting: 0 };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#finding?.catch(() => {});
    await this.#current?.end();
    this.#current = undefined;
  }

  #host(): Promise<HostPools> | HostPools {
    if (this.#current !== undefined && !this.#isDoubtful(this.#current)) return this.#current;
    this.#finding ??= this.#find().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  #isDoubtful({ found }: HostPools): boolean {
    return found.isReadOnly && this.#options.urls.length > 1 && Date.now() - this.#foundAtMs > RECHECK_MS;
  }

  /** Fails what was asked of the host: its answers are of a log that another one has replaced. */
  #fenced(url: string): void {
    const pools = this.#current;
    if (pools?.found.url !== url) return;
    this.#current = undefined;
    pools.refuse();
    void pools.end();
    this.#condition.failed('another host was promoted');
  }

  /** Finds a host; concurrent calls share the attempt. */
  async #find(): Promise<HostPools> {
    // A first failure may be of one connection alone: try at once.
    const pauseMs = this.#failures < 2 ? 0 : pauseAfter(this.#failures - 1, BACKOFF);
    const leftMs = this.#failedAtMs + pauseMs - Date.now();
    if (leftMs > 0) await pause(leftMs, this.#closing.signal);
    try {
      const found = await findReadable(this.#options);
      this.#foundAtMs = Date.now();
      void this.#current?.end();
      const pools = new HostPools(this.#options, found, (error) => this.#heard(pools, error));
      this.#current = pools;
      return pools;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  #heard(pools: HostPools, error: unknown): void {
    if (error === undefined) {
      this.#failures = 0;
      this.#condition.worked();
    } else if (pools === this.#current && !(isReadOnly(error) && pools.found.isReadOnly)) {
      this.#current = undefined;
      void pools.end();
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    this.#failedAtMs = Date.now();
    if (!this.#closing.signal.aborted) this.#condition.failed(describeTrouble(error));
  }
}

/** The pools to one host, made on first use. */
class HostPools {
  readonly found: FoundRoute;
  readonly #options: ConnectionOptions;
  readonly #heard: (error: unknown) => void;
  readonly #pools = new Map<Purpose, BoundedPool>();

  /** `heard` is called with errors that concern the host, and with undefined after a success. */
  constructor(options: ConnectionOptions, found: FoundRoute, heard: (error: unknown) => void) {
    this.#options = options;
    this.found = found;
    this.#heard = heard;
  }

  database(purpose: Purpose): Database {
    const pool = getOrAdd(
      this.#pools,
      purpose,
      () =>
        new BoundedPool(
          this.#shape(purpose),
          (shape) => createPool(this.#options, this.found, shape),
          this.#heard,
        ),
    );
    return { pool, prepares: this.found.prepares };
  }

  #shape(purpose: Purpose): PoolShape {
    if (purpose !== 'replay') return { purpose, ...SHAPES[purpose] };
    return { purpose, ...SHAPES.upkeep, size: this.#options.poolSize };
  }

  state(): PoolState {
    const states = [...this.#pools.values()].map((pool) => pool.state());
    const sum = (of: keyof PoolState): number => states.reduce((total, state) => total + state[of], 0);
    return { total: sum('total'), idle: sum('idle'), waiting: sum('waiting') };
  }

  refuse(): void {
    for (const pool of this.#pools.values()) pool.refuse();
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
  }
}

/** BoundedPool queues statements beyond its size itself: the driver's pool cannot tell waiting from a host that does not answer. */
class BoundedPool implements Queryable {
  readonly #pool: pg.Pool;
  readonly #slots: Slots;
  readonly #heard: (error: unknown) => void;
  #hasEnded = false;
  #isRefused = false;

  constructor(shape: PoolShape, create: (shape: PoolShape) => pg.Pool, heard: (error: unknown) => void) {
    this.#pool = create(shape);
    this.#slots = new Slots(shape.size);
    this.#heard = heard;
  }

  async query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    try {
      const result = await this.#slots.run(() => this.#query<Row>(query));
      if (this.#isRefused) throw new Error('the connection was to a host that another one has replaced');
      this.#heard(undefined);
      return result;
    } catch (error) {
      if (isConnectionFailure(error)) this.#heard(error);
      if (isNotYetThere(error))
        throw new StorageError(toUnavailable(error, waiting(error)), { cause: error });
      throw error;
    }
  }

  #query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    if (this.#hasEnded) throw new Error('the connection was given up, as were others to the same host');
    return this.#pool.query<Row>(query);
  }

  state(): PoolState {
    const { totalCount: total, idleCount: idle } = this.#pool;
    return { total, idle, waiting: this.#slots.waiting };
  }

  /** Makes statements under way fail, regardless of their results. */
  refuse(): void {
    this.#isRefused = true;
  }

  end(): Promise<void> {
    this.#hasEnded = true;
    return this.#pool.end().catch(() => {});
  }
}

/** A server serves beside older ones, without the migrations that those cannot live with. */
const waiting = ({ message }: Error): string =>
  `${message}: a migration that waits for servers of the version before to end makes it (pg-apiserver migrate --list)`;
