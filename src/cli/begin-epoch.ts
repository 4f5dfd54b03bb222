import { UsageError } from '../options/flag.ts';
import type { ServerOptions } from '../options/options.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
import { databaseConnection, databaseOf, isOld, OLD_DATABASE, otherDatabases } from './database.ts';

/**
 * `begin-epoch [reason]`: after a restore that servers cannot detect. Revisions continue beyond all earlier ones, and every
 * client begins again with the present state of the databases. Running servers follow within seconds.
 * @throws Error with a message of one line
 */
export async function beginEpoch(words: readonly string[], { storage }: ServerOptions): Promise<void> {
  const [reason = 'begun by hand', ...rest] = words;
  if (rest.length > 0)
    throw new UsageError(
      'begin-epoch takes one reason, in quotes: begin-epoch "restored the backup of Monday"',
    );
  const main = databaseOf(storage);
  const databases = [main, ...(await otherDatabases(storage, main)).map(({ urls }) => urls)];
  for (const [at, urls] of databases.entries()) {
    const epoch = await setUpDatabase(databaseConnection(storage, urls), (database) =>
      database.beginEpoch(reason),
    ).catch((error: unknown) => {
      throw isOld(error) ? new Error(OLD_DATABASE) : error;
    });
    const which = databases.length === 1 ? '' : ` of database postgres-${at}`;
    process.stdout.write(`the history${which} begins anew after revision ${epoch}\n`);
  }
}
