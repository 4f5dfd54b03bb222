import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';
import { UpkeepCosts, type UpkeepKind } from '../../../src/storage/postgres/upkeep/costs.ts';
import { fillObjects } from '../../../src/storage/postgres/upkeep/filler.ts';
import { leavePartitions } from '../../../src/storage/postgres/upkeep/leaver.ts';
import { NEVER } from '../../../src/util/pause.ts';
import { migrateDatabase } from '../../storage/postgres/migrate-database.ts';
import { cpuSeconds } from '../measure/proc.ts';

/** What the database did, or used, for some work. */
export interface Spent {
  readonly cpuSeconds: number;
  readonly walBytes: number;
}

/** Long before the present, which simulated time never reaches. */
const BEGIN_DAYS_AGO = 30;

/**
 * A PostgreSQL of its own with the settings users get, that no server uses, and in which time is what the scenario says. Commits and
 * upkeep are the calls that a server makes.
 */
export class UpkeepDatabase implements AsyncDisposable {
  readonly #folder: string;
  readonly #postgres: EmbeddedPostgres;
  readonly #client: pg.Client;
  readonly #thins: boolean;
  #costs = new UpkeepCosts();

  static async start(): Promise<UpkeepDatabase> {
    const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-bench-upkeep-'));
    // The account PostgreSQL runs under when we are root must be able to pass.
    chmodSync(folder, 0o755);
    const postgres = new EmbeddedPostgres({ folder, port: 0, settings: [], onProgress: () => {} });
    try {
      await postgres.start();
      await migrateDatabase({ urls: [postgres.url], poolSize: 1 });
      await simulateTime(postgres.url);
      const client = await connect(postgres.url);
      const { rows } = await client.query<{ thins: boolean }>(
        "SELECT to_regproc('thinning_is_due') IS NOT NULL AS thins",
      );
      return new UpkeepDatabase({ folder, postgres, client, thins: rows[0]?.thins === true });
    } catch (error) {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(of: { folder: string; postgres: EmbeddedPostgres; client: pg.Client; thins: boolean }) {
    this.#folder = of.folder;
    this.#postgres = of.postgres;
    this.#client = of.client;
    this.#thins = of.thins;
  }

  get url(): string {
    return this.#postgres.url;
  }

  /** Since the start, or since it was asked to forget. */
  get costs(): UpkeepCosts['of'] {
    return this.#costs.of;
  }

  forgetCosts(): void {
    this.#costs = new UpkeepCosts();
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, values)).rows;
  }

  /** The one number that a statement answers. */
  async number(text: string): Promise<number> {
    const [row] = await this.query<{ number: number }>(`SELECT (${text})::float8 AS number`);
    return row?.number ?? Number.NaN;
  }

  async passTime(seconds: number): Promise<void> {
    await this.query("UPDATE simulated_time SET at = at + $1 * interval '1 second'", [seconds]);
  }

  async keepHistory(seconds: number, shorter: Readonly<Record<string, number>> = {}): Promise<void> {
    await this.query("UPDATE compaction SET history_window = $1 * interval '1 second'", [seconds]);
    if (this.#thins) await this.query('SELECT set_shorter_histories($1)', [JSON.stringify(shorter)]);
  }

  /** Ends the partition that is written to, as if as much had been written as goes into one. */
  async endPartition(): Promise<void> {
    await this.query(
      "SELECT setval('revisions_revision_seq', (SELECT high - 1 FROM log_partitions() WHERE high > last_value ORDER BY high LIMIT 1)) FROM revisions_revision_seq",
    );
  }

  /** All that is due of filling, or all objects, without pauses. */
  async fill({ all = false } = {}): Promise<void> {
    const fillAll = async (step: string): Promise<string> => {
      while ((await this.#call('fill', step)) !== 'nothing');
      return 'nothing';
    };
    await (all ? fillAll("fill_objects(0, '0 s')") : fillObjects(fillAll, NEVER));
  }

  /** As the compactor of a server does it, without a pause before what was left is dropped. */
  async compact(): Promise<void> {
    await this.#call('make', 'make_partitions_ahead()');
    await this.query('SELECT compact_history()');
    if (this.#thins) await this.query('SELECT compact_shorter_histories()');
    while ((await this.#call('forget', 'forget_superseded(1000)')) === '1000');
    await this.fill();
    await leavePartitions(() => this.#call('leave', 'leave_partition()'), NEVER);
    while ((await this.#call('drop', "drop_partition('0 s')")) === 'true');
    while ((await this.number('(closed_without_requests() IS NOT NULL)::int')) === 1)
      await this.#call('index', 'index_requests()');
    while (this.#thins && (await this.number('thinning_is_due()::int')) === 1)
      await this.#call('thin', 'thin_partition()');
  }

  #call(kind: UpkeepKind, text: string): Promise<string> {
    return this.#costs.measure(kind, { database: this.#client, text });
  }

  /** From a checkpoint on, so that first changes of pages count alike. */
  async spend(work: () => Promise<void>): Promise<Spent> {
    await this.query('CHECKPOINT');
    const pids = [this.#postgres.pid ?? 0];
    const wal = "pg_current_wal_lsn() - '0/0'::pg_lsn";
    const [cpuBefore, walBefore] = [cpuSeconds(pids), await this.number(wal)];
    await work();
    return {
      cpuSeconds: cpuSeconds(pids) - cpuBefore,
      walBytes: (await this.number(wal)) - walBefore,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
    await this.#postgres.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // What breaks the connection is said by the call that is under way.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Names of this schema come before those of PostgreSQL, so that all of ours asks a table what time it is. */
async function simulateTime(url: string): Promise<void> {
  const client = await connect(url);
  try {
    await client.query(`
      CREATE TABLE simulated_time (at timestamptz NOT NULL) WITH (fillfactor = 10);
      INSERT INTO simulated_time VALUES (now() - interval '${BEGIN_DAYS_AGO} days');
      UPDATE compaction SET committed_at = committed_at - interval '${BEGIN_DAYS_AGO} days';
      UPDATE epochs SET began_at = began_at - interval '${BEGIN_DAYS_AGO} days';
      UPDATE filling SET filled_at = filled_at - interval '${BEGIN_DAYS_AGO} days';
      CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT at FROM public.simulated_time';
      DO $$
      DECLARE
        of regprocedure;
      BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
        FOR of IN
          SELECT p.oid FROM pg_proc p
          WHERE p.pronamespace = 'public'::regnamespace AND array_to_string(p.proconfig, ',') LIKE '%search_path%'
        LOOP
          EXECUTE format('ALTER FUNCTION %s SET search_path = public, pg_catalog, pg_temp', of);
        END LOOP;
      END $$`);
  } finally {
    await client.end();
  }
}
