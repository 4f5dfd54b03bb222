import { UsageError } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
import { databaseConnection } from './database.ts';
import { stopSignal } from './stop-signal.ts';
import { waitForDatabase } from './wait-for-database.ts';

/** `pg-apiserver migrate`: brings a database up to date without serving. @throws Error, one line for a person */
export async function runMigrations(options: ServerOptions): Promise<void> {
  if (options.databaseUrls.length === 0) {
    throw new UsageError(
      'migrate needs --kvstore-servers=postgres://…; the embedded PostgreSQL is migrated when it starts',
    );
  }
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const migrate = (): Promise<string[]> =>
    setUpDatabase(databaseConnection(options, options.databaseUrls), (database) => {
      process.stdout.write(`${database.encryption}\n`);
      return database.migrate();
    });
  const applied = await waitForDatabase(migrate, { signal: stopSignal(), say });
  process.stdout.write(
    applied.length === 0 ? 'the database is up to date\n' : `applied ${applied.join(', ')}\n`,
  );
}
