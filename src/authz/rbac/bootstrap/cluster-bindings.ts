import type { Subject } from '../policy.ts';
import { type BindingData, groups, serviceAccounts, users } from './shape.ts';

/** The ClusterRoleBindings of a fresh cluster; each has the name of its role. */

const bind = (role: string, subjects: readonly Subject[], gate?: string): BindingData => ({
  namespace: '',
  name: role,
  role,
  subjects,
  ...(gate === undefined ? {} : { gate }),
});

export const CLUSTER_BINDINGS: readonly BindingData[] = [
  bind('cluster-admin', groups('system:masters')),
  bind('system:monitoring', groups('system:monitoring')),
  bind('system:discovery', groups('system:authenticated')),
  bind('system:basic-user', groups('system:authenticated')),
  bind('system:public-info-viewer', groups('system:authenticated system:unauthenticated')),
  bind('system:node-proxier', users('system:kube-proxy')),
  bind('system:kube-controller-manager', users('system:kube-controller-manager')),
  bind('system:kube-dns', serviceAccounts('kube-system', 'kube-dns')),
  bind('system:kube-scheduler', users('system:kube-scheduler')),
  bind('system:volume-scheduler', users('system:kube-scheduler')),
  // Nodes use the Node authorizer. The binding exists for administrators who add nodes to it.
  bind('system:node', []),
  bind('system:service-account-issuer-discovery', groups('system:serviceaccounts')),
  bind('system:cluster-trust-bundle-discovery', groups('system:serviceaccounts'), 'ClusterTrustBundle'),
];
