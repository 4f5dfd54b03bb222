import type { GroupResource } from '../api/names.ts';
import { bool, type FlagSet, list, UsageError } from '../options/flag.ts';
import { parseOptions, type ServerOptions } from '../options/options.ts';
import { databaseUrls, storageFlags } from '../options/storage.ts';
import { serversOverrides } from '../options/storage-checks.ts';
import { overridesOf, toStored } from '../server/databases.ts';
import { openEncryption } from '../server/encryption.ts';
import { createKeySealer } from '../storage/key-sealer.ts';
import { cancelMove, describeMoved, moveResource } from '../storage/postgres/moving/move.ts';
import { setUpDatabase } from '../storage/postgres/setup.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { databaseConnection, databaseOf, OLD_DATABASE, otherDatabases } from './database.ts';
import { stopSignal } from './stop-signal.ts';
import { takeFlags } from './transfer/own-flags.ts';
import { Progress } from './transfer/progress.ts';

export const moveFlags = {
  to: list('to', {
    default: [],
    meaning: 'an empty database for the resource, as postgres:// URLs of its hosts, comma separated',
    check: databaseUrls,
  }),
  cancel: bool('cancel', { meaning: 'give up a move that has not ended; servers go on as before' }),
} satisfies FlagSet;

/** Addresses and ports change hands with the writes of services, in the database of these. */
const UNMOVABLE = ['services'];

/**
 * `move /events --to=postgres://…`: gives a resource a database of its own, history included, while servers serve.
 * @throws Error with a message of one line
 */
export async function moveToDatabase(args: readonly string[]): Promise<void> {
  const [word = '', ...flags] = args;
  const { values, others } = takeFlags(flags, moveFlags);
  const { storage } = parseOptions(others);
  const resource = toResource(word, storage);
  const source = databaseOf(storage);
  if (values.cancel) return cancel(resource, storage, source);
  if (values.to.length === 0) throw new UsageError(`move ${word} needs ${moveFlags.to.shown}=postgres://…`);
  const moved = await findMoved(resource, storage, source);
  if (moved !== undefined && moved.join(',') !== values.to.join(','))
    throw new Error(describeMoved(resource.resource, moved));
  const encryption = openEncryption(storage);
  await encryption?.ask();
  await setUpDatabase(databaseConnection(storage, source), async (database) => {
    if ((await database.listMigrations()).some(({ state }) => state !== 'applied'))
      throw new Error(OLD_DATABASE);
  });
  const progress = new Progress();
  const say = (line: string): void => progress.say(hidePasswords(line));
  await setUpDatabase(databaseConnection(storage, values.to), async (database) => {
    const applied = await database.migrate({ say });
    if (applied.length > 0) say('the new database has its schema');
  });
  try {
    await moveResource({
      ...{ resource, progress, say, signal: stopSignal() },
      source: databaseConnection(storage, source),
      target: databaseConnection(storage, values.to),
      sealer: createKeySealer(encryption?.encoding),
    });
  } finally {
    progress.end();
    encryption?.close();
  }
  process.stdout.write(
    `${word} is moved. Servers find it by the first database; back up both, or name it to them all: ${storageFlags.overrides.shown}=${word}#${hidePasswords(values.to.join(';'))}\n`,
  );
}

/** The URLs of the database to which a resource was moved before. */
async function findMoved(
  of: GroupResource,
  storage: ServerOptions['storage'],
  source: readonly string[],
): Promise<readonly string[] | undefined> {
  const others = await otherDatabases(storage, source);
  return others.find(({ resources }) =>
    resources.some(({ group, resource }) => group === of.group && resource === of.resource),
  )?.urls;
}

async function cancel(
  of: GroupResource,
  storage: ServerOptions['storage'],
  source: readonly string[],
): Promise<void> {
  const done = await cancelMove(databaseConnection(storage, source), of);
  if (!done) {
    const moved = await findMoved(of, storage, source);
    throw new Error(
      moved === undefined ? `no move of ${of.resource} is under way` : describeMoved(of.resource, moved),
    );
  }
  process.stdout.write('the move is given up: drop the database it led to, before it is tried again\n');
}

/** `/events`, `coordination.k8s.io/leases`. @throws UsageError */
function toResource(word: string, storage: ServerOptions['storage']): GroupResource {
  if (!/^[a-z\d.-]*\/[a-z]+$/.test(word))
    throw new UsageError(
      `move: ${JSON.stringify(word)} is no resource such as /events or coordination.k8s.io/leases: move /events ${moveFlags.to.shown}=postgres://…`,
    );
  const [{ resources: [named] = [] } = {}] = serversOverrides([`${word}#-`], 'move', (urls) => urls);
  if (named === undefined) throw new UsageError(`move: ${JSON.stringify(word)} is no resource`);
  const stored = toStored(named, 'move');
  if (stored.group === '' && UNMOVABLE.includes(stored.resource))
    throw new UsageError(
      `move: ${stored.resource} cannot be moved: the first database hands out their addresses`,
    );
  const isOverridden = overridesOf(storage, databaseOf(storage)).some(({ resources }) =>
    resources.some(({ group, resource }) => group === stored.group && resource === stored.resource),
  );
  if (isOverridden)
    throw new UsageError(
      `move: ${storageFlags.overrides.shown} names ${word}: it is in a database of its own already`,
    );
  return stored;
}
