import { AdmissionChain, type AdmissionPlugin } from '../../src/admission/admission.ts';
import type { Minor } from '../../src/api/emulation.ts';
import { type Gates, gatesOf } from '../../src/api/feature-gates.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import { GatedFields } from '../../src/registry/gated-fields.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { CachedEntry, type FieldReader } from '../../src/storage/cached-entry.ts';
import { StorageError } from '../../src/storage/errors.ts';
import type { ObjectKey } from '../../src/storage/key.ts';
import { type Revision, toRevision } from '../../src/storage/revision.ts';
import type { Write } from '../../src/storage/revision-log.ts';
import type { Entry, Freshness, ListPage, ListQuery, Store } from '../../src/storage/store.ts';
import { Client } from '../../src/verbs/client/client.ts';
import { ValueAllocator } from '../../src/verbs/writing/allocation.ts';
import { Ownership } from '../../src/verbs/writing/field-ownership.ts';
import { SharedExpiry } from '../../src/verbs/writing/shared-expiry.ts';
import { ObjectWriter } from '../../src/verbs/writing/writer.ts';

const NO_WATCH: Store['watch'] = () => Promise.reject(new Error('nothing is watched here'));

const keyText = ({ group, resource, namespace, name }: ObjectKey): string =>
  [group, resource, namespace, name].join('/');

/** A database, and a cache that sees what others write only after `catchUp`. */
export class LaggingStore implements Store {
  readonly commits: Write[] = [];
  /** How often the database was asked. */
  questions = 0;
  /** Runs once, before the next commit: what another server does meanwhile. */
  beforeCommit: (() => void) | undefined;
  readonly watch: Store['watch'];
  readonly #fieldsOf: (key: ObjectKey) => FieldReader;
  readonly #newest = new Map<string, Entry>();
  #cached = new Map<string, Entry>();
  #revision = 0;

  constructor(
    fieldsOf: (key: ObjectKey) => FieldReader = () => () => ({}),
    watch: Store['watch'] = NO_WATCH,
  ) {
    this.#fieldsOf = fieldsOf;
    this.watch = watch;
  }

  /** The cache hears of everything. */
  catchUp(): void {
    this.#cached = new Map(this.#newest);
  }

  /** Another server writes. */
  put(group: string, resource: string, object: ApiObject): void {
    const { namespace = '', name = '', uid = `uid-of-${name}` } = object.metadata;
    const stored = {
      ...object,
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z', ...object.metadata, uid },
    };
    this.#set({ group, resource, namespace, name }, uid, toStoredJson(stored));
  }

  /** Another server deletes. */
  drop(group: string, resource: string, { namespace = '', name = '' }: ApiObject['metadata']): void {
    this.#newest.delete(keyText({ group, resource, namespace, name }));
  }

  async get(key: ObjectKey, { kind }: Freshness): Promise<Entry | undefined> {
    return this.#state(kind).get(keyText(key));
  }

  async list({ resource, scope, freshness }: ListQuery): Promise<ListPage> {
    const prefix = `${resource.group}/${resource.resource}/`;
    const entries = [...this.#state(freshness.kind)]
      .filter(
        ([key, entry]) => key.startsWith(prefix) && (scope.namespace ?? entry.namespace) === entry.namespace,
      )
      .map(([, entry]) => entry);
    return { revision: toRevision(this.#revision), entries };
  }

  async commit(write: Write): Promise<Revision> {
    const disturb = this.beforeCommit;
    this.beforeCommit = undefined;
    disturb?.();
    const { key, verb, expected } = write;
    const current = this.#newest.get(keyText(key));
    if (verb === 'create' && current !== undefined)
      throw new StorageError({ kind: 'exists', key, current: current.revision });
    if (verb !== 'create' && current === undefined) throw new StorageError({ kind: 'not-found', key });
    if (verb !== 'create' && current !== undefined && current.revision !== expected)
      throw new StorageError({ kind: 'conflict', key, current: current.revision });
    this.commits.push(write);
    if (verb === 'delete') this.#newest.delete(keyText(key));
    else this.#set(key, write.uid, write.json);
    return toRevision(this.#revision);
  }

  #state(kind: string): Map<string, Entry> {
    if (kind === 'any') return this.#cached;
    this.questions += 1;
    return this.#newest;
  }

  #set(key: ObjectKey, uid: string, json: Buffer): void {
    this.#revision += 1;
    const stored = { key, uid, revision: toRevision(this.#revision), json };
    this.#newest.set(keyText(key), new CachedEntry(stored, this.#fieldsOf(key)));
  }
}

const gatesIn = (minor: Minor): Gates =>
  Object.assign((name: string) => gatesOf(minor).get(name)?.on ?? false, { minor });

/** A client on any store. */
export function createClientOn(
  store: Store,
  registry: Registry,
  plugins: readonly AdmissionPlugin[] = [],
  minor?: Minor,
): Client {
  const types = loadTypes(minor);
  const now = (): Date => new Date('2026-02-02T00:00:00Z');
  const writer = new ObjectWriter({
    ...{ store, types, now },
    admission: new AdmissionChain(plugins),
    ownership: new Ownership({ types, registry, now }),
    allocator: new ValueAllocator({} as never, [], {} as never),
    expiry: new SharedExpiry({ ttlMs: 0, reuseMs: 0 }),
    collectsGarbage: true,
    gatedFields: new GatedFields(() => true, types),
    ...(minor === undefined ? {} : { isFeatureOn: gatesIn(minor) }),
  });
  return new Client({ store, registry, writer, types });
}

/** A client whose writes are real but for the database. */
export function createTestClient(options: {
  readonly definitions: readonly ResourceDefinition[];
  readonly plugins?: (store: Store) => readonly AdmissionPlugin[];
  readonly watch?: Store['watch'];
  /** None of the versions is served. */
  readonly unserved?: boolean;
  /** The version of Kubernetes that has the types. */
  readonly minor?: Minor;
}): { client: Client; store: LaggingStore; registry: Registry } {
  const registry = new Registry();
  for (const definition of options.definitions) registry.add(definition, () => options.unserved !== true);
  const store = new LaggingStore(
    (key) => registry.findStorage(key)?.fields.read ?? (() => ({})),
    options.watch,
  );
  return {
    client: createClientOn(store, registry, options.plugins?.(store) ?? [], options.minor),
    store,
    registry,
  };
}
