import type { ResourceOf } from '../../../src/api/names.ts';
import type { ApiObject, OwnerReference } from '../../../src/api/object-meta.ts';
import { toStoredJson } from '../../../src/codec/stored-object.ts';
import { GarbageCollector } from '../../../src/controllers/garbage/garbage-collector.ts';
import { Registry } from '../../../src/registry/registry.ts';
import type { ResourceDefinition } from '../../../src/registry/resource-definition.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { events } from '../../../src/resources/core/event.ts';
import { clusterroles } from '../../../src/resources/rbac/role.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { ObjectKey } from '../../../src/storage/key.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type {
  Change,
  ChangeSink,
  RevisionLog,
  StoredObject,
  Write,
} from '../../../src/storage/revision-log.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import type { Client } from '../../../src/verbs/client/client.ts';
import { createClientOn } from '../../kit/client.ts';

const textOf = ({ group, resource, namespace, name }: ObjectKey): string =>
  [group, resource, namespace, name].join('/');

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A log in memory: what is committed reaches the cache one turn later. */
class MemoryLog implements RevisionLog {
  readonly objects = new Map<string, StoredObject>();
  /** Names, in the order in which they went. */
  readonly gone: string[] = [];
  /** Runs once, before the next commit: what another client does meanwhile. */
  beforeCommit: (() => void) | undefined;
  /** Every write is refused while it is set. */
  isAway = false;
  #revision = 0;
  #pending: Change[] = [];
  #sink: ChangeSink | undefined;

  get isDelivered(): boolean {
    return this.#pending.length === 0;
  }

  readonly committer = {
    commit: async (write: Write) => {
      await turn();
      const disturb = this.beforeCommit;
      this.beforeCommit = undefined;
      disturb?.();
      return this.#commit(write);
    },
  };

  readonly reader: RevisionLog['reader'] = {
    currentRevision: async () => toRevision(this.#revision),
    compactedRevision: async () => toRevision(0),
    get: async (key) => this.objects.get(textOf(key)),
    listAt: async () => ({ objects: [], remaining: 0 }),
    changesBetween: async () => [],
    loadCurrent: async (begin, batch) => {
      begin(toRevision(this.#revision));
      batch([...this.objects.values()].sort((a, b) => (textOf(a.key) < textOf(b.key) ? -1 : 1)));
      this.#pending = [];
    },
  };

  readonly feed: RevisionLog['feed'] = {
    run: (_, sink, signal) => {
      this.#sink = sink;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    hurry: () => {},
  };

  /** Everything is read anew, and every watch ends. */
  async reset(): Promise<void> {
    await this.#sink?.reset('rewound');
  }

  put(key: ObjectKey, object: ApiObject): void {
    this.#revision += 1;
    const { uid = '' } = object.metadata;
    const stored = { key, uid, revision: toRevision(this.#revision), json: toStoredJson(object) };
    const previous = this.objects.get(textOf(key))?.revision;
    this.objects.set(textOf(key), stored);
    const verb = previous === undefined ? 'create' : 'update';
    this.#tell({ ...stored, verb, previous, committedAt: new Date() });
  }

  drop(key: ObjectKey): void {
    const present = this.objects.get(textOf(key));
    if (present === undefined) return;
    this.#revision += 1;
    this.objects.delete(textOf(key));
    const { revision: previous } = present;
    this.#tell({
      ...{ ...present, revision: toRevision(this.#revision), previous },
      ...{ verb: 'delete', committedAt: new Date() },
    });
  }

  #commit({ verb, key, uid, expected, json }: Write): ReturnType<typeof toRevision> {
    if (this.isAway) throw new StorageError({ kind: 'unavailable', reason: 'it is away' });
    const current = this.objects.get(textOf(key));
    if (verb === 'create' && current !== undefined)
      throw new StorageError({ kind: 'exists', key, current: current.revision });
    if (verb !== 'create' && current === undefined) throw new StorageError({ kind: 'not-found', key });
    if (verb !== 'create' && current !== undefined && current.revision !== expected)
      throw new StorageError({ kind: 'conflict', key, current: current.revision });
    this.#revision += 1;
    const stored = { key, uid, revision: toRevision(this.#revision), json };
    if (verb === 'delete') {
      this.objects.delete(textOf(key));
      this.gone.push(key.name);
    } else this.objects.set(textOf(key), stored);
    this.#tell({ ...stored, verb, previous: current?.revision, committedAt: new Date() });
    return stored.revision;
  }

  #tell(change: Change): void {
    this.#pending.push(change);
    if (this.#pending.length > 1) return;
    setImmediate(() => {
      const changes = this.#pending;
      this.#pending = [];
      if (changes.length > 0) this.#sink?.apply(changes);
    });
  }
}

export const MAPS: ResourceOf<ApiObject> = { group: '', resource: 'configmaps' };
export const ROLES: ResourceOf<ApiObject> = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };

/** A cluster with collectors, and no database. */
export class MemoryCluster implements AsyncDisposable {
  readonly log = new MemoryLog();
  readonly registry = new Registry();
  readonly client: Client;
  readonly errors: unknown[] = [];
  readonly #cache: WatchCache;
  readonly #collectors: readonly GarbageCollector[];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor({ collectors = 1, definitions = [] as readonly ResourceDefinition[] } = {}) {
    for (const definition of [configmaps, clusterroles, events, ...definitions])
      this.registry.add(definition, () => true);
    const { committer, reader, feed } = this.log;
    this.#cache = new WatchCache({ committer, reader, feed, fieldsOf: () => () => ({}) });
    this.client = createClientOn(this.#cache, this.registry);
    this.#collectors = Array.from({ length: collectors }, () => this.#create());
  }

  #create(): GarbageCollector {
    return new GarbageCollector({
      ...{ client: this.client, registry: this.registry, now: () => new Date() },
      isOutage: () => true,
      onError: (error) => this.errors.push(error),
    });
  }

  async start(): Promise<void> {
    this.#running.push(this.#cache.run(this.#stop.signal));
    await this.#cache.ready();
    for (const collector of this.#collectors) this.#running.push(collector.run(this.#stop.signal));
  }

  get states(): GarbageCollector['state'][] {
    return this.#collectors.map(({ state }) => state);
  }

  put(object: ApiObject): void {
    const { namespace = '', name = '' } = object.metadata;
    const resource = object.kind === 'ConfigMap' ? MAPS : ROLES;
    this.log.put({ ...resource, namespace, name }, object);
  }

  /** A config map of the namespace a. */
  drop(name: string): void {
    this.log.drop({ ...MAPS, namespace: 'a', name });
  }

  /** Names of what there is, with the owners of each. */
  contents(): Record<string, string[]> {
    const present: Record<string, string[]> = {};
    for (const { key, json } of this.log.objects.values()) {
      if (key.resource === 'events') continue;
      const { metadata } = JSON.parse(json.toString()) as ApiObject;
      present[key.name] = (metadata.ownerReferences ?? []).map(({ name = '' }) => name).sort();
    }
    return present;
  }

  /** Until there is nothing to do any more. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet += 1) {
      await turn();
      const isIdle = this.#collectors.every(({ state }) => state.isFollowing && state.unfinished === 0);
      if (!isIdle || !this.log.isDelivered) quiet = -1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

export const configMap = (
  name: string,
  namespace: string,
  ownerReferences: OwnerReference[] = [],
): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace,
    uid: `uid-${name}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences,
  },
});

export const clusterRole = (name: string, ownerReferences: OwnerReference[] = []): ApiObject => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', ownerReferences },
  rules: [],
});
