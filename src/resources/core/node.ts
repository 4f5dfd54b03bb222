import { column, define, nameColumn } from '../define.ts';
import { nodeCells } from './node-cells.ts';

export const nodes = define({
  group: '',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
  shortNames: ['no'],
  versions: [{ version: 'v1', type: 'core/v1.Node' }],
  emptyStatus: {},
  table: {
    columns: [
      nameColumn(),
      column('Status'),
      column('Roles'),
      column('Age'),
      column('Version'),
      column('Internal-IP', 1),
      column('External-IP', 1),
      column('OS-Image', 1),
      column('Kernel-Version', 1),
      column('Container-Runtime', 1),
    ],
    cells: nodeCells,
  },
  fields: {
    paths: {
      'spec.unschedulable': ['spec.unschedulable'],
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    // A node agent registers its node with the status it has.
    prepareForCreate: () => {},
  },
});
