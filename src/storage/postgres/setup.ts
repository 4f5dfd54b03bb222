import { type ClusterKey, type KeyWishes, keepClusterKey } from './cluster-keys.ts';
import { type Connection, type ConnectionOptions, connectWritable } from './connection.ts';
import { describeDurability } from './durability.ts';
import { type KeptWindow, keepHistoryWindow, type WindowWish } from './history-window.ts';
import { type ListedMigration, listMigrations, type MigrateOptions, migrate } from './migrate.ts';
import { readMigrations } from './migration.ts';
import { findMissingRequirements } from './requirements.ts';
import { SigningKeyChanges } from './signing-keys.ts';

/** What is done with a database before it is served, over one connection. */
export interface DatabaseSetup {
  /** As {@link Connection.encryption}. */
  readonly encryption: string;
  /** Answers the names of the migrations it applied. @throws Error, one line for a person each that is missing */
  migrate(options?: MigrateOptions): Promise<string[]>;
  /** What there is of migrations and what of it was applied. Changes nothing. */
  listMigrations(to?: number): Promise<ListedMigration[]>;
  /** Whether history is kept as far back as is wished; see {@link keepHistoryWindow}. After `migrate`. */
  keepHistoryWindow(wish: WindowWish): Promise<KeptWindow>;
  /** What an acknowledged write has behind it, for a person. After `migrate`. */
  describeDurability(): Promise<string>;
  /** One that all servers of the database share; see {@link keepClusterKey}. After `migrate`. */
  keepKey(name: string, wishes: KeyWishes): Promise<ClusterKey>;
  /** After `migrate`. */
  readonly signingKeys: SigningKeyChanges;
}

/** @throws what `use` throws, and Error, one line for a person, when no host takes writes */
export async function setUpDatabase<Result>(
  options: ConnectionOptions,
  use: (database: DatabaseSetup) => Promise<Result>,
): Promise<Result> {
  const { client, encryption, close } = await connectWritable(options, 'setup');
  try {
    return await use({
      encryption,
      migrate: async (migrateOptions) => {
        const missing = await findMissingRequirements(client);
        if (missing.length > 0) throw new Error(missing.join('\n'));
        return migrate(client, readMigrations(), migrateOptions);
      },
      listMigrations: (to) => listMigrations(client, readMigrations(), to),
      keepHistoryWindow: (wish) => keepHistoryWindow(client, wish),
      describeDurability: () => describeDurability(client),
      keepKey: (name, wishes) => keepClusterKey(client, name, wishes),
      signingKeys: new SigningKeyChanges(client),
    });
  } finally {
    await close();
  }
}

/** Migrates and does nothing else. @throws as {@link setUpDatabase} and {@link DatabaseSetup.migrate} */
export const migrateDatabase = (options: ConnectionOptions): Promise<string[]> =>
  setUpDatabase(options, (database) => database.migrate());
