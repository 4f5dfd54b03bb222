import { column, define, nameColumn } from '../define.ts';

export const clusterroles = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRole' }],
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
