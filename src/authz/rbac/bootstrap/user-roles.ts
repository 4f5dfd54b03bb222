import {
  allow,
  allowPaths,
  clusterRole,
  READ,
  READ_WRITE,
  type RoleData,
  type RuleData,
  WRITE,
} from './role-notation.ts';

/** ClusterRoles for people: everything, discovery alone, and three levels of rights in a namespace. */

const DEVICES = { gate: 'DynamicResourceAllocation', since: 33 } as const;

const EDITED =
  'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale ' +
  'secrets serviceaccounts services services/proxy';

const SEEN =
  'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status ' +
  'resourcequotas resourcequotas/status';

const EDIT: readonly RuleData[] = [
  // Reading these gives power over others, so viewers may not.
  allow(READ, 'core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  allow('impersonate', 'core', 'serviceaccounts'),
  allow(WRITE, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
  allow('create', 'core', 'pods/eviction'),
  // Without endpoints: who writes them can send the traffic of others elsewhere (CVE-2021-25740).
  allow(WRITE, 'core', `${EDITED} events`, { until: 35 }),
  allow(WRITE, 'core', EDITED, { since: 35 }),
  allow('create', 'core', 'serviceaccounts/token'),
  allow(WRITE, 'core events.k8s.io', 'events', { since: 35 }),
  allow(
    WRITE,
    'apps',
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ),
  allow(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
  allow(WRITE, 'batch', 'cronjobs jobs'),
  allow(
    WRITE,
    'extensions',
    'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets ' +
      'replicasets/scale replicationcontrollers/scale',
  ),
  allow(WRITE, 'policy', 'poddisruptionbudgets'),
  allow(WRITE, 'networking.k8s.io', 'ingresses networkpolicies'),
  allow(READ_WRITE, 'coordination.k8s.io', 'leases'),
  allow(WRITE, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates', DEVICES),
];

const VIEW: readonly RuleData[] = [
  allow(
    READ,
    'core',
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers ' +
      'replicationcontrollers/scale serviceaccounts services services/status',
  ),
  allow(READ, 'core', `${SEEN} events`, { until: 35 }),
  allow(READ, 'core', SEEN, { since: 35 }),
  // Bound in a namespace, this means the namespace itself.
  allow(READ, 'core', 'namespaces'),
  allow(READ, 'core events.k8s.io', 'events', { since: 35 }),
  allow(READ, 'discovery.k8s.io', 'endpointslices'),
  allow(
    READ,
    'apps',
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status ' +
      'replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ),
  allow(READ, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  allow(READ, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
  allow(
    READ,
    'extensions',
    'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status ' +
      'networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
  ),
  allow(READ, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
  allow(READ, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
  allow(READ, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates', DEVICES),
];

export const USER_ROLES: readonly RoleData[] = [
  clusterRole('cluster-admin', [allow('*', '*', '*'), allowPaths('*', '*')]),
  clusterRole('system:discovery', [
    allowPaths(
      'get',
      '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/',
    ),
  ]),
  clusterRole('system:monitoring', [
    allowPaths('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
    allow('get', 'core', 'nodes/metrics', { since: 34 }),
    allowPaths('get', '/flagz', { gate: 'ComponentFlagz', since: 32 }),
    allowPaths('get', '/statusz', { gate: 'ComponentStatusz', since: 32 }),
  ]),
  clusterRole('system:basic-user', [
    allow('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    allow('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  // Which rows a client sees depends on what it may read now.
  clusterRole('system:history', [
    allow('get list watch', 'history.cluster.io', 'revisions'),
    allow('get', 'history.cluster.io', 'blames revisions/why timelines'),
    allow('create', 'history.cluster.io', 'restores'),
  ]),
  clusterRole('system:public-info-viewer', [allowPaths('get', '/healthz /livez /readyz /version /version/')]),
  clusterRole('admin', [], { gathers: 'admin' }),
  clusterRole('edit', [], { gathers: 'edit', partOf: 'admin' }),
  clusterRole('view', [], { gathers: 'view', partOf: 'edit' }),
  clusterRole(
    'system:aggregate-to-admin',
    [
      allow('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
      allow(READ_WRITE, 'rbac.authorization.k8s.io', 'rolebindings roles'),
    ],
    { partOf: 'admin' },
  ),
  clusterRole('system:aggregate-to-edit', EDIT, { partOf: 'edit' }),
  clusterRole('system:aggregate-to-view', VIEW, { partOf: 'view' }),
];
