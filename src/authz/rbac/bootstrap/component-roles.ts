import {
  allow,
  allowPaths,
  clusterRole,
  EVENTS,
  READ,
  READ_UPDATE,
  READ_WRITE,
  type RoleData,
  type RuleData,
} from './role-notation.ts';

/**
 * The rights of every node: the ClusterRole system:node, which has no subjects, and the fallback rules of the Node authorizer.
 * The Node authorizer and admission restrict a node to its own objects.
 */
export const NODE_RULES: readonly RuleData[] = [
  allow('create', 'authentication.k8s.io', 'tokenreviews'),
  allow('create', 'authorization.k8s.io', 'localsubjectaccessreviews subjectaccessreviews'),
  allow(READ, 'core', 'services'),
  allow(`create ${READ}`, 'core', 'nodes'),
  allow('update patch', 'core', 'nodes/status'),
  allow('update patch', 'core', 'nodes'),
  allow('create update patch', 'core', 'events', { until: 35 }),
  { ...EVENTS, since: 35 },
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
  allow('get', 'core', 'serviceaccounts', {
    gate: 'AgentServiceAccountTokenForCredentialProviders',
    since: 33,
  }),
  allow(`create ${READ}`, 'certificates.k8s.io', 'podcertificaterequests', {
    ...{ gate: 'PodCertificateRequest', since: 34 },
  }),
];

/** The ClusterRoles of a cluster's components. */

const CERTIFICATES = 'certificates.k8s.io';
const DRA = { gate: 'DynamicResourceAllocation' };

const TOKEN_REVIEWS = allow('create', 'authentication.k8s.io', 'tokenreviews');
const ACCESS_REVIEWS = allow('create', 'authorization.k8s.io', 'subjectaccessreviews');

