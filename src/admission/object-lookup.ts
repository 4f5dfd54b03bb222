import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { ClusterObjects, FollowedObjects } from './cluster-objects.ts';
import type { ForeseenObjects } from './foreseen.ts';

/** Finds objects by name in the cache, and asks the store only for those that the cache lacks. */
export class ObjectLookup<T extends ApiObject> {
  readonly #objects: ClusterObjects;
  readonly #resource: ResourceOf<T>;
  readonly #followed: FollowedObjects<T>;

  constructor(objects: ClusterObjects, resource: ResourceOf<T>) {
    this.#objects = objects;
    this.#resource = resource;
    this.#followed = objects.follow(resource);
  }

  /** No promise when the object is in the cache, as it nearly always is. `use` gets undefined when there is no object. */
  with(
    namespace: string,
    name: string,
    use: (object: T | undefined) => void,
    foreseen?: ForeseenObjects,
  ): Promise<void> | undefined {
    const object = this.#followed.get(namespace, name);
    if (object === undefined)
      return this.#objects
        .find(this.#resource, namespace, name)
        .then((found) => use(found ?? foreseen?.find(this.#resource, namespace, name)));
    use(object);
    return undefined;
  }
}
