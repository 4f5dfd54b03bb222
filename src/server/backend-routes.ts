import type { GroupResource } from '../api/names.ts';
import type { Route } from '../storage/routed-store.ts';
import type { Store } from '../storage/store.ts';
import type { MovedRoutes } from './moved-routes.ts';

/** A cache of current state. */
interface CachedStore extends Store {
  /** The same objects, always read from the log. Absent where all resources are in memory. */
  readonly uncached: Store | undefined;
}

export interface Cached {
  readonly cache: CachedStore;
}

/** BackendRoutes finds the database of a resource: the one to which it has moved, or else the one that flags name. */
export class BackendRoutes<Backend extends Cached> {
  readonly #moved: Pick<MovedRoutes<Backend>, 'presentOf' | 'routeOf'>;
  readonly #flagged: (resource: GroupResource) => Backend;

  constructor(
    moved: Pick<MovedRoutes<Backend>, 'presentOf' | 'routeOf'>,
    flagged: (resource: GroupResource) => Backend,
  ) {
    this.#moved = moved;
    this.#flagged = flagged;
  }

  /** Returns a promise while the database to which the resource has moved is being opened. */
  routeOf(resource: GroupResource): Backend | Promise<Backend> {
    return this.#moved.routeOf(resource) ?? this.#flagged(resource);
  }

  /** While the database to which the resource has moved is being opened, returns the one before. */
  presentOf(resource: GroupResource): Backend {
    return this.#moved.presentOf(resource) ?? this.#flagged(resource);
  }

  /** Routes to the store that `choose` makes of the cache of a resource. */
  storeBy(choose: (cache: CachedStore, resource: GroupResource) => Store): Route {
    return (resource) => {
      const route = this.routeOf(resource);
      return route instanceof Promise
        ? route.then(({ cache }) => choose(cache, resource))
        : choose(route.cache, resource);
    };
  }
}
