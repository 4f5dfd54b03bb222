import { define } from '../define.ts';
import { bindingTable, validateBinding, validateBindingUpdate } from './binding.ts';
import { defaultSubjects } from './subjects.ts';

export const clusterrolebindings = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRoleBinding' }],
  table: bindingTable,
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaults: defaultSubjects,
    validate: (binding) => validateBinding(binding, ['ClusterRole']),
    validateUpdate: validateBindingUpdate,
  },
});
