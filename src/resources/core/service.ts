import { serviceProxy } from '../connect/proxies.ts';
import { column, define, nameColumn } from '../define.ts';
import { keepStatus, loadBalancerStatusView, resetLoadBalancerStatus } from '../load-balancer-status.ts';
import { endpoints } from './endpoints.ts';
import { serviceValues } from './service-assignment.ts';
import { serviceCells } from './service-cells.ts';
import { defaultIpModes, defaultService } from './service-defaults.ts';
import { dropUnusedByType } from './service-update.ts';
import { serviceWarnings } from './service-warnings.ts';
import { validateService } from './validation/service.ts';
import { validateServiceStatus } from './validation/service-status.ts';
import { validateServiceUpdate } from './validation/service-update.ts';

export const services = define({
  group: '',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.Service' }],
  subresources: [
    serviceProxy,
    loadBalancerStatusView({
      served: { group: '', version: 'v1', kind: 'Service' },
      type: 'core/v1.Service',
      defaults: defaultIpModes,
      validate: validateServiceStatus,
    }),
  ],
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
  // Or a later service of the same name would begin with the addresses of this one.
  removedAlong: [endpoints],
  strategy: {
    nameRule: 'dns-1035-label',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: defaultService,
    assigned: serviceValues,
    prepareForCreate: resetLoadBalancerStatus,
    prepareForUpdate: (service, old) => {
      keepStatus(service, old);
      dropUnusedByType(service, old);
    },
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    warnings: serviceWarnings,
  },
});
