import { API_SERVICE_GROUP, builtInPriority, CUSTOM_PRIORITY } from './group-priorities.ts';
import { compareVersions, type Registry, type ServedGroup } from './registry.ts';
import type { RemoteApi } from './remote-apis.ts';

/**
 * The groups of this server and of others in the order of clients' preference (Kubernetes: kube-aggregator,
 * SortedByGroupAndVersion). Without other servers it is the order of the registry.
 */
export function allGroups(
  registry: Pick<Registry, 'groups' | 'resources'>,
  remote: readonly RemoteApi[],
): ServedGroup[] {
  const own = registry.groups();
  if (remote.length === 0) return own;
  const ranked = new Map<string, Ranked>();
  for (const { group, versions } of own)
    for (const version of versions) add(ranked, { group, version, ...ownPriority(registry, group, version) });
  for (const { group, version, groupPriority, versionPriority } of remote)
    add(ranked, { group, version, priority: groupPriority, versionPriority });
  return [...ranked]
    .sort(([a, left], [b, right]) => right.priority - left.priority || byName(a, b, right.priority))
    .map(([group, { versions }]) => ({ group, versions: inOrder(versions) }));
}

interface Ranked {
  /** The highest of its versions. */
  priority: number;
  readonly versions: Map<string, number>;
}

interface RankedVersion {
  readonly group: string;
  readonly version: string;
  readonly priority: number;
  readonly versionPriority: number;
}

function add(
  ranked: Map<string, Ranked>,
  { group, version, priority, versionPriority }: RankedVersion,
): void {
  const known = ranked.get(group);
  if (known === undefined) ranked.set(group, { priority, versions: new Map([[version, versionPriority]]) });
  else {
    known.priority = Math.max(known.priority, priority);
    known.versions.set(version, versionPriority);
  }
}

function ownPriority(
  registry: Pick<Registry, 'resources'>,
  group: string,
  version: string,
): { priority: number; versionPriority: number } {
  // API services come first, because no API service gives their own priority.
  if (group === API_SERVICE_GROUP) return { priority: Number.POSITIVE_INFINITY, versionPriority: 0 };
  const isBuiltIn = registry
    .resources(group, version)
    .some(({ definition }) => definition.custom === undefined);
  const own = isBuiltIn ? builtInPriority(group, version) : CUSTOM_PRIORITY;
  return { priority: own.group, versionPriority: own.version };
}

/** Built-in groups of the same priority keep their order. */
const byName = (a: string, b: string, priority: number): number =>
  priority > CUSTOM_PRIORITY.group ? 0 : a < b ? -1 : 1;

const inOrder = (versions: ReadonlyMap<string, number>): string[] =>
  [...versions]
    .sort(([a, left], [b, right]) => right - left || compareVersions(a, b))
    .map(([version]) => version);
