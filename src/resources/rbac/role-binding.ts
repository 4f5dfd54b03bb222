import { define } from '../define.ts';
import { bindingStrategy, bindingTable } from './binding.ts';

export const rolebindings = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
  versions: [{ version: 'v1', type: 'rbac/v1.RoleBinding' }],
  table: bindingTable,
  strategy: bindingStrategy(['Role', 'ClusterRole']),
});
