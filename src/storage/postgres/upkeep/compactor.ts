import { pause } from '../../../util/pause.ts';
import { type ClusterSchema, inSchema } from '../connection/cluster-schema.ts';
import {
  type Connection,
  type Database,
  type DatabaseSource,
  withoutTimeouts,
} from '../connection/connection.ts';
import { isConnectionFailure, isLockTimeout } from '../connection/statements.ts';
import { listMigrations, migrate } from '../migration/migrate.ts';
import { readMigrations } from '../migration/migration.ts';
import { findLeftMigrations, mayMigrate } from '../migration/right-to-migrate.ts';
import { correctClock } from './clock.ts';
import { fillObjects } from './filler.ts';
import { describeReaders, type Retention, readRetention } from './retention.ts';

/** States beside the log that one transaction forgets. */
const BATCH_ROWS = 1000;
/** Interval between makings of partitions. A commit that finds none makes one itself, and takes longer. */
const AHEAD_MS = 10_000;
/** Interval between fillings of objects with their bytes. */
const FILL_MS = 10_000;
/** Interval between looks for closed partitions to index. */
const CLOSED_MS = 10_000;
/** Pause after an index failed: for want of disk, most likely, of which an attempt takes the rest. */
const INDEX_FAILED_MS = 300_000;
/** How long a partition was left before it is dropped: longer than a function of SQL reads. */
const SETTLE_MS = 10_000;
/** Failed drops in a row before the log says so. */
const FAILED_DROPS = 3;
/** History is late after this many intervals: one run leaves it, the next drops it. */
const LATE_INTERVALS = 4;
const LATE_AT_LEAST_MS = 600_000;
/** Interval between lines about the same trouble. */
const REPEAT_MS = 3_600_000;

interface CompactorOptions {
  readonly database: DatabaseSource;
  /** A connection of its own, for migrations and indexes. */
  readonly connect: () => Promise<Connection>;
  readonly schema: ClusterSchema | undefined;
  /** 0: never compact here. */
  readonly intervalMs: number;
  readonly onError: (error: unknown) => void;
  /** One line for the log. */
  readonly onTrouble: (message: string) => void;
  /** This server's clock. */
  readonly now: () => number;
  readonly settleMs?: number;
}

/** Partitions made, objects given their bytes, states forgotten, partitions left, dropped, indexed and thinned. */
const KINDS = ['make', 'fill', 'forget', 'leave', 'drop', 'index', 'thin'] as const;
type UpkeepKind = (typeof KINDS)[number];

