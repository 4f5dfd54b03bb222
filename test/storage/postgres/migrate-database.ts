import type { ConnectionOptions } from '../../../src/storage/postgres/connection/connection.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';

/** Migrates and does nothing else. Returns the lines of the log. */
export const migrateDatabase = (options: ConnectionOptions): Promise<string[]> =>
  setUpDatabase(options, (database) => database.migrate());
