import { hostname } from 'node:os';
import { DueObjects } from '../controllers/cleaning/due-objects.ts';
import { deadServerLeases } from '../controllers/cleaning/expired-objects.ts';
import { CANDIDATES, LeaderElections } from '../controllers/leader-election.ts';
import { Leadership } from '../controllers/leadership.ts';
import { STORAGE_VERSIONS, StorageVersionUpdates } from '../controllers/migration/storage-versions.ts';
import { ServerIdentity, serverIdentity } from '../controllers/server-identity.ts';
import type { ServerOptions } from '../options/options.ts';
import { createReminder } from '../util/reminder.ts';
import type { Client } from '../verbs/client/client.ts';
import type { Foundation } from './foundation.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';

interface IdentityParts {
  readonly storage: Pick<StoragePhase, 'workLeases'>;
  readonly writing: { readonly client: Client };
  readonly options: Pick<ServerOptions, 'serving'>;
}

/** Starts maintaining the objects by which servers of a cluster know each other, with or without a controller manager. */
export async function startIdentity(
  foundation: Foundation,
  parts: IdentityParts,
  services: Services,
): Promise<void> {
  const { isFeatureOn, registry } = foundation;
  if (isFeatureOn('APIServerIdentity')) {
    const name = serverIdentity(hostname(), parts.options.serving.securePort);
    await startLease(foundation, { ...parts, name }, services);
    if (isFeatureOn('StorageVersionAPI') && registry.findStorage(STORAGE_VERSIONS) !== undefined)
      await startStorageVersions(foundation, { ...parts, name }, services);
  }
  if (isFeatureOn('CoordinatedLeaderElection') && registry.findStorage(CANDIDATES) !== undefined)
    startElections(foundation, parts, services);
}

type Named = IdentityParts & { readonly name: string };

async function startLease(
  { now, logger, persistently }: Foundation,
  { writing: { client }, name }: Named,
  services: Services,
): Promise<void> {
  const logAs =
    (what: string) =>
    (error: unknown): void =>
      logger.error(what, error);
  const onError = logAs('the lease of this server');
  const identity = new ServerIdentity({ client, name, now, hostname: hostname(), onError });
  await persistently(() => identity.renew());
  services.start('identity-lease', 'upkeep', (signal) => identity.run(signal));
  const rule = deadServerLeases;
  const cleaning = new DueObjects({ rule, client, now, onError: logAs(rule.manager) });
  services.start(rule.manager, 'upkeep', (signal) => cleaning.run(signal));
}

/** Runs before the server accepts writes, so that these use the version that it publishes. */
async function startStorageVersions(
  { now, logger, persistently, registry }: Foundation,
  { writing: { client }, name }: Named,
  services: Services,
): Promise<void> {
  const onError = (error: unknown): void => logger.error('storage versions', error);
  const versions = new StorageVersionUpdates({ client, registry, now, server: name, onError });
  await persistently(() => versions.update());
  services.start('storage-versions', 'upkeep', (signal) => versions.run(signal));
}

function startElections(
  { now, logger, describeOutage }: Foundation,
  { storage: { workLeases: leases }, writing: { client }, options: { serving } }: IdentityParts,
  services: Services,
): void {
  const work = 'leader-election';
  const remind = createReminder((trouble) => logger.warn('the lease of elections', { trouble }));
  const leadership = new Leadership({
    ...{ leases, work, times: serving.elections },
    now: () => performance.now(),
    server: `${hostname()}:${serving.securePort}`,
    isDoneElsewhere: async () => false,
    onChange: (isLeader) => logger.info(1, `elections ${isLeader ? 'begin' : 'end'} on this server`),
    onError: (error) => remind(describeOutage(error) ?? String(error)),
  });
  const elections = new LeaderElections({
    ...{ client, now },
    onError: (error) => logger.error(work, error),
  });
  services.start(`${work}-lease`, 'upkeep', (signal) => leadership.run(signal));
  services.start(work, 'upkeep', (signal) => leadership.whileLeading(signal, (turn) => elections.run(turn)));
}
