import type { GroupResource, ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { Followed } from '../storage/follower.ts';
import { ObjectReader, toObject } from '../storage/object-reader.ts';
import type { Entry, ObjectEvent, Store } from '../storage/store.ts';

/** What plugins know of the cluster beside the write they look at. Nobody may change an object received from here. */
export interface ClusterObjects {
  /** All objects of a resource of which there are few: at hand without waiting. Asked for while the plugins are made. */
  follow<T extends ApiObject>(resource: ResourceOf<T>): FollowedObjects<T>;
  /** One of a resource of which there may be many, or that may have been made a moment ago on another server. */
  find<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T | undefined>;
}

/** The objects of one resource, which are of type `T`, as new as the watch cache. An object is parsed when somebody first looks at it. */
export class FollowedObjects<T extends ApiObject = ApiObject> implements Followed {
  readonly #namespaces = new Map<string, Map<string, Lazy<T>>>();
  #changes = 0;

  /** Rises with every change: what was made from the objects is as they are while this is as it was. */
  get changes(): number {
    return this.#changes;
  }

  /** Of resources without namespaces, `namespace` is empty. */
  get(namespace: string, name: string): T | undefined {
    return this.#namespaces.get(namespace)?.get(name)?.object;
  }

  isEmpty(namespace: string): boolean {
    return !this.#namespaces.has(namespace);
  }

  /** In no particular order. */
  in(namespace: string): T[] {
    return [...(this.#namespaces.get(namespace)?.values() ?? [])].map((lazy) => lazy.object);
  }

  replace(entries: readonly Entry[]): void {
    this.#changes += 1;
    this.#namespaces.clear();
    for (const entry of entries) this.#set(entry);
  }

  apply({ type, entry }: ObjectEvent): void {
    this.#changes += 1;
    if (type !== 'DELETED') {
      this.#set(entry);
      return;
    }
    const objects = this.#namespaces.get(entry.namespace);
    objects?.delete(entry.name);
    if (objects?.size === 0) this.#namespaces.delete(entry.namespace);
  }

  #set(entry: Entry): void {
    const objects = this.#namespaces.get(entry.namespace) ?? new Map<string, Lazy<T>>();
    this.#namespaces.set(entry.namespace, objects);
    objects.set(entry.name, new Lazy(entry));
  }
}

class Lazy<T extends ApiObject> {
  readonly #entry: Entry;
  #object: T | undefined;

  constructor(entry: Entry) {
    this.#entry = entry;
  }

  get object(): T {
    this.#object ??= toObject<T>(this.#entry);
    return this.#object;
  }
}

export class StoredClusterObjects implements ClusterObjects {
  readonly #reader: ObjectReader;
  readonly #followed = new Map<string, Source>();

  constructor(store: Store) {
    this.#reader = new ObjectReader(store);
  }

  /** What a Follower has to feed. */
  get sources(): Source[] {
    return [...this.#followed.values()];
  }

  follow<T extends ApiObject>(resource: ResourceOf<T>): FollowedObjects<T> {
    const key = `${resource.group}/${resource.resource}`;
    const source = this.#followed.get(key) ?? { resource, index: new FollowedObjects() };
    this.#followed.set(key, source);
    // The objects of one resource are of one type.
    return source.index as FollowedObjects<T>;
  }

  async find<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    return this.#reader.get(resource, { namespace, name }, 'cached-if-found');
  }
}

interface Source {
  readonly resource: GroupResource;
  readonly index: FollowedObjects;
}
