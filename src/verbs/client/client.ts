import { randomUUID } from 'node:crypto';
import type { TypeLibrary } from '../../api/idl/types.ts';
import type { GroupResource, ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { parseStored } from '../../codec/stored-object.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { type ListScope, type ObjectName, ObjectReader, type Trust } from '../../storage/object-reader.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Entry, ObjectEvent, Store, TakeEvent } from '../../storage/store.ts';
import type { StateChange } from '../writing/change.ts';
import type { DeleteOptions } from '../writing/deletion.ts';
import {
  orExists,
  orFact,
  orNotFound,
  type Removed,
  type WriteCall,
  type Written,
} from '../writing/write-call.ts';
import type { ObjectWriter } from '../writing/writer.ts';
import { toConfigChange } from './config-change.ts';

interface ClientParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly writer: ObjectWriter;
  readonly types: TypeLibrary;
}

/** How to ensure that an object exists. */
interface Ensuring<T extends ApiObject> {
  /** Returns the corrected object; undefined: it may stay. Absent: any existing object may stay. */
  readonly mend?: (current: T) => T | undefined;
  /** Where to look for the object before writing; `latest` by default. */
  readonly trust?: Trust;
}

export interface RemoveOptions {
  /** Remove only the object with this uid. */
  readonly uid?: string;
  /** Remove only this version; requires a uid. */
  readonly resourceVersion?: string;
  /** What happens to dependents; they are deleted afterwards by default. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** For pods; their own by default. */
  readonly gracePeriodSeconds?: number;
}

/** `ending`: the object waits for its grace period or finalizers. `conflict`: the name belongs to another object. */
export type RemoveOutcome = 'gone' | 'ending' | 'not-found' | 'conflict';

/**
 * The API for the server's own parts: typed objects, writes that go through admission and validation like those of any client,
 * and outcomes rather than errors for concurrent changes. Throws failures only: StorageError for reads, StatusError for writes.
 */
export class Client {
  readonly #parts: ClientParts;
  readonly #reader: ObjectReader;
  readonly #author: ServerAuthor;

  constructor(parts: ClientParts, author: ServerAuthor = { name: 'pg-apiserver', manager: SERVER_MANAGER }) {
    this.#parts = parts;
    this.#reader = new ObjectReader(parts.store);
    this.#author = author;
  }

