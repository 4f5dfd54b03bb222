import type pg from 'pg';
import { pause } from '../../../util/pause.ts';
import { type ClusterSchema, ensureSchema } from '../connection/cluster-schema.ts';
import { prepare as prepareStatement, tables } from '../connection/prepared.ts';
import { hasSessionOfItsOwn, withoutTimeouts } from '../connection/session-bounds.ts';
import { isDenied } from '../connection/statements.ts';
import { findPublicationTrouble } from '../feed/publication.ts';
import { besideOf, type Migration, type MigrationStep, notesOf, stepsOf } from './migration.ts';
import { describeFailure, describeHolder, inTransaction, patiently, run } from './migration-transaction.ts';

export interface MigrateOptions {
  /** The last migration to apply; by default all. */
  readonly to?: number;
  /** How long to try for locks that others hold. */
  readonly patienceMs?: number;
  /** Says in one line, for a person, what is waited for. */
  readonly say?: (line: string) => void;
  /** Owner of a schema that is made here, by default the user. New things in a present schema get its owner. */
  readonly owner?: string;
  /** Made where it is missing. */
  readonly schema?: ClusterSchema | undefined;
}

/**
 * Brings the database's schema up to date. Returns the names of the migrations it applied.
 *
 * Several servers may start at once: an advisory lock lets one migrate while the others wait. It ends with each transaction, so
 * this works through a pooler too. A server refuses a schema newer than it knows, unless that lets it run beside it, and files that
 * were changed after they had been applied.
 * @throws Error with one line that says what is wrong
 */
export async function migrate(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const { to, owner, schema, say = () => {} } = options;
  const prepare = async (): Promise<void> => {
    await ensureSchema(client, schema);
    await prepareNotes(client);
  };
  await patiently('the table of migrations', () => inTransaction(client, prepare, owner), options);
  const applied = await readApplied(client);
  assertKnown(applied, migrations);
  assertAhead(to, applied, migrations);
  await restorePublication(client, options);
  const done: string[] = [];
  for (const migration of migrations.filter(({ id }) => id <= (to ?? id) && !applied.has(id))) {
    // Another server may have been quicker.
    if (await isApplied(client, migration)) continue;
    const older = await findOlderServers(client, migration, schema);
    if (older > 0) {
      say(
        `migration ${migration.id} (${migration.name}) waits for ${older} connections of an older version to end`,
      );
      break;
    }
    if (await applyPatiently(client, migration, options)) done.push(migration.name);
  }
  return done;
}

/**
 * Makes a lost publication again: migrations alter publications, and a dump may have been restored without. Where the user may not,
 * the tail says what to do.
 */
async function restorePublication(client: pg.ClientBase, options: MigrateOptions): Promise<void> {
  const { owner, schema, say = () => {} } = options;
  const finding = await findPublicationTrouble(client, schema);
  if (finding === undefined) return;
  const make = (): Promise<unknown> => client.query(finding.statement);
  await patiently('the publication', () => inTransaction(client, make, owner), options).then(
    () => say(`${finding.trouble}: made it again`),
    (error: unknown) => {
      if (!isDenied(error)) throw error;
    },
  );
}

/** Grants new things to the roles that serve and read (migrations/0064_baseline/9_roles.sql). */
async function renewGrants(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query("SELECT to_regproc('renew_grants') IS NOT NULL AS has");
  if (rows[0]?.has === true || rows[0]?.has === 't') await client.query('SELECT renew_grants()');
}

type MigrationState = 'applied' | 'pending' | 'waits for servers of an older version to end';

export interface ListedMigration extends Pick<Migration, 'id' | 'name'> {
  readonly state: MigrationState;
  /** The oldest servers that may run beside it, by the newest migration they know. */
  readonly beside: number;
}

/** Returns all migrations and their states. Changes nothing. @throws as {@link migrate} */
export async function listMigrations(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  { to, schema }: Pick<MigrateOptions, 'to' | 'schema'> = {},
): Promise<ListedMigration[]> {
  const applied = (await hasNotes(client)) ? await readApplied(client) : new Map<number, AppliedMigration>();
  assertKnown(applied, migrations);
  assertAhead(to, applied, migrations);
  const listed: ListedMigration[] = [];
  let state: MigrationState = 'pending';
  for (const migration of migrations) {
    const { id, name } = migration;
    const isApplied = applied.has(id);
    if (!isApplied && (await findOlderServers(client, migration, schema)) > 0)
      state = 'waits for servers of an older version to end';
    listed.push({ id, name, state: isApplied ? 'applied' : state, beside: besideOf(migration) });
  }
  return listed;
}

