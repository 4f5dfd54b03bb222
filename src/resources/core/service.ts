import { serviceProxy } from '../connect/proxies.ts';
import { column, define, nameColumn } from '../define.ts';
import { keepStatus, loadBalancerStatusView, resetLoadBalancerStatus } from '../load-balancer-status.ts';
import { serviceCells } from './service-cells.ts';
import { defaultIpModes, defaultService } from './service-defaults.ts';
import {
  dropUnusedByType,
  keepAssigned,
  syncClusterIpsOnCreate,
  syncClusterIpsOnUpdate,
} from './service-update.ts';
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
  strategy: {
    nameRule: 'dns-1035-label',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: defaultService,
    prepareForCreate: (service) => {
      resetLoadBalancerStatus(service);
      syncClusterIpsOnCreate(service);
    },
    prepareForUpdate: (service, old) => {
      keepStatus(service, old);
      keepAssigned(service, old);
      syncClusterIpsOnUpdate(service, old);
      dropUnusedByType(service, old);
    },
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    warnings: serviceWarnings,
  },
});
