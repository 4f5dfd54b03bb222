import type { Namespace } from '../api/types/core/v1.ts';
import { type Finding, withCondition } from '../object/conditions.ts';

/** What a namespace that is being deleted still holds. */
export interface Leftovers {
  /** How many objects are left, by resource, such as `pods.` or `deployments.apps`. */
  readonly resources: ReadonlyMap<string, number>;
  /** How many objects each finalizer keeps. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Why objects could not be deleted. */
  readonly failures: readonly string[];
  /** Group versions of other servers whose objects could not be listed, each with the reason. */
  readonly unknown: readonly string[];
}

/** A condition with its reason and message for the good case. */
interface Kind {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Undefined: all is well. */
  readonly trouble: (leftovers: Leftovers) => Pick<Finding, 'reason' | 'message'> | undefined;
}

/** In the order and the words of Kubernetes (controller/namespace/deletion/status_condition_utils.go). */
const KINDS: readonly Kind[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
    trouble: ({ unknown }) =>
      unknown.length === 0
        ? undefined
        : {
            reason: 'DiscoveryFailed',
            message: `Discovery failed for some groups, ${unknown.length} failing: unable to retrieve the complete list of server APIs: ${unknown.join(', ')}`,
          },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
    trouble: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
    trouble: ({ failures }) =>
      failures.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
          },
  },
  {
    type: 'NamespaceContentRemaining',
    reason: 'ContentRemoved',
    message: 'All content successfully removed',
    trouble: ({ resources }) =>
      resources.size === 0
        ? undefined
        : {
            reason: 'SomeResourcesRemain',
            message: `Some resources are remaining: ${toList(resources, (count) => `has ${count}`)}`,
          },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    reason: 'ContentHasNoFinalizers',
    message: 'All content-preserving finalizers finished',
    trouble: ({ finalizers }) =>
      finalizers.size === 0
        ? undefined
        : {
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${toList(finalizers, (count) => `in ${count}`)}`,
          },
  },
];

const toList = (counts: ReadonlyMap<string, number>, say: (count: number) => string): string =>
  [...counts]
    .map(([name, count]) => `${name} ${say(count)} resource instances`)
    .sort()
    .join(', ');

/** Returns the same object if it says so already, or if nothing was ever left: most namespaces are gone at once. */
export function withLeftovers(namespace: Namespace, leftovers: Leftovers, time: string): Namespace {
  const before = namespace.status?.conditions ?? [];
  const findings = KINDS.map(({ type, trouble, ...well }): Finding => {
    const found = trouble(leftovers);
    return { type, status: found === undefined ? 'False' : 'True', ...(found ?? well) };
  });
  const isWell = findings.every(({ status }) => status === 'False');
  if (isWell && !before.some(({ type }) => KINDS.some((kind) => kind.type === type))) return namespace;
  let conditions: readonly (typeof before)[number][] = before;
  for (const finding of findings)
    conditions = withCondition(conditions, finding, time) as readonly (typeof before)[number][];
  return conditions === before
    ? namespace
    : { ...namespace, status: { ...namespace.status, conditions: [...conditions] } };
}