interface AppliedMigration {
  readonly checksum: string;
  /** undefined: a version applied it that did not say. */
  readonly beside: number | undefined;
}

async function readApplied(client: pg.ClientBase): Promise<Map<number, AppliedMigration>> {
  const rows = await APPLIED.run(client, {});
  return new Map(
    rows.map(({ id, checksum, beside }) => [
      Number(id),
      { checksum, beside: beside === null ? undefined : Number(beside) },
    ]),
  );
}

async function isApplied(client: pg.ClientBase, migration: Migration): Promise<boolean> {
  const applied = await readApplied(client);
  assertWhole(applied, migration);
  return applied.has(migration.id);
}

function assertKnown(applied: ReadonlyMap<number, AppliedMigration>, migrations: readonly Migration[]): void {
  for (const migration of migrations) assertWhole(applied, migration);
  const known = new Map(migrations.flatMap(notesOf).map((noted) => [noted.id, noted]));
  const newest = Math.max(0, ...known.keys());
  for (const [id, { checksum, beside }] of applied) {
    const migration = known.get(id);
    if (migration === undefined && (beside === undefined || beside > newest)) {
      throw new Error(
        `the database's schema is at migration ${id}, which this version does not know: run the newer pg-apiserver`,
      );
    }
    if (migration !== undefined && migration.checksum !== checksum) {
      throw new Error(
        `migration ${id} (${migration.name}) differs from the one that was applied to the database`,
      );
    }
  }
}

/** @throws Error where the database has some of the migrations that a baseline replaces, but not all */
function assertWhole(applied: ReadonlyMap<number, AppliedMigration>, migration: Migration): void {
  const replaced = notesOf(migration);
  const present = replaced.filter(({ id }) => applied.has(id));
  if (present.length === 0 || present.length === replaced.length) return;
  const [from, to] = [replaced[0]?.id, replaced.at(-1)?.id];
  throw new Error(
    `the database is at migration ${present.at(-1)?.id}, and lacks some of ${from} to ${to}, without which this version cannot upgrade it: ` +
      'start the version before this one, which applies them, and then this one',
  );
}

function assertAhead(
  to: number | undefined,
  applied: ReadonlyMap<number, AppliedMigration>,
  migrations: readonly Migration[],
): void {
  if (to === undefined) return;
  const newest = migrations.at(-1)?.id ?? 0;
  if (!migrations.some(({ id }) => id === to))
    throw new Error(`there is no migration ${to}: the newest is ${newest}, and --list shows all of them`);
  const present = Math.max(0, ...applied.keys());
  if (to < present)
    throw new Error(
      `the database is at migration ${present} already, beyond ${to}: migrations go forward only`,
    );
}

/** Counts connections of servers that may not run beside it. Ours name what they know; those of the versions before 30 do not. */
async function findOlderServers(
  client: pg.ClientBase,
  migration: Migration,
  schema: ClusterSchema | undefined,
): Promise<number> {
  const values = [besideOf(migration), schema?.tag ?? null];
  const { rows } = await client.query<{ older: string }>(OLDER_SERVERS, values);
  return Number(rows[0]?.older ?? 0);
}

const OLDER_SERVERS = `
  SELECT count(*) AS older
  FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'pg-apiserver %' AND pid <> pg_backend_pid()
    AND coalesce(substring(application_name FROM 'schema (\\d+)')::int, 22) < $1
    AND substring(application_name FROM 'cluster ([0-9a-f]{8})') IS NOT DISTINCT FROM $2`;

/** Returns whether it was applied here; another server may have been quicker. */
async function applyPatiently(
  client: pg.ClientBase,
  migration: Migration,
  options: MigrateOptions,
): Promise<boolean> {
  const what = `migration ${migration.id} (${migration.name})`;
  // Another server may have applied it.
  const instead = async (): Promise<false | undefined> =>
    (await isApplied(client, migration)) ? false : undefined;
  try {
    return await patiently(what, () => alone(client, migration, options), {
      ...options,
      instead,
    });
  } catch (error) {
    throw new Error(describeFailure(what, error), { cause: error });
  }
}

