import { expect, test } from 'vitest';
import type { Namespace } from '../../src/api/types/core/v1.ts';
import { type Leftovers, withLeftovers } from '../../src/controllers/namespace-conditions.ts';

/** The words of a controller manager: where both of them work, neither corrects the other. */

const TIME = '2026-01-01T00:00:00Z';
const namespace: Namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' } };

const linesOf = (before: Namespace, leftovers: Partial<Leftovers>): readonly string[] =>
  (
    withLeftovers(
      before,
      { resources: new Map(), finalizers: new Map(), failures: [], unknown: [], ...leftovers },
      TIME,
    ).status?.conditions ?? []
  ).map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);

const KEPT = {
  resources: new Map([
    ['pods.', 2],
    ['deployments.apps', 1],
  ]),
  finalizers: new Map([['example.com/keep', 2]]),
};

test('conditions name what is left, by resource and by finalizer', () => {
  expect(linesOf(namespace, KEPT)).toEqual([
    'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
    'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
    'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
    'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/keep in 2 resource instances',
  ]);
});

test('and when nothing is left any more, that too', () => {
  const before = withLeftovers(namespace, { ...KEPT, failures: [], unknown: [] }, TIME);
  expect(linesOf(before, {}).slice(3)).toEqual([
    'NamespaceContentRemaining False ContentRemoved: All content successfully removed',
    'NamespaceFinalizersRemaining False ContentHasNoFinalizers: All content-preserving finalizers finished',
  ]);
});
