import { type GroupResource, toResourceKey } from '../api/names.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Registry } from '../registry/registry.ts';
import { includes, type ResourceSet } from '../storage/resource-set.ts';
import type { Committer, RevisionLog } from '../storage/revision-log.ts';
import { RoutedStore } from '../storage/routed-store.ts';
import type { Store } from '../storage/store.ts';
import { WatchCache } from '../storage/watch-cache/watch-cache.ts';
import type { BackendRoutes, Cached } from './backend-routes.ts';

interface CacheParts {
  readonly log: RevisionLog;
  readonly registry: Registry;
  /** Whose objects are in memory; undefined: all. */
  readonly kept: ResourceSet | undefined;
  /** Whether an object stored as this media type (undefined: JSON) would now be stored as another. */
  isOutdated(resource: GroupResource, storedAs: string | undefined): boolean | Promise<boolean>;
  /** Another thread compresses the objects. */
  readonly isFollower?: boolean;
}

/** Creates the cache of one database. */
export const createCache = ({
  log,
  registry,
  kept,
  isOutdated,
  isFollower = false,
}: CacheParts): WatchCache =>
  new WatchCache({
    ...{ committer: log.committer, feed: log.feed, reader: log.reader, isOutdated },
    fieldsOf: (resource) => {
      const definition = registry.findStorage(resource);
      return definition === undefined || definition.custom !== undefined
        ? () => ({})
        : definition.fields.read;
    },
    ...(kept === undefined ? {} : { kept }),
    ...(isFollower ? { compression: { isElsewhere: true } } : {}),
  });

/** A database by its resources; undefined: all that are in no other. */
interface Routed {
  readonly resources: readonly GroupResource[] | undefined;
}

/** Finds the database of a resource: the first, unless another one claims it. */
export function routeByResource<One extends Routed>(
  databases: readonly One[],
): (resource: GroupResource) => One {
  const byResource = new Map(
    databases.flatMap((one) =>
      (one.resources ?? []).map((resource) => [toResourceKey(resource), one] as const),
    ),
  );
  const [first] = databases;
  return (resource) => {
    const found = byResource.get(toResourceKey(resource)) ?? first;
    if (found === undefined) throw new Error('there is no database');
    return found;
  };
}

/** The store for clients: reads some resources from the log. */
export const uncachedWhere = (uncached: ResourceSet, routes: Pick<BackendRoutes<Cached>, 'storeBy'>): Store =>
  new RoutedStore(
    routes.storeBy((cache, resource) => (includes(uncached, resource) ? (cache.uncached ?? cache) : cache)),
  );

/** Traces each write into the log, including the wait for its batch. */
export const traceCommits = (committer: Committer, tracing: Tracing): Committer => ({
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
