import type pg from 'pg';
import { createKeySealer, type KeySealer } from '../key-sealer.ts';
import { type Revision, toRevision } from '../revision.ts';
import { ensureSchema, inSchema } from './connection/cluster-schema.ts';
import { type Connection, type ConnectionOptions, connectWritable } from './connection/connection.ts';
import { describeLoggedValues } from './connection/parameter-log.ts';
import { describeDurability } from './examination/durability.ts';
import { examine, type Finding } from './examination/examination.ts';
import { findMissingRequirements } from './examination/requirements.ts';
import { HostWatch } from './fencing/host-watch.ts';
import { readMigrations } from './migration/migration.ts';
import { findLeftMigrations, mayMigrate } from './migration/right-to-migrate.ts';
import { makeRoles, type RoleNames } from './migration/roles.ts';
import {
  type ListedMigration,
  listMigrations,
  type MigrateOptions,
  migrate,
} from './migration/run-migrations.ts';
import { BEGIN_EPOCH } from './read/queries.ts';
import { type ClusterKey, type KeyWishes, keepClusterKey } from './shared/cluster-keys.ts';
import { listMoved, type MovedResource } from './shared/moves.ts';
import { SigningKeyChanges } from './shared/signing-keys.ts';
import { type KeptWindow, keepHistoryWindow, type WindowWish } from './upkeep/history-window.ts';

interface SetupOptions extends MigrateOptions {
  /** Whether the user serves as well; by default it does. */
  readonly serves?: boolean;
}

/** DatabaseSetup prepares a database for serving, over one connection. */
export interface DatabaseSetup {
  /** As {@link Connection.encryption}. */
  readonly encryption: string;
  /**
   * Returns the names of the migrations it applied: none, when the user serves a schema that another owns.
   * @throws Error, one line for a person for each missing thing
   */
  migrate(options?: SetupOptions): Promise<string[]>;
  /** Migrates as the first of the roles; see {@link makeRoles}. Returns the names of the migrations it applied. */
  makeRoles(names: RoleNames, options: { readonly say: (line: string) => void }): Promise<string[]>;
  /** Returns what a server would find here. Changes nothing. */
  examine(): Promise<Finding[]>;
  /** Returns all migrations and their states. Changes nothing. */
  listMigrations(to?: number): Promise<ListedMigration[]>;
  /** Sets how far back history is kept; see {@link keepHistoryWindow}. After `migrate`. */
  keepHistoryWindow(wish: WindowWish): Promise<KeptWindow>;
  /**
   * Begins an epoch, which ends what clients know of the past: they begin again with what the database has now. Returns the
   * revision after which it begins. After `migrate`.
   */
  beginEpoch(reason: string): Promise<Revision>;
  /** Describes what an acknowledged write has behind it. After `migrate`. */
  describeDurability(): Promise<string>;
  /** Returns one line for a person, if PostgreSQL's log would have what is written. */
  describeLoggedValues(): Promise<string | undefined>;
  /** Returns a key that all servers of the database share; see {@link keepClusterKey}. After `migrate`. */
  keepKey(name: string, wishes: KeyWishes): Promise<ClusterKey>;
  /** Returns the resources that were moved to databases of their own. */
  listMoved(): Promise<readonly MovedResource[]>;
  /** After `migrate`. */
  readonly signingKeys: SigningKeyChanges;
}

/** @throws what `use` throws, and Error, one line for a person, when no host takes writes */
export async function setUpDatabase<Result>(
  options: ConnectionOptions,
  use: (database: DatabaseSetup) => Promise<Result>,
  sealer: KeySealer = createKeySealer(undefined),
): Promise<Result> {
  const { schema } = options;
  const watch = new HostWatch(options);
  const { client, encryption, prepares, close } = await connectWritable(
    { hosts: watch.hosts, ...options },
    'setup',
  );
  try {
    return await use({
      encryption,
      migrate: (setupOptions) => bringUpToDate(client, { ...setupOptions, schema }),
      makeRoles: async (names, { say }) => {
        let applied: string[] = [];
        const work = async (): Promise<void> => {
          applied = await bringUpToDate(client, { say, serves: false, owner: names.migrator, schema });
        };
        await ensureSchema(client, schema);
        const migrations = inSchema(readMigrations(), schema);
        const replicates = schema === undefined;
        await makeRoles(client, names, { migrations, migrate: work, replicates, say });
        return applied;
      },
      examine: () => examine(client, { schema, prepares }),
      listMigrations: (to) =>
        listMigrations(client, readMigrations(), { ...(to === undefined ? {} : { to }), schema }),
      keepHistoryWindow: (wish) => keepHistoryWindow(client, wish),
      beginEpoch: async (reason) => {
        const [row] = await BEGIN_EPOCH.run(client, { reason });
        return toRevision(row?.epoch ?? 0);
      },
      describeDurability: () => describeDurability(client),
      describeLoggedValues: () => describeLoggedValues(client),
      keepKey: (name, wishes) => keepClusterKey(client, name, wishes, sealer),
      listMoved: () => listMoved(client, sealer),
      signingKeys: new SigningKeyChanges(client, sealer),
    });
  } finally {
    await close();
    await watch.close();
  }
}

async function bringUpToDate(client: pg.ClientBase, options: SetupOptions = {}): Promise<string[]> {
  const { serves = true, say = () => {}, schema } = options;
  const missing = await findMissingRequirements(client, { serves, makesSchema: schema !== undefined });
  if (missing.length > 0) throw new Error(missing.join('\n'));
  const migrations = inSchema(readMigrations(), schema);
  if (await mayMigrate(client)) return migrate(client, migrations, options);
  const left = await findLeftMigrations(client, migrations, schema);
  if (left === undefined) return [];
  if (!serves) throw new Error(left);
  say(left);
  return [];
}
