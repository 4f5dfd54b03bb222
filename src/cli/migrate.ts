import { UsageError } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { storageFlags } from '../options/storage.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
import { databaseConnection, describeWindow, windowWish } from './database.ts';
import { stopSignal } from './stop-signal.ts';
import { waitForDatabase } from './wait-for-database.ts';

/**
 * `pg-apiserver migrate`: brings a database up to date without serving. With --history-window it changes that, for all servers.
 * @throws Error, one line for a person
 */
export async function runMigrations({ storage: options }: ServerOptions): Promise<void> {
  if (options.databaseUrls.length === 0) {
    throw new UsageError(
      `migrate needs ${storageFlags.databaseUrls.shown}=postgres://…; the embedded PostgreSQL is migrated when it starts`,
    );
  }
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const tell = (line: string): void => void process.stdout.write(`${line}\n`);
  const migrate = (): Promise<void> =>
    setUpDatabase(databaseConnection(options, options.databaseUrls), async (database) => {
      tell(database.encryption);
      const applied = await database.migrate();
      tell(applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`);
      if (options.setsHistoryWindow)
        tell(describeWindow(await database.keepHistoryWindow(windowWish(options))));
    });
  await waitForDatabase(migrate, { signal: stopSignal(), say });
}
