import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { ClusterObjects, FollowedObjects } from './cluster-objects.ts';

/** Finds objects by name among those that are followed, and asks the store only for those that are not among them. */
export class ObjectLookup<T extends ApiObject> {
  readonly #objects: ClusterObjects;
  readonly #resource: ResourceOf<T>;
  readonly #followed: FollowedObjects<T>;

  constructor(objects: ClusterObjects, resource: ResourceOf<T>) {
    this.#objects = objects;
    this.#resource = resource;
    this.#followed = objects.follow(resource);
  }

  /** At once where the object is at hand, as it nearly always is; `use` gets undefined when there is none. */
  with(namespace: string, name: string, use: (object: T | undefined) => void): Promise<void> | undefined {
    const object = this.#followed.get(namespace, name);
    if (object === undefined) return this.#objects.find(this.#resource, namespace, name).then(use);
    use(object);
    return undefined;
  }
}
