import { hostname } from 'node:os';
import type { ApiObject } from '../api/object-meta.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { DueObjects, type DueRule } from '../controllers/cleaning/due-objects.ts';
import {
  podsOfLostNodes,
  unboundVolumes,
  unusedAttributesClasses,
  unusedClaims,
  unusedPodGroups,
} from '../controllers/cleaning/ending-objects.ts';
import {
  expiredBootstrapTokens,
  finishedJobs,
  oldPodRequests,
  oldSigningRequests,
} from '../controllers/cleaning/expired-objects.ts';
import { LegacyTokenCleaning } from '../controllers/cleaning/unused-tokens.ts';
import { ControllerManager } from '../controllers/controller-manager.ts';
import { kubeletApproval } from '../controllers/joining/approval.ts';
import { ClusterInfoSigning } from '../controllers/joining/cluster-info.ts';
import { clusterSigning, type SigningFiles } from '../controllers/joining/signing.ts';
import { Leadership } from '../controllers/leadership.ts';
import { MIGRATIONS, storageMigrations } from '../controllers/migration/storage-migration.ts';
import { STORAGE_VERSIONS, StorageVersionCleaning } from '../controllers/migration/storage-versions.ts';
import { serviceCidrs } from '../controllers/service-ranges.ts';
import type { ServerOptions } from '../options/options.ts';
import { createReminder } from '../util/reminder.ts';
import type { Client } from '../verbs/client/client.ts';
import { accessBy } from './access.ts';
import type { Foundation } from './foundation.ts';
import { createGarbageCollector } from './garbage-collector.ts';
import type { Services } from './services.ts';
import type { StoragePhase } from './storage.ts';
import { hasServiceRanges } from './writing.ts';

interface UpkeepParts {
  readonly storage: Pick<StoragePhase, 'workLeases'>;
  readonly writing: { readonly client: Client };
  readonly authorizer: Authorizer;
  /** Undefined: no authority signs requests for certificates. */
  readonly signing: SigningFiles | undefined;
  readonly options: Pick<ServerOptions, 'authentication' | 'serving' | 'signing' | 'writing'>;
}

/** Runs while this server has the lease of the upkeep. */
type Work = (turn: AbortSignal) => Promise<void>;

/** Starts work that one server of the cluster does at a time, and none beside a controller manager. */
export function startUpkeep(foundation: Foundation, parts: UpkeepParts, services: Services): void {
  const leadership = createLeadership(foundation, parts);
  services.start('upkeep-lease', 'upkeep', (signal) => leadership.run(signal));
  const alone = (name: string, work: Work): void =>
    services.start(name, 'upkeep', (signal) => leadership.whileLeading(signal, work));
  startCleaning(foundation, parts, alone);
  startJoining(foundation, parts, alone);
  startMigration(foundation, parts, alone);
  if (!parts.options.writing.collectsGarbage) return;
  const collector = createGarbageCollector(foundation, parts.writing.client);
  alone('garbage-collector', (turn) => collector.run(turn));
}

function createLeadership(
  { logger, describeOutage }: Foundation,
  { storage: { workLeases: leases }, writing: { client }, options: { serving } }: UpkeepParts,
): Leadership {
  const now = (): number => performance.now();
  const manager = new ControllerManager({ client, now });
  const remind = createReminder((trouble) => logger.warn('the lease of the upkeep', { trouble }));
  return new Leadership({
    ...{ leases, now },
    work: 'upkeep',
    server: `${hostname()}:${serving.securePort}`,
    isDoneElsewhere: () => manager.isAtWork(),
    onChange: (isLeader) => logger.info(1, `upkeep ${isLeader ? 'begins' : 'ends'} on this server`),
    onError: (error) => remind(describeOutage(error) ?? String(error)),
  });
}

function startMigration(
  { now, logger, registry, isFeatureOn }: Foundation,
  { writing: { client } }: UpkeepParts,
  alone: StartAlone,
): void {
  const onError = (error: unknown): void => logger.error('storage migration', error);
  const parts = { client, now, onError };
  const hasVersions = isFeatureOn('StorageVersionAPI') && isFeatureOn('APIServerIdentity');
  if (hasVersions && registry.findStorage(STORAGE_VERSIONS) !== undefined) {
    const versions = new StorageVersionCleaning(parts);
    alone('storage-version-garbage-collector', (turn) => versions.run(turn));
  }
  if (registry.findStorage(MIGRATIONS) === undefined) return;
  const rule = storageMigrations({ registry, now, onError });
  const migrations = new DueObjects({ ...parts, rule });
  alone(rule.manager, (turn) => migrations.run(turn));
}

type StartAlone = (name: string, work: Work) => void;

const ruleStarter =
  ({ now, logger }: Foundation, client: Client, alone: StartAlone) =>
  <T extends ApiObject>(rule: DueRule<T>): void => {
    const { manager } = rule;
    const objects = new DueObjects({ rule, client, now, onError: (error) => logger.error(manager, error) });
    alone(manager, (turn) => objects.run(turn));
  };

/** Lets nodes join: certificates for kubelets, and a cluster-info that they can trust. */
function startJoining(
  foundation: Foundation,
  { writing: { client }, authorizer, signing, options }: UpkeepParts,
  alone: StartAlone,
): void {
  const { now, logger } = foundation;
  const startRule = ruleStarter(foundation, client, alone);
  startRule(kubeletApproval(accessBy(authorizer), now));
  if (signing !== undefined) {
    const onTrouble = createReminder((trouble) => logger.warn('a certificate cannot be signed', { trouble }));
    const { durationMs } = options.signing;
    startRule(clusterSigning({ ...signing, durationMs }, { now, onTrouble }));
  }
  if (!options.authentication.bootstrapTokens) return;
  const name = 'bootstrap-signer';
  const signer = new ClusterInfoSigning({ client, now, onError: (error) => logger.error(name, error) });
  alone(name, (turn) => signer.run(turn));
}

function startCleaning(
  foundation: Foundation,
  { writing: { client }, options: { authentication } }: UpkeepParts,
  alone: StartAlone,
): void {
  const { now, logger } = foundation;
  const startRule = ruleStarter(foundation, client, alone);
  startRule(finishedJobs);
  startRule(oldSigningRequests);
  if (foundation.isFeatureOn('PodCertificateRequest')) startRule(oldPodRequests);
  startRule(unusedClaims);
  startRule(unboundVolumes);
  if (foundation.isFeatureOn('VolumeAttributesClass')) startRule(unusedAttributesClasses);
  if (foundation.isFeatureOn('GenericWorkload')) startRule(unusedPodGroups);
  if (hasServiceRanges(foundation)) startRule(serviceCidrs(foundation.now));
  startRule(podsOfLostNodes);
  // Without the flag this server does not use the secrets, but another may.
  if (authentication.bootstrapTokens) startRule(expiredBootstrapTokens);
  const legacy = 'legacy-service-account-token-cleaner';
  const tokens = new LegacyTokenCleaning({ client, now, onError: (error) => logger.error(legacy, error) });
  alone(legacy, (turn) => tokens.run(turn));
}
