import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type {
  MigrationCondition,
  StorageVersionMigration,
} from '../../api/types/storagemigration/v1alpha1.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { Registry } from '../../registry/registry.ts';
import { toObject } from '../../storage/object-reader.ts';
import type { Client } from '../../verbs/client/client.ts';
import type { DueRule } from '../cleaning/due-objects.ts';

export const MIGRATIONS: ResourceOf<StorageVersionMigration> = {
  group: 'storagemigration.k8s.io',
  resource: 'storageversionmigrations',
};

const RETRY_MS = 5000;
/** Concurrent writes, which share a commit. */
const AT_ONCE = 50;
/** How long a migration waits for the definition of a custom resource to be served. */
const PATIENCE_MS = 60_000;

const REASONS = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
} as const;
type Outcome = keyof typeof REASONS;

const hasCondition = ({ status }: StorageVersionMigration, type: Outcome): boolean =>
  (status?.conditions ?? []).some((one) => one.type === type && one.status === 'True');

const hasEnded = (migration: StorageVersionMigration): boolean =>
  hasCondition(migration, 'Succeeded') || hasCondition(migration, 'Failed');

/** The conditions with a new one. A final condition ends Running. */
export function withOutcome(
  conditions: readonly MigrationCondition[],
  outcome: Outcome,
  { time, message }: { readonly time: string; readonly message: string },
): MigrationCondition[] {
  const kept = conditions
    .filter(({ type }) => type !== outcome)
    .map((one) => (one.type === 'Running' ? { ...one, status: 'False' } : one));
  const said = { type: outcome, status: 'True', lastUpdateTime: time, reason: REASONS[outcome] };
  return [...kept, message === '' ? said : { ...said, message }];
}

/**
 * Rewrites all objects of a resource for a StorageVersionMigration: each that is not stored in the current version, or not
 * encrypted with the current key, is stored anew; others stay as they are (Kubernetes: pkg/controller/storageversionmigrator).
 * A migration that a server left unfinished begins anew.
 */
export function storageMigrations(options: {
  readonly registry: Registry;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}): DueRule<StorageVersionMigration> {
  return {
    resource: MIGRATIONS,
    manager: 'storage-version-migrator-controller',
    mayBeDue: () => true,
    dueAt: (migration) => (hasEnded(migration) ? undefined : 0),
    act: (entry, client) => new Migrator(client, options).migrate(toObject<StorageVersionMigration>(entry)),
  };
}

class Migrator {
  readonly #client: Client;
  readonly #registry: Registry;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;

  constructor(
    client: Client,
    { registry, now, onError }: { registry: Registry; now: () => Date; onError: (error: unknown) => void },
  ) {
    this.#client = client;
    this.#registry = registry;
    this.#now = now;
    this.#onError = onError;
  }

  /** Returns the milliseconds until the next attempt. @throws StatusError, StorageError */
  async migrate(migration: StorageVersionMigration): Promise<number | undefined> {
    const { metadata, spec } = migration;
    const { name = '', creationTimestamp, resourceVersion } = metadata;
    const { group = '', version = '', resource = '' } = spec?.resource ?? {};
    const isKnown =
      version === ''
        ? this.#registry.findStorage({ group, resource }) !== undefined
        : this.#registry.find(group, version, resource) !== undefined;
    if (!isKnown) {
      const ageMs = this.#now().getTime() - Date.parse(creationTimestamp ?? '');
      if (ageMs < PATIENCE_MS) return RETRY_MS;
      await this.#report(name, 'Failed', { message: 'resource not found' });
      return undefined;
    }
    // Objects written after this revision need no migration.
    await this.#report(name, 'Running', resourceVersion === undefined ? {} : { resourceVersion });
    try {
      await this.#rewriteAll({ group, resource });
    } catch (error) {
      this.#onError(error);
      await this.#report(name, 'Failed', { message: 'migration encountered unhandled error' });
      return undefined;
    }
    await this.#report(name, 'Succeeded');
    return undefined;
  }

  async #rewriteAll(resource: ResourceOf<ApiObject>): Promise<void> {
    const entries = await this.#client.entries(resource);
    for (let at = 0; at < entries.length; at += AT_ONCE)
      await Promise.all(
        entries
          .slice(at, at + AT_ONCE)
          .map(({ namespace, name }) => this.#client.update(resource, { namespace, name }, (copy) => copy)),
      );
  }

  async #report(
    name: string,
    outcome: Outcome,
    { message = '', resourceVersion }: { readonly message?: string; readonly resourceVersion?: string } = {},
  ): Promise<void> {
    const time = toTimestamp(this.#now());
    await this.#client.updateState(MIGRATIONS, { name, subresource: 'status' }, (copy) => {
      const { status = {} } = copy;
      const conditions = withOutcome(status.conditions ?? [], outcome, { time, message });
      const version = status.resourceVersion ?? resourceVersion;
      return {
        ...copy,
        status: { ...status, conditions, ...(version === undefined ? {} : { resourceVersion: version }) },
      };
    });
  }
}
