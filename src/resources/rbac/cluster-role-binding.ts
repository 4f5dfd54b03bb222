import { define } from '../define.ts';
import { bindingStrategy, bindingTable } from './binding.ts';

export const clusterrolebindings = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRoleBinding' }],
  table: bindingTable,
  strategy: bindingStrategy(['ClusterRole']),
});