const STEPS_LOCK = "hashtext('pg-apiserver'), hashtext('migrate in steps')";
const STEPS_POLL_MS = 200;
const STEPS_SAY_MS = 30_000;

/**
 * Lets one server at a time work at a migration with steps outside of transactions: a second one took the index that the first was
 * building for the ruins of a failed build, and dropped it. The lock is the session's, and tried for: a statement that waits for a
 * lock holds a snapshot, whose end CREATE INDEX CONCURRENTLY waits for. Behind a pooler, which hands sessions on, there is no such
 * lock.
 */
async function alone(
  client: pg.ClientBase,
  migration: Migration,
  { say = () => {} }: MigrateOptions,
): Promise<boolean> {
  const hasOpenSteps = stepsOf(migration).some(({ kind }) => kind === 'without transaction');
  if (!hasOpenSteps || !(await hasSessionOfItsOwn(client))) return apply(client, migration);
  let sayAtMs = Date.now() + STEPS_SAY_MS;
  while ((await run(client, `SELECT pg_try_advisory_lock(${STEPS_LOCK})::text`)) !== 'true') {
    await pause(STEPS_POLL_MS);
    if (await isApplied(client, migration)) return false;
    if (Date.now() < sayAtMs) continue;
    sayAtMs += STEPS_SAY_MS;
    say(`migration ${migration.id} waits for ${await describeHolder(client, STEPS_LOCK)}`);
  }
  try {
    return await apply(client, migration);
  } finally {
    // A lost session has lost its locks.
    await client.query(`SELECT pg_advisory_unlock(${STEPS_LOCK})`).catch(() => {});
  }
}

async function apply(client: pg.ClientBase, migration: Migration): Promise<boolean> {
  const steps = stepsOf(migration);
  for (const step of steps.slice(0, -1)) {
    for (let outcome: StepOutcome = 'more'; outcome === 'more'; ) {
      outcome = await runStep(client, step, migration);
      if (outcome === 'applied') return false;
    }
  }
  const last = steps.at(-1);
  if (last?.kind === 'without transaction') await runStep(client, last, migration);
  return inTransaction(client, async () => {
    if (await isApplied(client, migration)) return false;
    if (last?.kind === 'transaction') await run(client, last.sql);
    await client.query(NOTE, [JSON.stringify(notesOf(migration))]);
    // Here, because every role may execute a new function until then: a migrator may end after this transaction.
    await renewGrants(client);
    return true;
  });
}

/** 'applied': another server applied the whole migration. */
type StepOutcome = 'done' | 'more' | 'applied';

async function runStep(
  client: pg.ClientBase,
  { kind, sql }: MigrationStep,
  migration: Migration,
): Promise<StepOutcome> {
  if (kind === 'without transaction') {
    if (await isApplied(client, migration)) return 'applied';
    await withoutTimeouts(client, () => run(client, sql));
    return 'done';
  }
  return inTransaction(client, async () => {
    if (await isApplied(client, migration)) return 'applied';
    const answer = await run(client, sql);
    return kind === 'repeated' && answer !== '0' && answer !== 0 ? 'more' : 'done';
  });
}

async function hasNotes(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ has: string }>(
    `SELECT count(*) AS has FROM pg_attribute
     WHERE attrelid = to_regclass('schema_migrations') AND attname = 'beside'`,
  );
  return rows[0]?.has === '1';
}

async function prepareNotes(client: pg.ClientBase): Promise<void> {
  if (await hasNotes(client)) return;
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    id integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
  await client.query('ALTER TABLE schema_migrations ADD COLUMN beside integer');
}

const APPLIED = prepareStatement(() =>
  tables.selectFrom('schema_migrations').select(['id', 'checksum', 'beside']),
);

const NOTE = `
  INSERT INTO schema_migrations (id, name, checksum, beside)
  SELECT id, name, checksum, beside
  FROM json_to_recordset($1::json) AS n (id integer, name text, checksum text, beside integer)`;
