import type { GroupResource } from '../api/names.ts';
import type { Logger } from '../observability/logger.ts';
import type { Tracing } from '../observability/tracing.ts';
import { ownFlags, type StorageOptions } from '../options/storage.ts';
import type { Allocations } from '../storage/allocations.ts';
import { EncodedLog } from '../storage/encoded-log.ts';
import type { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import type { History } from '../storage/history.ts';
import { createKeySealer } from '../storage/key-sealer.ts';
import type { ObjectViews } from '../storage/object-views.ts';
import { openPostgres, type PostgresLog } from '../storage/postgres/postgres.ts';
import { parseTarget } from '../storage/postgres/target.ts';
import type { Committer, RevisionLog } from '../storage/revision-log.ts';
import type { ServerLeases } from '../storage/server-leases.ts';
import type { SigningKeyStore } from '../storage/signing-keys.ts';
import type { Store } from '../storage/store.ts';
import { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import type { WorkLeases } from '../storage/work-leases.ts';
import type { Egress } from './egress.ts';
import { createEncryptionService } from './encryption.ts';
import type { Foundation } from './foundation.ts';
import { createCacheChecks, type NamedChecks } from './health-checks.ts';
import { createPhase, type Phase } from './phase.ts';
import type { Service } from './services.ts';
import { createStorageMetrics } from './storage-metrics.ts';

/** For replay, and as many to each read server. Others have pools of their own. */
const POOL_SIZE = 4;

interface DatabaseParts {
  readonly urls: readonly string[];
  readonly logger: Logger;
  readonly encryption: EncryptionFile | undefined;
  readonly reroute: Egress['reroute'];
}

/** The first query connects. @throws Error, one line, when the URL of a read server cannot be read */
export function openDatabase(
  { readUrls, caFile, certFile, keyFile, compactionIntervalMs }: StorageOptions,
  { urls, logger, encryption, reroute }: DatabaseParts,
): PostgresLog {
  for (const url of readUrls) assertReadable(url);
  return openPostgres({
    ...{ urls, readUrls },
    poolSize: POOL_SIZE,
    ...(reroute === undefined ? {} : { reroute }),
    ...(caFile === '' ? {} : { caFile }),
    ...(certFile === '' ? {} : { certFile }),
    ...(keyFile === '' ? {} : { keyFile }),
    compactionIntervalMs,
    sealer: createKeySealer(encryption?.encoding),
    onTrouble: (message) => logger.warn('database', { message }),
  });
}

function assertReadable(url: string): void {
  try {
    parseTarget(url);
  } catch (error) {
    throw new Error(`${ownFlags.readUrls.shown}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The first phase: the log in the database, and the cache of its current state. Only this file knows both implementations. */
export interface StoragePhase extends Phase {
  readonly store: Store;
  readonly history: History;
  readonly allocations: Allocations;
  readonly leases: ServerLeases;
  readonly workLeases: WorkLeases;
  readonly signingKeys: SigningKeyStore;
  /** Undefined: people have none (--custom-resource-views). */
  readonly views: ObjectViews | undefined;
  /** Started by the controllers, after the first objects of the cluster exist. */
  readonly upkeep: readonly Service[];
  /** Undefined for a resource that never had an object. */
  countObjects(resource: GroupResource): number | undefined;
  /** Whether the cache follows the database. */
  checks(): NamedChecks;
}

export function createStorage(
  foundation: Foundation,
  database: PostgresLog,
  options: StorageOptions & Pick<DatabaseParts, 'encryption'>,
): StoragePhase {
  const { registry, startup } = foundation;
  const services = foundation.services.branch();
  const { allocations, history, leases, workLeases, signingKeys } = database;
  const { encryption } = options;
  const stored: RevisionLog = {
    committer: traceCommits(database.committer, foundation.tracing),
    feed: database.feed,
    reader: database.reader,
  };
  const log = new EncodedLog(stored, encryption === undefined ? [] : [encryption.encoding]);
  const cache = new WatchCache({
    committer: log.committer,
    feed: log.feed,
    reader: log.reader,
    isOutdated: (resource, storedAs) => log.isOutdated(resource, storedAs),
    fieldsOf: (resource) => {
      const definition = registry.findStorage(resource);
      return definition === undefined || definition.custom !== undefined
        ? () => ({})
        : definition.fields.read;
    },
  });
  const phase = createPhase({
    services,
    begin: async () => {
      services.start('watch-cache', 'essential', (signal, works) => cache.run(signal, works));
      if (encryption !== undefined) {
        const hasUnreadable = (): boolean => cache.state.resources.some(({ unreadable }) => unreadable > 0);
        const { name, run } = createEncryptionService({
          ...foundation,
          file: encryption,
          log,
          hasUnreadable,
        });
        services.start(name, 'upkeep', run);
      }
      await services.until(cache.ready());
      startup.finished('watch-cache');
    },
    close: () => database.close(),
  });
  return {
    ...phase,
    ...{ store: cache, allocations, history, leases, workLeases, signingKeys },
    views: options.customResourceViews ? database.views : undefined,
    upkeep: [
      ...keepDatabase(database, options),
      ...createStorageMetrics({ ...foundation, ...options, database, cache }),
    ],
    countObjects: (resource) => cache.countObjects(resource),
    checks: () => createCacheChecks(database, foundation.services.checks()),
  };
}

function keepDatabase({ compactor, expirer }: PostgresLog, options: StorageOptions): Service[] {
  const compaction = { name: 'compaction', run: (signal: AbortSignal) => compactor.run(signal) };
  const expiry = { name: 'expiry', run: (signal: AbortSignal) => expirer.run(signal) };
  return options.compactionIntervalMs > 0 ? [compaction, expiry] : [expiry];
}

/** Traces each write into the log, including the wait for its batch. */
const traceCommits = (committer: Committer, tracing: Tracing): Committer => ({
  commit: (write) => {
    const { verb, key } = write;
    const attributes = {
      'k8s.group': key.group,
      'k8s.resource': key.resource,
      'pg_apiserver.write.verb': verb,
      'pg_apiserver.write.size_bytes': write.json.length,
    };
    return tracing.part('Commit', attributes, () => committer.commit(write));
  },
});
