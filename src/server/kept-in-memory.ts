import type { GroupResource } from '../api/names.ts';
import type { StorageOptions } from '../options/storage.ts';
import { MOVES } from '../storage/moves.ts';
import { includes, type ResourceSet } from '../storage/resource-set.ts';

const inGroup = (group: string, ...resources: readonly string[]): GroupResource[] =>
  resources.map((resource) => ({ group, resource }));

/**
 * Resources that the server itself reads at each request: for authorization, admission, defaults and discovery. Without a watch
 * cache they stay in memory, as in the informers of kube-apiserver; clients read from the log.
 */
const OWN: readonly GroupResource[] = [
  ...inGroup('', 'namespaces', 'serviceaccounts', 'limitranges', 'resourcequotas'),
  ...inGroup('rbac.authorization.k8s.io', 'roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'),
  ...inGroup(
    'admissionregistration.k8s.io',
    ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    ...['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
  ),
  ...inGroup('apiextensions.k8s.io', 'customresourcedefinitions'),
  ...inGroup('apiregistration.k8s.io', 'apiservices'),
  ...inGroup('flowcontrol.apiserver.k8s.io', 'flowschemas', 'prioritylevelconfigurations'),
  ...inGroup('scheduling.k8s.io', 'priorityclasses'),
  ...inGroup('node.k8s.io', 'runtimeclasses'),
  ...inGroup('storage.k8s.io', 'storageclasses'),
  ...inGroup('networking.k8s.io', 'ingressclasses'),
  MOVES,
];

/** How resources are read, by --watch-cache and --watch-cache-sizes. */
interface Caching {
  /** Whose objects are in memory; undefined: all. */
  readonly kept: ResourceSet | undefined;
  /** Resources that clients read from the log. */
  readonly uncached: ResourceSet;
}

/** `toStored`: the storage of a resource. */
export function planCaching(
  { watchCache, uncached }: Pick<StorageOptions, 'watchCache' | 'uncached'>,
  toStored: (resource: GroupResource) => GroupResource,
): Caching {
  if (!watchCache)
    return { kept: { kind: 'only', resources: OWN }, uncached: { kind: 'except', resources: [] } };
  const resources = uncached.map(toStored);
  if (resources.length === 0) return { kept: undefined, uncached: { kind: 'only', resources } };
  const own: ResourceSet = { kind: 'only', resources: OWN };
  const released = resources.filter((resource) => !includes(own, resource));
  return { kept: { kind: 'except', resources: released }, uncached: { kind: 'only', resources } };
}
