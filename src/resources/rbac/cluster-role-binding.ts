import { age, part, text } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultSubjects } from './subjects.ts';

export const clusterrolebindings = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRoleBinding' }],
  table: {
    columns: [nameColumn(), column('Role'), column('Age')],
    cells: (binding, now) => {
      const role = part(binding, 'roleRef');
      return [binding.metadata.name ?? '', `${text(role.kind)}/${text(role.name)}`, age(binding, now)];
    },
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaults: defaultSubjects,
  },
});
