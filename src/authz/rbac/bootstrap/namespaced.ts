import {
  allow,
  type BindingData,
  EVENTS,
  READ,
  type RoleData,
  role,
  serviceAccounts,
  users,
} from './shape.ts';

/** Roles and RoleBindings in the namespaces of the system. */

const SYSTEM = 'kube-system';
const PUBLIC = 'kube-public';

const leaderLocking = (component: string): RoleData =>
  role(SYSTEM, `system::leader-locking-${component}`, [
    allow('watch', 'core', 'configmaps'),
    allow('get update', 'core', 'configmaps', { names: component }),
    allow(`${READ} create update`, 'coordination.k8s.io', 'leases'),
    allow(`${READ} create update`, 'coordination.k8s.io', 'leasecandidates'),
  ]);

export const NAMESPACED_ROLES: readonly RoleData[] = [
  role(SYSTEM, 'extension-apiserver-authentication-reader', [
    allow(READ, 'core', 'configmaps', { names: 'extension-apiserver-authentication' }),
  ]),
  role(SYSTEM, 'system:controller:bootstrap-signer', [allow(READ, 'core', 'secrets')]),
  role(SYSTEM, 'system:controller:cloud-provider', [allow(`create ${READ}`, 'core', 'configmaps')]),
  role(SYSTEM, 'system:controller:token-cleaner', [allow(`${READ} delete`, 'core', 'secrets'), EVENTS]),
  leaderLocking('kube-controller-manager'),
  leaderLocking('kube-scheduler'),
  role(PUBLIC, 'system:controller:bootstrap-signer', [
    allow(READ, 'core', 'configmaps'),
    allow('update', 'core', 'configmaps', { names: 'cluster-info' }),
    EVENTS,
  ]),
];

const ofServiceAccount = (namespace: string, name: string): BindingData => ({
  namespace,
  name: `system:controller:${name}`,
  role: `system:controller:${name}`,
  subjects: serviceAccounts(SYSTEM, name),
});

const ofLeader = (component: string, accounts: string): BindingData => ({
  namespace: SYSTEM,
  name: `system::leader-locking-${component}`,
  role: `system::leader-locking-${component}`,
  subjects: [...users(`system:${component}`), ...serviceAccounts(SYSTEM, accounts)],
});

export const NAMESPACED_BINDINGS: readonly BindingData[] = [
  {
    namespace: SYSTEM,
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: users('system:kube-controller-manager system:kube-scheduler'),
  },
  ofLeader('kube-controller-manager', 'kube-controller-manager leader-election-controller'),
  ofLeader('kube-scheduler', 'kube-scheduler'),
  ofServiceAccount(SYSTEM, 'bootstrap-signer'),
  ofServiceAccount(SYSTEM, 'cloud-provider'),
  ofServiceAccount(SYSTEM, 'token-cleaner'),
  ofServiceAccount(PUBLIC, 'bootstrap-signer'),
];
