import { type GroupResource, toQualifiedResource } from '../../api/names.ts';

/**
 * The order in which objects are written: definitions, namespaces, then what others refer to, owners before their dependents. What
 * is not named comes between the two lists.
 */
const FIRST = [
  'customresourcedefinitions.apiextensions.k8s.io',
  'namespaces',
  'priorityclasses.scheduling.k8s.io',
  'storageclasses.storage.k8s.io',
  'serviceaccounts',
  'secrets',
  'configmaps',
  'clusterroles.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'persistentvolumes',
  'persistentvolumeclaims',
  'servicecidrs.networking.k8s.io',
  'nodes',
  'services',
];
const LAST = [
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'cronjobs.batch',
  'replicationcontrollers',
  'controllerrevisions.apps',
  'replicasets.apps',
  'jobs.batch',
  'pods',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'leases.coordination.k8s.io',
  'events',
  // Their servers and webhooks run in pods.
  'apiservices.apiregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
];

const RANKS: ReadonlyMap<string, number> = new Map([
  ...FIRST.map((name, at) => [name, at] as const),
  ...LAST.map((name, at) => [name, FIRST.length + 1 + at] as const),
]);

export const rankOf = (resource: GroupResource): number =>
  RANKS.get(toQualifiedResource(resource)) ?? FIRST.length;