  /** A client for another part of the server, with its own name in history. Its field manager has the same name by default. */
  as(name: string, { manager = name, user }: Omit<ServerAuthor, 'name'> = {}): Client {
    return new Client(this.#parts, { name, manager, ...(user === undefined ? {} : { user }) });
  }

  /** Undefined: no such object. */
  get<T extends ApiObject>(
    resource: ResourceOf<T>,
    name: ObjectName,
    trust: Trust = 'latest',
  ): Promise<T | undefined> {
    return this.#reader.get(resource, name, trust);
  }

  /** Returns the stored entry, without parsing it. */
  entry(
    { group, resource }: GroupResource,
    { namespace = '', name }: ObjectName,
    trust: Trust = 'latest',
  ): Promise<Entry | undefined> {
    return this.#reader.entry({ group, resource, namespace, name }, trust);
  }

  list<T extends ApiObject>(
    resource: ResourceOf<T>,
    scope: ListScope = {},
    trust: 'cached' | 'latest' = 'latest',
  ): Promise<T[]> {
    return this.#reader.list(resource, scope, trust);
  }

  /** Yields the objects of a list, and yields the event loop in between. */
  each<T extends ApiObject>(
    resource: ResourceOf<T>,
    scope: ListScope = {},
    trust: 'cached' | 'latest' = 'latest',
  ): AsyncGenerator<T> {
    return this.#reader.each(resource, scope, trust);
  }

  /** Lists entries without parsing them. */
  entries(
    resource: ResourceOf<ApiObject>,
    scope: ListScope = {},
    trust: 'cached' | 'latest' = 'latest',
  ): Promise<readonly Entry[]> {
    return this.#reader.entries(resource, scope, trust);
  }

  /**
   * Yields the existing objects as ADDED events, then every change, until the signal aborts. Leaves out objects that do not
   * match or cannot be read. @throws StorageError compacted when the consumer fell behind the history; begin again
   */
  async *watch(
    resource: ResourceOf<ApiObject>,
    signal: AbortSignal,
    matches?: (entry: Entry) => boolean,
  ): AsyncGenerator<ObjectEvent> {
    for await (const events of await this.#watchLatest(resource, signal, matches))
      for (const event of events) if ('entry' in event) yield event;
  }

  /**
   * Yields for all objects, and then for their changes: once for those that came since the last yield. For work that reads the whole
   * list each time, which {@link watch} would repeat for each object.
   */
  async *changes(resource: ResourceOf<ApiObject>, signal: AbortSignal): AsyncGenerator<void> {
    for await (const events of await this.#watchLatest(resource, signal))
      if (events.some((event) => 'entry' in event)) yield;
  }

  #watchLatest(
    resource: ResourceOf<ApiObject>,
    signal: AbortSignal,
    matches?: (entry: Entry) => boolean,
  ): ReturnType<Store['watch']> {
    return this.#parts.store.watch(
      {
        resource,
        scope: {},
        start: { kind: 'state', freshness: { kind: 'latest' } },
        bookmarks: false,
        around: true,
        ...(matches === undefined ? {} : { matches }),
      },
      signal,
    );
  }

  /**
   * Like {@link watch}, but from the cache, and each event in the turn in which the cache applies it. Not for a version of a
   * custom resource: the objects are as they are stored.
   * @throws StorageError compacted when the state of the cluster is read again; begin again
   */
  async follow(resource: GroupResource, signal: AbortSignal, take: TakeEvent): Promise<void> {
    const start = { kind: 'state', freshness: { kind: 'any' } } as const;
    const query = { resource, scope: {}, start, bookmarks: false, around: true };
    const stream = await this.#parts.store.watch(query, signal);
    await stream.deliver(take);
  }

  async create<T extends ApiObject>(resource: ResourceOf<T>, object: T): Promise<T | 'exists'> {
    const call = this.#callFor(resource, object.metadata);
    const created = this.#parts.writer.create(call, structuredClone(object));
    return toResult<T, 'exists'>(await orExists(created));
  }

  /**
   * Creates an object, or corrects the existing one. A create that loses the race becomes an update; writes nothing when
   * nothing needs correction.
   */
  async ensure<T extends ApiObject>(
    resource: ResourceOf<T>,
    object: T,
    { mend = () => undefined, trust = 'latest' }: Ensuring<T> = {},
  ): Promise<T> {
    const { namespace = '', name = '' } = object.metadata;
    const found = await this.get(resource, { namespace, name }, trust);
    if (found !== undefined && mend(found) === undefined) return found;
    const written = await this.#parts.writer.update(this.#callFor(resource, { namespace }), name, {
      kind: 'object',
      apply: (copy: T) => mend(copy) ?? copy,
      create: () => structuredClone(object),
    });
    return toResult<T, never>(written);
  }

  /** `change` may change its copy and return it. It is called again with a newer copy after a conflict. */
  async update<T extends ApiObject>(
    resource: ResourceOf<T>,
    name: ObjectName,
    change: (copy: T) => T,
  ): Promise<T | 'not-found'> {
    const call = this.#callFor(resource, name);
    const written = this.#parts.writer.update(call, name.name, { kind: 'object', apply: change });
    return toResult<T, 'not-found'>(await orNotFound(written));
  }

  /**
   * Server-side apply: writes the fields of `config`, of which its manager becomes an owner. Takes them from other owners, and
   * creates nothing. `subresource`: writes without the rules of the resource, see StateChange.
   */
  async apply<T extends ApiObject>(
    resource: ResourceOf<T>,
    name: ObjectName & { readonly subresource?: string },
    config: Omit<Partial<T>, 'metadata'>,
  ): Promise<T | 'not-found'> {
    const { subresource = '' } = name;
    const call: WriteCall = { ...this.#callFor(resource, name), subresource, ownership: 'leave' };
    const change = toConfigChange(this.#parts, call, name.name, config);
    const written = this.#parts.writer.update(call, name.name, {
      kind: subresource === '' ? 'object' : 'state',
      apply: change,
    });
    return toResult<T, 'not-found'>(await orNotFound(written));
  }

  /** Writes findings of the server into an object without the rules of its resource: see StateChange. */
  async updateState<T extends ApiObject>(
    resource: ResourceOf<T>,
    name: ObjectName & { readonly subresource: string },
    change: (copy: T) => T,
    { leavesCopy = false }: Pick<StateChange, 'leavesCopy'> = {},
  ): Promise<T | 'not-found'> {
    const call = { ...this.#callFor(resource, name), subresource: name.subresource };
    const written = this.#parts.writer.update(call, name.name, {
      kind: 'state',
      apply: leavesCopy ? (copy: T) => withOwnMetadata(change(copy)) : change,
      leavesCopy,
    });
    return toResult<T, 'not-found'>(await orNotFound(written));
  }

  /** Removes an object and, as its policy demands, its dependents. */
  async remove(
    resource: ResourceOf<ApiObject>,
    name: ObjectName,
    { uid, resourceVersion, propagationPolicy = 'Background', gracePeriodSeconds }: RemoveOptions = {},
  ): Promise<RemoveOutcome> {
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    const removed = this.#parts.writer.remove(this.#callFor(resource, name), name.name, {
      ...DELETE_NOW,
      propagationPolicy,
      gracePeriodSeconds,
      preconditions,
    });
    const outcome = await orNotFound(uid === undefined ? removed : orFact(removed, 'Conflict', 'conflict'));
    return toOutcome(outcome);
  }

  /**
   * Removes an object of a resource that need not be served, as it is stored: without conversion or admission. Removes only the
   * object with this uid.
   */
  async removeStored(
    resource: StoredResource,
    name: ObjectName & { readonly uid: string },
  ): Promise<RemoveOutcome> {
    const call: WriteCall = {
      ...this.#callTo(toDefinition(resource), name),
      ...{ isAdmitted: true, ownership: 'leave' },
    };
    const options = { ...DELETE_NOW, preconditions: { uid: name.uid } };
    const removed = orFact(this.#parts.writer.remove(call, name.name, options), 'Conflict', 'conflict');
    return toOutcome(await orNotFound(removed));
  }

  #callFor(resource: ResourceOf<ApiObject>, name: { readonly namespace?: string }): WriteCall {
    return this.#callTo(this.#definitionOf(resource), name);
  }

  #callTo(definition: ResourceDefinition, { namespace = '' }: { readonly namespace?: string }): WriteCall {
    return {
      definition,
      version: this.#versionOf(definition),
      subresource: '',
      namespace,
      author: authorOf(this.#author),
      dryRun: false,
      ownership: 'track',
    };
  }

  /** The preferred version of a built-in resource, as clients of Kubernetes write it; the stored one of others. */
  #versionOf({ group, resource, custom, storage }: ResourceDefinition): string {
    const { registry } = this.#parts;
    const isServed = (version: string): boolean => registry.find(group, version, resource) !== undefined;
    if (custom !== undefined) return storage.version;
    return registry.versions(group).find(isServed) ?? storage.version;
  }

  #definitionOf(resource: ResourceOf<ApiObject>): ResourceDefinition {
    const definition = this.#parts.registry.findStorage(resource);
    if (definition === undefined) throw new Error(`the registry has no ${resource.resource}`);
    return definition;
  }
}

