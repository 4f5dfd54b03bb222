import type { Minor } from '../../api/emulation.ts';
import type { GroupResource } from '../../api/names.ts';
import type { StorageOptions } from '../../options/storage.ts';
import { connectionParts } from '../../server/databases.ts';
import { createEncodings } from '../../server/encodings.ts';
import { openEncryption } from '../../server/encryption.ts';
import { EncodedLog } from '../../storage/encoded-log.ts';
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
  const stop = new AbortController();
  const opened: PostgresLog[] = [];
  const open = (hosts: readonly string[]): EncodedLog => {
    const log = openPostgres({
      ...{ urls: hosts, poolSize: 2, compactionIntervalMs: 0, onTrouble: say },
      ...connectionParts(options),
    });
    opened.push(log);
    void log.guard.run(stop.signal);
    return new EncodedLog(log, encodings);
  };
  const main = open(urls);
  const others = overrides.map((one) => ({ log: open(one.urls), resources: one.resources }));
  const logOf = ({ group, resource }: GroupResource): EncodedLog =>
    others.find(({ resources }) => resources.some((one) => one.group === group && one.resource === resource))
      ?.log ?? main;
  return {
    commit: (write) => logOf(write.key).committer.commit(write),
    get: (key) => logOf(key).reader.get(key),
    index: async () => {
      const found = new Map<string, Live>();
      for (const log of [main, ...others.map((one) => one.log)])
        await log.reader.loadCurrent(
          () => {},
          (objects) => {
            for (const object of objects)
              if (logOf(object.key) === log) found.set(describe(object.key), toLive(object));
          },
        );
      return found;
    },
    close: async () => {
      stop.abort();
      for (const log of opened) await log.close();
      encryption?.close();
    },
  };
}
