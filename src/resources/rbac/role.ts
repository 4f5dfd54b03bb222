import { column, define, nameColumn } from '../define.ts';

export const roles = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'roles',
  kind: 'Role',
  namespaced: true,
  versions: [{ version: 'v1', type: 'rbac/v1.Role' }],
  table: {
    columns: [nameColumn(), column('Created At')],
    cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ''],
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
  },
});
