import { pause, repeat } from '../../../util/pause.ts';
import { StorageError } from '../../errors.ts';
import { type ClusterSchema, inSchema } from '../connection/cluster-schema.ts';
import type { Connection, Database, DatabaseSource } from '../connection/connection.ts';
import { withoutTimeouts } from '../connection/session-bounds.ts';
import { isConnectionFailure, isLockTimeout, isNotYetThere } from '../connection/statements.ts';
import { readMigrations } from '../migration/migration.ts';
import { findLeftMigrations, mayMigrate } from '../migration/right-to-migrate.ts';
import { listMigrations, migrate } from '../migration/run-migrations.ts';
import { correctClock } from './correct-clock.ts';
import { type UpkeepCost, UpkeepCosts, type UpkeepKind } from './costs.ts';
import { fillObjects } from './filler.ts';
import { leavePartitions } from './leaver.ts';
import { Obstacle, REPEAT_MS } from './obstacle.ts';
import { findOlderTransactions, type Retention, readRetention } from './retention.ts';

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
/** Failures in a row before the log says so: drops are tried each few minutes, thinning each ten seconds. */
const FAILED_DROPS = 3;
const FAILED_THINNINGS = 30;
/** History is late after this many intervals: one run leaves it, the next drops it. */
const LATE_INTERVALS = 4;
const LATE_AT_LEAST_MS = 600_000;

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
  #spokeOfLateMs = Number.NEGATIVE_INFINITY;
  #retention: Retention | undefined;

  readonly #costs = new UpkeepCosts();
  readonly #dropping: Obstacle;
  readonly #thinning: Obstacle;

  /** What upkeep by this server has cost the database. */
  get costs(): ReadonlyMap<UpkeepKind, UpkeepCost> {
    return this.#costs.of;
  }

  async #call(kind: UpkeepKind, text: string): Promise<string> {
    const { pool } = await this.#options.database();
    return this.#costs.measure(kind, { database: pool, text });
  }

  /** As of the last compaction of this server; undefined before it. */
  get retention(): Retention | undefined {
    return this.#retention;
  }

  constructor(options: CompactorOptions) {
    this.#options = options;
    const { onTrouble } = options;
    const describeDrop = (them: string): string =>
      `history behind the window cannot be dropped, because ${them} reads it: end that transaction`;
    const describeThin = (them: string): string =>
      `old rows of resources with a shorter history cannot be removed, because ${them} may read them: end that transaction`;
    this.#dropping = new Obstacle({ patience: FAILED_DROPS, describe: describeDrop, onTrouble });
    this.#thinning = new Obstacle({ patience: FAILED_THINNINGS, describe: describeThin, onTrouble });
  }

  /** Runs three loops side by side, so that a busy one delays no other. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs } = this.#options;
    if (intervalMs === 0) return;
    let compactedAtMs = Date.now();
    const compactions = { everyMs: Math.min(intervalMs, AHEAD_MS) };
    const compacting = this.#repeat(compactions, signal, async () => {
      const isDue = Date.now() - compactedAtMs >= intervalMs;
      if (isDue) compactedAtMs = Date.now();
      await (isDue ? this.compact(signal) : this.makeAhead());
    });
    const filling = this.#repeat({ everyMs: FILL_MS }, signal, () => this.#fill(signal));
    const indexes = { everyMs: CLOSED_MS, retryMs: INDEX_FAILED_MS };
    const indexing = this.#repeat(indexes, signal, async () => {
      await this.indexRequests(signal);
      await this.thin(signal);
    });
    await Promise.all([compacting, filling, indexing]);
  }

  #fill(signal: AbortSignal): Promise<void> {
    return fillObjects((text) => this.#call('fill', text), signal);
  }

  /** Begins after a pause. A lost connection and a lock that others hold are no failures: the next round comes as usual. */
  async #repeat(
    rhythm: { readonly everyMs: number; readonly retryMs?: number },
    signal: AbortSignal,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const { onError } = this.#options;
    const letPass = (error: unknown): void => {
      if (!signal.aborted && !isConnectionFailure(error) && !isLockTimeout(error)) throw error;
    };
    await pause(rhythm.everyMs, signal);
    await repeat(() => work().catch(letPass), signal, { ...rhythm, onError });
  }

  /**
   * Indexes the request ids of closed partitions (index_requests, in migrations/): 24 s of CPU for ten million revisions, for which other upkeep
   * does not wait. Returns how many partitions it indexed.
   */
  async indexRequests(signal: AbortSignal): Promise<number> {
    let indexed = 0;
    while (!signal.aborted && (await this.#isRequestsIndexDue())) {
      await this.#callLong('index', 'index_requests()', signal);
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
    try {
      while (!signal.aborted && (await this.#isThinningDue())) {
        const step = await this.#callLong('thin', 'thin_partition()', signal);
        if (step === 'waits') return await this.#waitToThin();
        if (step === 'nothing') return;
        this.#thinning.overcome();
      }
    } catch (error) {
      if (isLockTimeout(error)) await this.#thinning.meet(await this.#options.database(), error);
      throw error;
    }
  }

  async #waitToThin(): Promise<void> {
    const database = await this.#options.database();
    await this.#thinning.meet(database, await findOlderTransactions(database));
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
  async #callLong(kind: UpkeepKind, text: string, signal: AbortSignal): Promise<string> {
    const { client, close } = await this.#options.connect();
    const abandon = (): void => void close();
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const call = { database: client, text, timeoutMs: 2 ** 31 - 1 };
      return await withoutTimeouts(client, () => this.#costs.measure(kind, call));
    } finally {
      signal.removeEventListener('abort', abandon);
      await close();
    }
  }

  /** Returns how many partitions it made. */
  async makeAhead(): Promise<number> {
    return Number(await this.#call('make', 'make_partitions_ahead()'));
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
      const due = await this.#dropPartitions(signal);
      await call(database, 'compact_history()');
      if (await this.#knowsShorter(database)) await call(database, 'compact_shorter_histories()');
      const forget = `forget_superseded(${BATCH_ROWS})`;
      while (!signal.aborted && (await this.#call('forget', forget)) === String(BATCH_ROWS));
      await this.#fill(signal);
      await leavePartitions(() => this.#leave(), signal);
      return due + (await this.#dropPartitions(signal));
    } finally {
      await this.#measure(database);
    }
  }

  async #leave(): Promise<string> {
    try {
      return await this.#call('leave', 'leave_partition()');
    } catch (error) {
      // Another server has dropped the partition between the choice and the lock, and leaves the next ones.
      if (error instanceof StorageError && isNotYetThere(error.cause)) return 'nothing';
      throw error;
    }
  }

  /**
   * Drops what was left, when nothing reads it. DETACH CONCURRENTLY may not be in a function or a transaction, so that servers would
   * have to own the log, and where it is cut off, the partition stays half detached and all further ones are refused. It would spare
   * commits a lock that drop_partition asks for only while no reader is in its way, and it waits for those readers just as long. That lock
   * costs little: while five million rows were left and dropped, no commit took longer than 0.13 s, and 0.08 s in the 20 s before.
   */
  async #dropPartitions(signal: AbortSignal): Promise<number> {
    const { settleMs = SETTLE_MS, database } = this.#options;
    let dropped = 0;
    try {
      while (!signal.aborted && (await this.#call('drop', `drop_partition('${settleMs} ms')`)) === 'true')
        dropped += 1;
      this.#dropping.overcome();
    } catch (error) {
      if (isLockTimeout(error)) await this.#dropping.meet(await database(), error);
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
