import type { ApiObject } from '../../api/object-meta.ts';
import {
  clusterResources,
  EVERYTHING,
  exemptLevel,
  flowSchema,
  groups,
  limitedLevel,
  paths,
  resources,
  systemAccounts,
  users,
} from './shape.ts';

/**
 * The flow schemas and priority levels of a fresh Kubernetes 1.31 cluster. Without the mandatory ones the server could not
 * be reached by whoever would repair it; the suggested ones keep the parts of a cluster from starving each other.
 */
export interface BootstrapObjects {
  readonly levels: readonly ApiObject[];
  readonly schemas: readonly ApiObject[];
}

const EVERYBODY = 'system:unauthenticated system:authenticated';

export const MANDATORY: BootstrapObjects = {
  levels: [limitedLevel('catch-all', 5, 0), exemptLevel('exempt')],
  schemas: [
    flowSchema('exempt', {
      level: 'exempt',
      precedence: 1,
      subjects: groups('system:masters'),
      ...EVERYTHING,
    }),
    flowSchema('catch-all', {
      level: 'catch-all',
      precedence: 10_000,
      distinguisher: 'ByUser',
      subjects: groups(EVERYBODY),
      ...EVERYTHING,
    }),
  ],
};

/** How a leader is elected. */
const LEAD = 'get create update';
const LEASES = resources(LEAD, 'coordination.k8s.io', 'leases');
const LEADER = { level: 'leader-election', distinguisher: 'ByUser' } as const;
const CONTROLLER = { level: 'workload-high', distinguisher: 'ByNamespace', ...EVERYTHING } as const;

export const SUGGESTED: BootstrapObjects = {
  levels: [
    limitedLevel('system', 30, 33, [64, 6]),
    limitedLevel('node-high', 40, 25, [64, 6]),
    limitedLevel('leader-election', 10, 0, [16, 4]),
    limitedLevel('workload-high', 40, 50, [128, 6]),
    limitedLevel('workload-low', 100, 90, [128, 6]),
    limitedLevel('global-default', 20, 50, [128, 6]),
  ],
  schemas: [
    flowSchema('probes', {
      level: 'exempt',
      precedence: 2,
      subjects: groups(EVERYBODY),
      pathRules: [paths('get', '/healthz /readyz /livez')],
    }),
    flowSchema('system-leader-election', {
      ...LEADER,
      precedence: 100,
      subjects: [...users('system:kube-controller-manager system:kube-scheduler'), ...systemAccounts('*')],
      resourceRules: [LEASES],
    }),
    flowSchema('endpoint-controller', {
      level: 'workload-high',
      precedence: 150,
      distinguisher: 'ByUser',
      subjects: [
        ...users('system:kube-controller-manager'),
        ...systemAccounts('endpoint-controller endpointslicemirroring-controller'),
      ],
      resourceRules: [resources(LEAD, 'core', 'endpoints')],
    }),
    flowSchema('workload-leader-election', {
      ...LEADER,
      precedence: 200,
      subjects: systemAccounts('*'),
      resourceRules: [resources(LEAD, 'core', 'endpoints configmaps'), LEASES],
    }),
    flowSchema('system-node-high', {
      level: 'node-high',
      precedence: 400,
      distinguisher: 'ByUser',
      subjects: groups('system:nodes'),
      resourceRules: [
        clusterResources('*', 'core', 'nodes nodes/status'),
        resources('*', 'coordination.k8s.io', 'leases'),
      ],
    }),
    flowSchema('system-nodes', {
      level: 'system',
      precedence: 500,
      distinguisher: 'ByUser',
      subjects: groups('system:nodes'),
      ...EVERYTHING,
    }),
    flowSchema('kube-controller-manager', {
      ...CONTROLLER,
      precedence: 800,
      subjects: users('system:kube-controller-manager'),
    }),
    flowSchema('kube-scheduler', {
      ...CONTROLLER,
      precedence: 800,
      subjects: users('system:kube-scheduler'),
    }),
    flowSchema('kube-system-service-accounts', {
      ...CONTROLLER,
      precedence: 900,
      subjects: systemAccounts('*'),
    }),
    flowSchema('service-accounts', {
      level: 'workload-low',
      precedence: 9000,
      distinguisher: 'ByUser',
      subjects: groups('system:serviceaccounts'),
      ...EVERYTHING,
    }),
    flowSchema('global-default', {
      level: 'global-default',
      precedence: 9900,
      distinguisher: 'ByUser',
      subjects: groups(EVERYBODY),
      ...EVERYTHING,
    }),
  ],
};
