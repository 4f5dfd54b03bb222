import { LEASES } from '../../api/known-resources.ts';
import type { GroupResource, ResourceOf } from '../../api/names.ts';
import { toApiVersion } from '../../api/names.ts';
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionStatus,
} from '../../api/types/apiserverinternal/v1alpha1.ts';
import { withCondition } from '../../object/conditions.ts';
import { equal } from '../../object/equality.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { Slots } from '../../util/concurrency.ts';
import { keepDoing, pause, repeat } from '../../util/pause.ts';
import type { Client } from '../../verbs/client/client.ts';
import { IDENTITY, IDENTITY_LABEL, IDENTITY_NAMESPACE } from '../server-identity.ts';

/**
 * Records which server stores which resource in which version (the feature StorageVersionAPI). A server adds its versions when
 * it starts; those of ended servers are removed (Kubernetes: apiserver/pkg/storageversion, pkg/controller/storageversiongc).
 */

export const STORAGE_VERSIONS: ResourceOf<StorageVersion> = {
  group: 'internal.apiserver.k8s.io',
  resource: 'storageversions',
};

const AGAIN_MS = 10 * 60_000;
const RETRY_MS = 5000;
/** Writes that share a few commits. */
const AT_ONCE = 25;

/** The core group has no name, but objects need one. */
const nameOf = ({ group, resource }: GroupResource): string => `${group === '' ? 'core' : group}.${resource}`;

/** Returns the status with a server's versions; the same status if it has them already. */
export function withServer(
  status: StorageVersionStatus,
  server: ServerStorageVersion,
  time: string,
): StorageVersionStatus {
  const { storageVersions: known = [] } = status;
  const isKnown = known.some(({ apiServerID }) => apiServerID === server.apiServerID);
  const next = isKnown
    ? known.map((one) => (one.apiServerID === server.apiServerID ? server : one))
    : [...known, server];
  return withServers(status, next, time);
}

function withServers(
  status: StorageVersionStatus,
  servers: ServerStorageVersion[],
  time: string,
): StorageVersionStatus {
  const { storageVersions = [], commonEncodingVersion: before, conditions: said = [] } = status;
  const versions = new Set(servers.map(({ encodingVersion }) => encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  // Agreement on another version is a new transition, though the condition is equal.
  const kept = before !== undefined && common !== undefined && before !== common ? [] : said;
  const conditions = withCondition(kept, agreement(common !== undefined), time);
  if (equal(servers, storageVersions) && before === common && equal(conditions, said)) return status;
  const { commonEncodingVersion: _, ...rest } = status;
  return {
    ...rest,
    storageVersions: servers,
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions: [...conditions],
  };
}

const agreement = (isReached: boolean) =>
  ({
    type: 'AllEncodingVersionsEqual',
    status: isReached ? 'True' : 'False',
    reason: isReached ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
    message: `Common encoding version ${isReached ? 'set' : 'unset'}`,
  }) as const;

interface StorageVersionParts {
  readonly client: Client;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** Maintains the versions of this server. */
export class StorageVersionUpdates {
  readonly #parts: StorageVersionParts;
  readonly #client: Client;
  readonly #registry: Registry;
  readonly #server: string;

  constructor(parts: StorageVersionParts & { readonly registry: Registry; readonly server: string }) {
    this.#parts = parts;
    this.#client = parts.client.as('kube-apiserver');
    this.#registry = parts.registry;
    this.#server = parts.server;
  }

  /** @throws StatusError, StorageError */
  async update(): Promise<void> {
    const slots = new Slots(AT_ONCE);
    const stored = [...this.#registry.storages()].filter(
      ({ custom, verbs }) => custom === undefined && verbs.includes('list'),
    );
    await Promise.all(stored.map((definition) => slots.run(() => this.#say(definition))));
  }

  /** Repeats, because others may change what was recorded. */
  async run(signal: AbortSignal): Promise<void> {
    await pause(AGAIN_MS, signal);
    await repeat(() => this.update(), signal, { everyMs: AGAIN_MS, onError: this.#parts.onError });
  }

  async #say(definition: ResourceDefinition): Promise<void> {
    const name = nameOf(definition);
    const server = this.#ofServer(definition);
    const found = await this.#client.get(STORAGE_VERSIONS, { name }, 'cached-if-found');
    const time = toTimestamp(this.#parts.now());
    if (found !== undefined && withServer(found.status ?? {}, server, time) === found.status) return;
    const metadata = { name };
    const apiVersion = 'internal.apiserver.k8s.io/v1alpha1';
    if (found === undefined)
      await this.#client.ensure(STORAGE_VERSIONS, { kind: 'StorageVersion', apiVersion, metadata, spec: {} });
    await this.#client.updateState(STORAGE_VERSIONS, { name, subresource: 'status' }, (copy) => ({
      ...copy,
      status: withServer(copy.status ?? {}, server, time),
    }));
  }

  #ofServer({ group, resource, versions, storage }: ResourceDefinition): ServerStorageVersion {
    const texts = (all: readonly { readonly version: string }[]): string[] =>
      all.map(({ version }) => toApiVersion({ group, version }));
    return {
      apiServerID: this.#server,
      encodingVersion: toApiVersion({ group, version: storage.version }),
      decodableVersions: texts(versions),
      servedVersions: texts(
        versions.filter(({ version }) => this.#registry.find(group, version, resource) !== undefined),
      ),
    };
  }
}

/** Removes the versions of servers whose lease is gone. */
export class StorageVersionCleaning {
  readonly #parts: StorageVersionParts;
  readonly #client: Client;

  constructor(parts: StorageVersionParts) {
    this.#parts = parts;
    this.#client = parts.client.as('storage-version-garbage-collector');
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#parts.onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
  }

  /** @throws StatusError, StorageError */
  async clean(): Promise<void> {
    const leases = await this.#client.list(LEASES, { namespace: IDENTITY_NAMESPACE });
    const alive = new Set(leases.map(({ metadata }) => metadata.name));
    const isAlive = ({ apiServerID = '' }: ServerStorageVersion): boolean => alive.has(apiServerID);
    for (const { metadata, status = {} } of await this.#client.list(STORAGE_VERSIONS)) {
      const { name = '', uid = '', resourceVersion = '' } = metadata;
      const { storageVersions: servers = [] } = status;
      if (servers.length === 0 || servers.every(isAlive)) continue;
      if (!servers.some(isAlive)) {
        await this.#client.remove(STORAGE_VERSIONS, { name }, { uid, resourceVersion });
        continue;
      }
      const time = toTimestamp(this.#parts.now());
      await this.#client.updateState(STORAGE_VERSIONS, { name, subresource: 'status' }, (copy) => {
        const kept = (copy.status?.storageVersions ?? []).filter(isAlive);
        return { ...copy, status: withServers(copy.status ?? {}, kept, time) };
      });
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    await this.clean();
    const isServer = ({
      namespace,
      labels,
    }: {
      namespace: string;
      labels: Readonly<Record<string, string>>;
    }) => namespace === IDENTITY_NAMESPACE && labels[IDENTITY_LABEL] === IDENTITY;
    for await (const { type } of this.#client.watch(LEASES, signal, isServer))
      if (type === 'DELETED') await this.clean();
  }
}
