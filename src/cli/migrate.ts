import { UsageError } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
import { databaseConnection, describeWindow, windowWish } from './database.ts';

/**
 * `pg-apiserver migrate`: brings a database up to date without serving. With --history-window it changes that, for all servers.
 * @throws Error, one line for a person
 */
export async function runMigrations(options: ServerOptions): Promise<void> {
  if (options.databaseUrls.length === 0) {
    throw new UsageError(
      'migrate needs --kvstore-servers=postgres://…; the embedded PostgreSQL is migrated when it starts',
    );
  }
  const connection = databaseConnection(options, options.databaseUrls);
  await setUpDatabase(connection, async (database) => {
    const applied = await database.migrate();
    const news = applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`;
    process.stdout.write(`${news}\n`);
    if (!options.setsHistoryWindow) return;
    process.stdout.write(`${describeWindow(await database.keepHistoryWindow(windowWish(options)))}\n`);
  });
}