/** A resource of which only the storage is known. */
export interface StoredResource extends GroupResource {
  readonly kind: string;
  readonly namespaced: boolean;
}

/** A definition that suffices for removals. */
function toDefinition({ group, resource, kind, namespaced }: StoredResource): ResourceDefinition {
  return {
    ...{ group, resource, kind, namespaced },
    ...{ singular: '', listKind: '', shortNames: [], categories: [], verbs: [], versions: [], columns: [] },
    storage: { group, resource, version: '', type: '' },
    subresources: [],
    cells: () => [],
    fields: { names: [], aliases: {}, read: () => ({}) },
    strategy: {
      nameRule: 'dns-subdomain',
      tracksGeneration: true,
      allowCreateOnUpdate: false,
      allowUnconditionalUpdate: true,
    },
  };
}

const toOutcome = (removed: Removed | 'not-found' | 'conflict'): RemoveOutcome =>
  typeof removed === 'string' ? removed : removed.gone ? 'gone' : 'ending';

const DELETE_NOW: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: 'Background',
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
};

function toResult<T extends ApiObject, Fact extends string>(written: Written | Fact): T | Fact {
  if (typeof written === 'string') return written;
  const { json, revision } = written;
  return parseStored<T>(json, revision === undefined ? undefined : toResourceVersion(revision));
}

/** The writer keeps the owners in the metadata, which an object must not share with the stored one. */
const withOwnMetadata = <T extends ApiObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata },
});

/** The field manager of the parts that Kubernetes has in its API server. */
const SERVER_MANAGER = 'kube-apiserver';
/** For {@link Client.as} */
export const AS_SERVER = { manager: SERVER_MANAGER };

/** The user of the server's own writes, named as in Kubernetes. */
const APISERVER: UserInfo = {
  username: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
};

/** A part of the server that writes without a request. */
interface ServerAuthor {
  /** The user agent in history. */
  readonly name: string;
  /** The field manager, in history and in metadata.managedFields. */
  readonly manager?: string;
  /** The server itself by default. */
  readonly user?: UserInfo;
}

/** Each write has an id in history, as requests do. */
function authorOf({ name, manager = name, user = APISERVER }: ServerAuthor): WriteCall['author'] {
  return {
    user,
    attribution: {
      username: user.username,
      userAgent: name,
      sourceAddress: '',
      requestId: randomUUID(),
      fieldManager: manager,
    },
  };
}
