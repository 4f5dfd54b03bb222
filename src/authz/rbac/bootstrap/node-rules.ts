import { allow, READ, type RuleData } from './shape.ts';

/**
 * The rights of every node: the ClusterRole system:node, which is bound to nobody, and the fallback rules of the Node authorizer.
 * The Node authorizer and admission restrict a node to its own objects.
 */
export const NODE_RULES: readonly RuleData[] = [
  allow('create', 'authentication.k8s.io', 'tokenreviews'),
  allow('create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'),
  allow(READ, 'core', 'services'),
  allow(`create ${READ}`, 'core', 'nodes'),
  allow('update patch', 'core', 'nodes/status'),
  allow('update patch', 'core', 'nodes'),
  allow('create update patch', 'core', 'events'),
  allow(READ, 'core', 'pods'),
  // Mirror pods of static pods.
  allow('create delete', 'core', 'pods'),
  allow('update patch', 'core', 'pods/status'),
  allow('create', 'core', 'pods/eviction'),
  allow(READ, 'core', 'secrets configmaps'),
  allow('get', 'core', 'persistentvolumeclaims persistentvolumes'),
  allow('get', 'core', 'endpoints'),
  allow(`create ${READ}`, 'certificates.k8s.io', 'certificatesigningrequests'),
  allow('get create update patch delete', 'coordination.k8s.io', 'leases'),
  allow('get', 'storage.k8s.io', 'volumeattachments'),
  allow('create', 'core', 'serviceaccounts/token'),
  allow('get update patch', 'core', 'persistentvolumeclaims/status'),
  allow(READ, 'storage.k8s.io', 'csidrivers'),
  allow('get create update patch delete', 'storage.k8s.io', 'csinodes'),
  allow(READ, 'node.k8s.io', 'runtimeclasses'),
  allow('get', 'resource.k8s.io', 'resourceclaims', { gate: 'DynamicResourceAllocation' }),
  allow('deletecollection', 'resource.k8s.io', 'resourceslices', { gate: 'DynamicResourceAllocation' }),
  allow(READ, 'certificates.k8s.io', 'clustertrustbundles', { gate: 'ClusterTrustBundle' }),
];
