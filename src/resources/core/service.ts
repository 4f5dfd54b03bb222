import { column, define, nameColumn } from '../define.ts';
import { serviceCells } from './service-cells.ts';
import { defaultService } from './service-defaults.ts';

export const services = define({
  group: '',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.Service' }],
  emptyStatus: { loadBalancer: {} },
  table: {
    columns: [
      nameColumn(),
      column('Type'),
      column('Cluster-IP'),
      column('External-IP'),
      column('Port(s)'),
      column('Age'),
      column('Selector', 1),
    ],
    cells: serviceCells,
  },
  fields: {
    paths: {
      'spec.clusterIP': ['spec.clusterIP'],
      'spec.type': ['spec.type'],
    },
  },
  strategy: {
    nameRule: 'dns-1035-label',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: defaultService,
  },
});