/**
 * Compactor keeps the log in shape: it makes partitions ahead, and cuts off history behind the window. It raises the compacted
 * revision first, which readers, watches and views obey; then it drops whole partitions, at the same cost however much they hold.
 * States that the window still needs are kept beside the log (leave_partition, in migrations/), and objects whose bytes are in such a partition get
 * them first.
 *
 * Any server may run it, several at once too: each step is one call, which checks under a lock whether it is still due. How far
 * back history is kept is one value in the database for all servers.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  #hasAllMigrations = false;
  #canThin = false;
  #left: string | undefined;
  #failedDrops = 0;
  #spokeOfLateMs = Number.NEGATIVE_INFINITY;
  #retention: Retention | undefined;

  readonly #spentMs = new Map<UpkeepKind, number>(KINDS.map((kind) => [kind, 0]));

  /** How long this server has spent on each kind of upkeep. */
  get spentMs(): ReadonlyMap<UpkeepKind, number> {
    return this.#spentMs;
  }

  async #spend<Result>(kind: UpkeepKind, work: Promise<Result>): Promise<Result> {
    const begunMs = performance.now();
    try {
      return await work;
    } finally {
      this.#spentMs.set(kind, (this.#spentMs.get(kind) ?? 0) + performance.now() - begunMs);
    }
  }

  /** As of the last compaction of this server; undefined before it. */
  get retention(): Retention | undefined {
    return this.#retention;
  }

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  /** Runs three loops side by side, so that a busy one delays no other. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs, database } = this.#options;
    if (intervalMs === 0) return;
    let compactedAtMs = Date.now();
    const pauseMs = Math.min(intervalMs, AHEAD_MS);
    const compacting = this.#repeat({ pauseMs, failedMs: pauseMs }, signal, async () => {
      const isDue = Date.now() - compactedAtMs >= intervalMs;
      if (isDue) compactedAtMs = Date.now();
      await (isDue ? this.compact(signal) : this.makeAhead());
    });
    const fills = { pauseMs: FILL_MS, failedMs: FILL_MS };
    const filling = this.#repeat(fills, signal, () => this.#spend('fill', fillObjects(database, signal)));
    const indexes = { pauseMs: CLOSED_MS, failedMs: INDEX_FAILED_MS };
    const indexing = this.#repeat(indexes, signal, async () => {
      await this.#spend('index', this.indexRequests(signal));
      await this.#spend('thin', this.thin(signal));
    });
    await Promise.all([compacting, filling, indexing]);
  }

  async #repeat(
    { pauseMs, failedMs }: { readonly pauseMs: number; readonly failedMs: number },
    signal: AbortSignal,
    work: () => Promise<unknown>,
  ): Promise<void> {
    let nextMs = pauseMs;
    for (;;) {
      await pause(nextMs, signal);
      if (signal.aborted) return;
      nextMs = pauseMs;
      try {
        await work();
      } catch (error) {
        if (signal.aborted || isConnectionFailure(error) || isLockTimeout(error)) continue;
        nextMs = failedMs;
        this.#options.onError(error);
      }
    }
  }

  /**
   * Indexes the request ids of closed partitions (index_requests, in migrations/): 24 s of CPU for ten million revisions, for which other upkeep
   * does not wait. Returns how many partitions it indexed.
   */
  async indexRequests(signal: AbortSignal): Promise<number> {
    let indexed = 0;
    while (!signal.aborted && (await this.#isRequestsIndexDue())) {
      await this.#callLong('index_requests()', signal);
      indexed += 1;
    }
    return indexed;
  }

  async #isRequestsIndexDue(): Promise<boolean> {
    const database = await this.#options.database();
    return (await call(database, 'closed_without_requests() IS NOT NULL')) === 't';
  }

  /**
   * Removes the old rows that resources with a shorter history have in closed partitions (migrations/0086). A copy that waits for an
   * older transaction is looked at again in the next run.
   */
  async thin(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#isThinningDue())) {
      const step = await this.#callLong('thin_partition()', signal);
      if (step === 'nothing' || step === 'waits') return;
    }
  }

  async #isThinningDue(): Promise<boolean> {
    const database = await this.#options.database();
    return (await this.#knowsShorter(database)) && (await call(database, 'thinning_is_due()')) === 't';
  }

  /** Whether the schema has shorter histories that are thinned like this. */
  async #knowsShorter(database: Database): Promise<boolean> {
    this.#canThin ||= (await call(database, "to_regproc('thinning_is_due') IS NOT NULL")) === 't';
    return this.#canThin;
  }

  /** Calls a function that may take minutes, over a connection of its own, which ends with the signal. */
  async #callLong(text: string, signal: AbortSignal): Promise<string | undefined> {
    const { client, close } = await this.#options.connect();
    const abandon = (): void => void close();
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const query = { text: `SELECT ${text} AS answer`, query_timeout: 2 ** 31 - 1 };
      const { rows } = await withoutTimeouts(client, () => client.query<{ answer: string }>(query));
      return rows[0]?.answer;
    } finally {
      signal.removeEventListener('abort', abandon);
      await close();
    }
  }

  /** Returns how many partitions it made. */
  async makeAhead(): Promise<number> {
    const database = await this.#options.database();
    return Number(await this.#spend('make', call(database, 'make_partitions_ahead()')));
  }

  /**
   * Compacts up to the window, and returns how many partitions it dropped. While the clocks of the database and of this server
   * differ, it cuts nothing off: by a clock that has jumped ahead, all of history would lie behind the window.
   *
   * It drops what is due first, so that each run drops what those before it left, however much it leaves itself.
   */
  async compact(signal: AbortSignal): Promise<number> {
    const { onTrouble, now } = this.#options;
    const database = await this.#options.database();
    await this.#finishMigrations().catch(this.#options.onError);
    await this.makeAhead();
    const clocksAgree = await correctClock(database, { onTrouble, now, signal });
    if (!clocksAgree) return 0;
    try {
      const due = await this.#spend('drop', this.#dropPartitions(database, signal));
      await call(database, 'compact_history()');
      if (await this.#knowsShorter(database)) await call(database, 'compact_shorter_histories()');
      while (
        !signal.aborted &&
        (await this.#spend('forget', call(database, `forget_superseded(${BATCH_ROWS})`))) ===
          String(BATCH_ROWS)
      );
      await this.#spend('fill', fillObjects(this.#options.database, signal));
      while (
        !signal.aborted &&
        (await this.#spend('leave', call(database, 'leave_partition()'))) !== 'nothing'
      );
      return due + (await this.#spend('drop', this.#dropPartitions(database, signal)));
    } finally {
      await this.#measure(database);
    }
  }

  async #dropPartitions(database: Database, signal: AbortSignal): Promise<number> {
    const { settleMs = SETTLE_MS } = this.#options;
    let dropped = 0;
    try {
      while (!signal.aborted && (await call(database, `drop_partition('${settleMs} ms')`)) === 't')
        dropped += 1;
      this.#failedDrops = 0;
    } catch (error) {
      if (isLockTimeout(error) && ++this.#failedDrops % FAILED_DROPS === 0) {
        const readers = await describeReaders(database, error);
        this.#options.onTrouble(
          `history behind the window cannot be dropped, because ${readers} reads it: end that transaction`,
        );
      }
      throw error;
    }
    return dropped;
  }

  async #measure(database: Database): Promise<void> {
    this.#retention = await readRetention(database).catch(() => this.#retention);
    const { behindMs = 0, partitionsBehind = 0 } = this.#retention ?? {};
    const isLate = behindMs > Math.max(LATE_AT_LEAST_MS, LATE_INTERVALS * this.#options.intervalMs);
    if (!isLate || partitionsBehind < 2 || performance.now() - this.#spokeOfLateMs < REPEAT_MS) return;
    this.#spokeOfLateMs = performance.now();
    const age = Math.round(behindMs / 1000);
    this.#options.onTrouble(
      `the oldest history should have gone ${age} s ago: ${partitionsBehind} partitions lie behind the window and are not dropped`,
    );
  }

  /** Leaves migrations to the schema's owner; logged once. */
  #leaveMigrations(left: string | undefined): void {
    if (left !== undefined && left !== this.#left) this.#options.onTrouble(left);
    this.#left = left;
    this.#hasAllMigrations = left === undefined;
  }

  /** Applies migrations that waited for older servers. */
  async #finishMigrations(): Promise<void> {
    if (this.#hasAllMigrations) return;
    const { schema } = this.#options;
    const migrations = inSchema(readMigrations(), schema);
    const { client, close } = await this.#options.connect();
    try {
      if (!(await mayMigrate(client)))
        return this.#leaveMigrations(await findLeftMigrations(client, migrations, schema));
      await migrate(client, migrations, { patienceMs: 0, schema });
      const listed = await listMigrations(client, migrations, { schema });
      this.#hasAllMigrations = listed.every(({ state }) => state === 'applied');
    } finally {
      await close();
    }
  }
}

async function call({ pool }: Database, text: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ answer: string }>({ text: `SELECT ${text} AS answer` });
  return rows[0]?.answer;
}
