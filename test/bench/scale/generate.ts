import pg from 'pg';
import { DAYS, type Log, type ScaleSize, Shape } from './shape.ts';

/** Two, because a small machine has as many cores. */
const WRITERS = 2;
const BATCH = 50_000;

const LOG_COLUMNS = `revision, api_group, resource, namespace, name, uid, verb, previous_revision, object, committed_at, write_id,
  username, user_agent, source_address, request_id, field_manager, follows_revision`;

/**
 * Of a PostgreSQL whose data is worth nothing until it is complete. Without WAL, rows of a table that is made or emptied in the same
 * transaction are written once.
 */
export const SETTINGS_TO_GENERATE: readonly string[] = [
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'autovacuum=off',
];

/**
 * Writes a log of that size, straight into its partitions, and the objects it leaves. For a database that no server uses: what is
 * there already is dated to when the log begins. History goes on in partitions of a day each.
 */
export async function generate(
  url: string,
  size: ScaleSize,
  onProgress: (done: number) => void = () => {},
): Promise<Log> {
  const client = await connect(url);
  try {
    const shape = new Shape(await beginLog(client, size));
    const edges = await makeDays(client, shape);
    await writeDays(url, { shape, edges, onProgress });
    await writeObjects(client, shape);
    await client.query('SELECT setval($1, $2)', ['revisions_revision_seq', shape.last]);
    await client.query('SELECT make_partitions_ahead()');
    await client.query('VACUUM (ANALYZE) objects');
    return shape.log;
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "SET synchronous_commit = off; SET work_mem = '64MB'; SET maintenance_work_mem = '512MB'",
  );
  return client;
}

async function beginLog(client: pg.Client, size: ScaleSize): Promise<Log> {
  const from = new Date(Date.now() - DAYS * 86_400_000);
  const { rows } = await client.query<{ first: string; follows: string }>(
    'SELECT high AS first, greatest((SELECT max(revision) FROM revisions), (SELECT max(epoch) FROM epochs)) AS follows FROM log_bounds',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no log: run pg-apiserver migrate');
  await client.query('UPDATE revisions SET committed_at = $1', [from]);
  await client.query('UPDATE objects SET modified_at = $1', [from]);
  await client.query('UPDATE compaction SET history_window = $1', [`${DAYS + 1} days`]);
  return { ...size, first: Number(row.first), follows: Number(row.follows), from, days: DAYS };
}

/**
 * One partition a day. The schema makes them; only how large they become, which follows from what was written lately, is said here.
 * Answers where they begin, and where the last one ends.
 */
async function makeDays(client: pg.Client, shape: Shape): Promise<number[]> {
  const { first, days } = shape.log;
  const size = Math.ceil(shape.span / days);
  await client.query(`
    BEGIN;
    LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE;
    DO $do$
    DECLARE
      own text := pg_get_functiondef('next_partition_size()'::regprocedure);
    BEGIN
      CREATE OR REPLACE FUNCTION next_partition_size() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT ${size}::bigint';
      PERFORM make_partition(0) FROM generate_series(1, ${days});
      EXECUTE own;
    END $do$;
    COMMIT`);
  return Array.from({ length: days + 1 }, (_, day) => first + day * size);
}

interface Writing {
  readonly shape: Shape;
  readonly edges: readonly number[];
  readonly onProgress: (done: number) => void;
}

async function writeDays(url: string, { shape, edges, onProgress }: Writing): Promise<void> {
  const days = edges.slice(0, -1).map((low, day) => ({ low, high: edges[day + 1] ?? low }));
  let done = 0;
  const writer = async (): Promise<void> => {
    const client = await connect(url);
    try {
      for (let day = days.shift(); day !== undefined; day = days.shift()) {
        await writeDay(client, shape, day, (rows) => {
          done += rows;
          onProgress(done);
        });
      }
    } finally {
      await client.end();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

interface Day {
  readonly low: number;
  readonly high: number;
}

/** Rows first and then their indexes: a tenth of the time that it takes to keep indexes of random keys while rows come. */
async function writeDay(
  client: pg.Client,
  shape: Shape,
  { low, high }: Day,
  onWritten: (rows: number) => void,
): Promise<void> {
  const table = `revisions_${low}`;
  const { rows: indexes } = await client.query<{ name: string; made: string; primary: boolean }>(
    'SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS made, indisprimary AS primary FROM pg_index WHERE indrelid = $1::regclass',
    [table],
  );
  // The check spares a look at all rows when they become part of the log again.
  await client.query(`
    BEGIN;
    ALTER TABLE revisions DETACH PARTITION ${table};
    ALTER TABLE ${table} ADD CONSTRAINT its_day CHECK (revision >= ${low} AND revision < ${high});
    ${indexes.map(({ name, primary }) => (primary ? `ALTER TABLE ${table} DROP CONSTRAINT ${name}` : `DROP INDEX ${name}`)).join('; ')};
    COMMIT`);
  await client.query(`BEGIN; TRUNCATE ${table}`);
  const end = Math.min(high, shape.last + 1);
  for (let at = low; at < end; at += BATCH) {
    const past = Math.min(at + BATCH, end);
    const rows = shape.rows(shape.between(at, past));
    await client.query(`INSERT INTO ${table} (${LOG_COLUMNS}) SELECT ${LOG_COLUMNS} FROM (${rows}) l`);
    onWritten(past - at);
  }
  for (const { made, primary } of indexes)
    await client.query(primary ? `ALTER TABLE ${table} ADD PRIMARY KEY (revision)` : made);
  await client.query('COMMIT');
  await client.query(`VACUUM (FREEZE, ANALYZE) ${table}`);
  await client.query(`
    BEGIN;
    ALTER TABLE revisions ATTACH PARTITION ${table} FOR VALUES FROM (${low}) TO (${high});
    ALTER TABLE ${table} DROP CONSTRAINT its_day;
    COMMIT`);
}

async function writeObjects(client: pg.Client, shape: Shape): Promise<void> {
  await client.query(`
    INSERT INTO objects (api_group, resource, namespace, name, revision, uid, object, modified_at)
    SELECT api_group, resource, namespace, name, revision, uid, object, committed_at
    FROM (${shape.rows(shape.lastRevisions())}) l`);
}
