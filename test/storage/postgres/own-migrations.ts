import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Migration, readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import { type MigrateOptions, migrate } from '../../../src/storage/postgres/migration/run-migrations.ts';
import type { TestDatabase } from '../../postgres.ts';

/** The migration before all that are not in the baseline. */
export const BASELINE = 64;

const OWN = fileURLToPath(new URL('migrations', import.meta.url));

/**
 * Migrations for tests of upgrades, among those of the project: one that adds a column, one in steps, which builds an index and works
 * in batches, and one in a transaction. Servers of the baseline may run beside all of them.
 */
export const withOwnMigrations = (): Migration[] =>
  [...readMigrations(), ...readMigrations(OWN)].sort((a, b) => a.id - b.id);

/** As a server that knows all of them. */
export async function connectMigrator(database: Pick<TestDatabase, 'url'>): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: database.url,
    application_name: 'pg-apiserver setup (schema 9999)',
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Applies them up to `to`, by default all. Returns the names of those that it applied. */
export async function migrateWithOwn(
  database: Pick<TestDatabase, 'url'>,
  options: MigrateOptions = {},
): Promise<string[]> {
  const client = await connectMigrator(database);
  return migrate(client, withOwnMigrations(), options).finally(() => client.end());
}
