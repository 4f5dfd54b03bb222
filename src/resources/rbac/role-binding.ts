import { define } from '../define.ts';
import { bindingTable, validateBinding, validateBindingUpdate } from './binding.ts';
import { defaultSubjects } from './subjects.ts';

export const rolebindings = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
  versions: [{ version: 'v1', type: 'rbac/v1.RoleBinding' }],
  table: bindingTable,
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaults: defaultSubjects,
    validate: (binding) => validateBinding(binding, ['Role', 'ClusterRole']),
    validateUpdate: validateBindingUpdate,
  },
});
