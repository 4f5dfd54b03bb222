import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { PROJECT } from '../../project.ts';
import { prepare, tables } from './prepared.ts';

/**
 * Migrations are plain SQL files, `NNNN_name.sql`, forward only, all or nothing. Several servers may start at once: an
 * advisory lock lets one migrate while the others wait. The lock ends with the transaction, so this works through a pooler
 * too. A server refuses a schema newer than it knows, and files that were changed after they had been applied.
 */
export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const FOLDER = fileURLToPath(new URL('migrations/', PROJECT));

export function readMigrations(folder: string = FOLDER): Migration[] {
  const files = readdirSync(folder).filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file));
  return files.sort().map((file) => {
    const sql = readFileSync(`${folder}/${file}`, 'utf8');
    const checksum = createHash('sha256').update(sql).digest('hex');
    return { id: Number(file.slice(0, 4)), name: file.slice(5, -4), sql, checksum };
  });
}

/**
 * Brings the database's schema up to date. Answers the names of the migrations it applied.
 * @throws Error with one line that says what is wrong, for a newer schema or a changed file
 */
export async function migrate(client: pg.ClientBase, migrations: readonly Migration[]): Promise<string[]> {
  await client.query('BEGIN');
  try {
    // Whoever migrates may take longer than anything else is waited for; and then nobody must wait long behind us.
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query("SELECT pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('migrate'))");
    await client.query("SET LOCAL lock_timeout = '10s'");
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      id integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const applied = await readApplied(client);
    assertKnown(applied, migrations);
    const missing = migrations.filter(({ id }) => !applied.has(id));
    for (const migration of missing) await apply(client, migration);
    await client.query('COMMIT');
    return missing.map(({ name }) => name);
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function readApplied(client: pg.ClientBase): Promise<Map<number, string>> {
  const rows = await APPLIED.run(client, {});
  return new Map(rows.map(({ id, checksum }) => [Number(id), checksum]));
}

function assertKnown(applied: ReadonlyMap<number, string>, migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.id, migration]));
  for (const [id, checksum] of applied) {
    const migration = known.get(id);
    if (migration === undefined) {
      throw new Error(
        `the database's schema is at migration ${id}, which this version does not know: run the newer pg-apiserver`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new Error(
        `migration ${id} (${migration.name}) differs from the one that was applied to the database`,
      );
    }
  }
}

async function apply(client: pg.ClientBase, { id, name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${id} (${name}) failed: ${reason}`, { cause: error });
  }
  await NOTE.run(client, { id: String(id), name, checksum });
}

const APPLIED = prepare(() => tables.selectFrom('schema_migrations').select(['id', 'checksum']));

const NOTE = prepare((of: { readonly id: string; readonly name: string; readonly checksum: string }) =>
  tables.insertInto('schema_migrations').values({ id: of.id, name: of.name, checksum: of.checksum }),
);
