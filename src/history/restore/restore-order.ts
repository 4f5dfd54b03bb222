import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import { getOrAdd } from '../../util/get-or-add.ts';

/**
 * The order of resources: owners before dependents, and referents before what refers to them. Quotas and limits come
 * last, because they would count or default objects that existed before them.
 */
const FIRST: readonly string[] = [
  'namespaces',
  'serviceaccounts',
  'secrets',
  'configmaps',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'networkpolicies.networking.k8s.io',
  'persistentvolumeclaims',
  'services',
];
const LAST: readonly string[] = ['limitranges', 'resourcequotas'];

const RANKS: ReadonlyMap<string, number> = new Map([
  ...FIRST.map((resource, at) => [resource, at] as const),
  ...LAST.map((resource, at) => [resource, FIRST.length + 1 + at] as const),
]);

const rankOf = (resource: GroupResource): number => RANKS.get(toQualifiedResource(resource)) ?? FIRST.length;

interface Orderable {
  readonly resource: GroupResource;
  readonly uid: string;
  readonly ownerUids: readonly string[];
}

/** Groups of objects that may be written concurrently, one group after the other. */
export function arrange<Item extends Orderable>(items: readonly Item[]): Item[][] {
  const depths = depthsOf(items);
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    const place = (depths.get(item.uid) ?? 0) * (RANKS.size + 2) + rankOf(item.resource);
    getOrAdd(groups, place, () => []).push(item);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/** The number of owners above an object in the longest chain. Objects that own each other share a depth, above all others. */
function depthsOf(items: readonly Orderable[]): ReadonlyMap<string, number> {
  const missing = new Map<string, number>(items.map(({ uid }) => [uid, 0]));
  const owned = new Map<string, string[]>();
  for (const { uid, ownerUids } of items)
    for (const owner of new Set(ownerUids)) {
      if (owner === uid || !missing.has(owner)) continue;
      missing.set(uid, (missing.get(uid) ?? 0) + 1);
      getOrAdd(owned, owner, () => []).push(uid);
    }
  const depths = new Map<string, number>();
  let ready = [...missing].filter(([, owners]) => owners === 0).map(([uid]) => uid);
  for (let depth = 0; ready.length > 0; depth += 1) {
    const next: string[] = [];
    for (const uid of ready) {
      depths.set(uid, depth);
      for (const dependent of owned.get(uid) ?? []) {
        const left = (missing.get(dependent) ?? 0) - 1;
        missing.set(dependent, left);
        if (left === 0) next.push(dependent);
      }
    }
    ready = next;
  }
  return depths;
}