const CONTROLLER_MANAGER: readonly RuleData[] = [
  EVENTS,
  allow('create', 'coordination.k8s.io', 'leases'),
  allow('get update', 'coordination.k8s.io', 'leases', { names: 'kube-controller-manager' }),
  allow('create', 'core', 'secrets serviceaccounts'),
  allow('delete', 'core', 'secrets'),
  allow('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
  allow('update', 'core', 'secrets serviceaccounts'),
  TOKEN_REVIEWS,
  ACCESS_REVIEWS,
  allow('list watch', '*', '*'),
  allow('create', 'core', 'serviceaccounts/token'),
];

const SCHEDULER: readonly RuleData[] = [
  EVENTS,
  allow('create', 'coordination.k8s.io', 'leases'),
  allow('get update list watch', 'coordination.k8s.io', 'leases', { names: 'kube-scheduler' }),
  allow(READ_WRITE, 'coordination.k8s.io', 'leasecandidates'),
  allow(READ, 'core', 'nodes'),
  allow(`${READ} delete`, 'core', 'pods'),
  allow('create', 'core', 'bindings pods/binding'),
  allow('patch update', 'core', 'pods/status'),
  allow(READ, 'core', 'replicationcontrollers services'),
  allow(READ, 'apps extensions', 'replicasets'),
  allow(READ, 'apps', 'statefulsets'),
  allow(READ, 'policy', 'poddisruptionbudgets'),
  allow(READ, 'core', 'persistentvolumeclaims persistentvolumes'),
  TOKEN_REVIEWS,
  ACCESS_REVIEWS,
  allow(READ, 'storage.k8s.io', 'csinodes'),
  allow(READ, 'storage.k8s.io', 'volumeattachments'),
  allow(READ, 'core', 'namespaces'),
  allow(READ, 'storage.k8s.io', 'csidrivers'),
  allow(READ, 'storage.k8s.io', 'csistoragecapacities'),
  allow(READ, 'resource.k8s.io', 'deviceclasses', DRA),
  allow(READ_UPDATE, 'resource.k8s.io', 'resourceclaims', DRA),
  allow(READ_UPDATE, 'resource.k8s.io', 'resourceclaims/status', DRA),
  allow(READ_WRITE, 'resource.k8s.io', 'podschedulingcontexts', { ...DRA, until: 32 }),
  allow(READ, 'resource.k8s.io', 'podschedulingcontexts/status', { ...DRA, until: 32 }),
  allow(READ_UPDATE, 'core', 'pods/finalizers', { ...DRA, until: 34 }),
  allow('update', 'core', 'pods/finalizers', { ...DRA, since: 34 }),
  allow(READ, 'resource.k8s.io', 'resourceslices', DRA),
  allow('create delete', 'resource.k8s.io', 'resourceclaims', { gate: 'DRAExtendedResource', since: 34 }),
  allow(READ, 'resource.k8s.io', 'devicetaintrules', { gate: 'DRADeviceTaints', since: 33, until: 35 }),
  allow(READ, 'resource.k8s.io', 'devicetaintrules', { gate: 'DRADeviceTaintRules' }),
  allow(READ, 'scheduling.k8s.io', 'workloads', { gate: 'GenericWorkload' }),
  allow(READ, 'scheduling.k8s.io', 'podgroups', { gate: 'GenericWorkload', since: 36 }),
  allow('patch update', 'scheduling.k8s.io', 'podgroups/status', { gate: 'GenericWorkload', since: 36 }),
  allow('patch update', 'resource.k8s.io', 'resourceclaims/binding', {
    ...{ gate: 'DRAResourceClaimGranularStatusAuthorization', since: 36 },
  }),
];

const NODE_PROXIER: readonly RuleData[] = [
  allow('list watch', 'core', 'endpoints services'),
  allow(READ, 'core', 'nodes'),
  EVENTS,
  allow('list watch', 'networking.k8s.io', 'servicecidrs', { gate: 'MultiCIDRServiceAllocator' }),
  allow('list watch', 'discovery.k8s.io', 'endpointslices'),
];

/** Roles for approving the requests of one signer: the name of the role and of the signer. */
const APPROVERS: readonly (readonly [string, string])[] = [
  ['legacy-unknown', 'kubernetes.io/legacy-unknown'],
  ['kubelet-serving', 'kubernetes.io/kubelet-serving'],
  ['kube-apiserver-client', 'kubernetes.io/kube-apiserver-client'],
  ['kube-apiserver-client-kubelet', 'kubernetes.io/kube-apiserver-client-kubelet'],
];

export const COMPONENT_ROLES: readonly RoleData[] = [
  clusterRole('system:heapster', [
    allow(READ, 'core', 'events namespaces nodes pods'),
    allow(READ, 'extensions', 'deployments'),
  ]),
  clusterRole('system:node', NODE_RULES),
  clusterRole('system:node-problem-detector', [
    allow('get', 'core', 'nodes'),
    allow('patch', 'core', 'nodes/status'),
    EVENTS,
  ]),
  clusterRole('system:kubelet-api-admin', [
    allow(READ, 'core', 'nodes'),
    allow('proxy', 'core', 'nodes'),
    allow('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
    allow('*', 'core', 'nodes/configz nodes/healthz nodes/pods', {
      gate: 'AgentFineGrainedAuthz',
      since: 32,
    }),
  ]),
  clusterRole('system:node-bootstrapper', [
    allow(`create ${READ}`, CERTIFICATES, 'certificatesigningrequests'),
  ]),
  clusterRole('system:auth-delegator', [TOKEN_REVIEWS, ACCESS_REVIEWS]),
  clusterRole('system:kube-aggregator', [allow(READ, 'core', 'endpoints services')]),
  clusterRole('system:kube-controller-manager', CONTROLLER_MANAGER),
  clusterRole('system:kube-dns', [allow('list watch', 'core', 'endpoints services')]),
  clusterRole('system:persistent-volume-provisioner', [
    allow(`${READ} create delete`, 'core', 'persistentvolumes'),
    allow(`${READ} update`, 'core', 'persistentvolumeclaims'),
    allow(READ, 'storage.k8s.io', 'storageclasses'),
    allow('watch', 'core', 'events'),
    EVENTS,
  ]),
  ...['nodeclient', 'selfnodeclient'].map((kind) =>
    clusterRole(`system:certificates.k8s.io:certificatesigningrequests:${kind}`, [
      allow('create', CERTIFICATES, `certificatesigningrequests/${kind}`),
    ]),
  ),
  clusterRole('system:volume-scheduler', [
    allow(READ_UPDATE, 'core', 'persistentvolumes'),
    allow(READ, 'storage.k8s.io', 'storageclasses'),
    allow(READ_UPDATE, 'core', 'persistentvolumeclaims'),
  ]),
  ...APPROVERS.map(([name, signer]) =>
    clusterRole(`system:certificates.k8s.io:${name}-approver`, [
      allow('approve', CERTIFICATES, 'signers', { names: signer }),
    ]),
  ),
  clusterRole('system:service-account-issuer-discovery', [
    // Also with a slash at the end, as clients generated from the OpenAPI document write it.
    allowPaths(
      'get',
      '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
    ),
  ]),
  clusterRole('system:node-proxier', NODE_PROXIER),
  clusterRole('system:kube-scheduler', SCHEDULER),
  clusterRole('system:cluster-trust-bundle-discovery', [allow(READ, CERTIFICATES, 'clustertrustbundles')], {
    gate: 'ClusterTrustBundle',
  }),
];
