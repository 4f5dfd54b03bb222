import type { Minor } from '../../api/emulation.ts';
import type { GroupResource } from '../../api/names.ts';
import type { StorageOptions } from '../../options/storage.ts';
import { connectionParts } from '../../server/databases.ts';
import { createEncodings } from '../../server/encodings.ts';
import { openEncryption } from '../../server/encryption.ts';
import { EncodedLog } from '../../storage/encoded-log.ts';
import type { EncryptionFile } from '../../storage/encryption/encryption-file.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { openPostgres, type PostgresLog } from '../../storage/postgres/postgres.ts';
import { setUpDatabase } from '../../storage/postgres/setup.ts';
import type { Revision } from '../../storage/revision.ts';
import type { StoredObject, Write } from '../../storage/revision-log.ts';
import { databaseConnection, databaseOf, OLD_DATABASE, otherDatabases } from '../database.ts';
import { describe } from './describe.ts';
import { digestOf } from './shapes.ts';

/** A live object of the target. */
export interface Live {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly revision: Revision;
  readonly digest: string;
}

/** The databases of a cluster, as a server writes them: in the same form, encrypted alike, each resource in its database. */
export interface Target {
  commit(write: Write): Promise<Revision>;
  get(key: ObjectKey): Promise<StoredObject | undefined>;
  /** Reads all live objects, by their description. */
  index(): Promise<Map<string, Live>>;
  close(): Promise<void>;
}

export const toLive = ({ key, uid, revision, json }: StoredObject): Live => ({
  ...{ key, uid, revision },
  digest: digestOf(json),
});

/** @throws Error with a message of one line when the database cannot be used, or must be migrated first */
export async function openTarget(
  options: StorageOptions,
  { emulated, say }: { readonly emulated: Minor; readonly say: (line: string) => void },
): Promise<Target> {
  const urls = databaseOf(options);
  const overrides = await otherDatabases(options, urls);
  for (const each of [urls, ...overrides.map((one) => one.urls)])
    await setUpDatabase(databaseConnection(options, each), async (database) => {
      const migrations = await database.listMigrations();
      if (migrations.some(({ state }) => state !== 'applied')) throw new Error(OLD_DATABASE);
    });
  const encryption = openEncryption(options);
  await encryption?.ask();
  const encodings = createEncodings({ emulated, mediaType: options.mediaType, encryption });
  const open = (hosts: readonly string[]): TargetDatabase => {
    const log = openPostgres({
      ...{ urls: hosts, poolSize: 2, compactionIntervalMs: 0, onTrouble: say },
      ...connectionParts(options),
    });
    return { log, encoded: new EncodedLog(log, encodings), resources: [] };
  };
  const others = overrides.map(({ urls: hosts, resources }) => ({ ...open(hosts), resources }));
  return new DatabaseTarget(open(urls), others, encryption);
}

interface TargetDatabase {
  readonly log: PostgresLog;
  /** The same, with objects as JSON. */
  readonly encoded: EncodedLog;
  /** Those that it has in place of the main database. */
  readonly resources: readonly GroupResource[];
}

class DatabaseTarget implements Target {
  readonly #main: TargetDatabase;
  readonly #others: readonly TargetDatabase[];
  readonly #encryption: EncryptionFile | undefined;
  readonly #stop = new AbortController();

  constructor(
    main: TargetDatabase,
    others: readonly TargetDatabase[],
    encryption: EncryptionFile | undefined,
  ) {
    this.#main = main;
    this.#others = others;
    this.#encryption = encryption;
    for (const { log } of this.#all) void log.guard.run(this.#stop.signal);
  }

  get #all(): readonly TargetDatabase[] {
    return [this.#main, ...this.#others];
  }

  commit(write: Write): Promise<Revision> {
    return this.#logOf(write.key).committer.commit(write);
  }

  get(key: ObjectKey): Promise<StoredObject | undefined> {
    return this.#logOf(key).reader.get(key);
  }

  async index(): Promise<Map<string, Live>> {
    const found = new Map<string, Live>();
    for (const { encoded } of this.#all)
      await encoded.reader.loadCurrent(
        () => {},
        (objects) => {
          for (const object of objects)
            if (this.#logOf(object.key) === encoded) found.set(describe(object.key), toLive(object));
        },
      );
    return found;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const { log } of this.#all) await log.close();
    this.#encryption?.close();
  }

  #logOf({ group, resource }: GroupResource): EncodedLog {
    const isOwn = (one: GroupResource): boolean => one.group === group && one.resource === resource;
    return (this.#others.find(({ resources }) => resources.some(isOwn)) ?? this.#main).encoded;
  }
}
