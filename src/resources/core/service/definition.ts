import type { Service } from '../../../api/types/core/v1.ts';
import { serviceProxy } from '../../connect/proxies.ts';
import { define } from '../../define.ts';
import { keepStatus, loadBalancerStatusView, resetLoadBalancerStatus } from '../../load-balancer-status.ts';
import { checked, checkedUpdate } from '../../rules/checked.ts';
import { endpoints } from '../endpoints.ts';
import { serviceValues } from './assignment.ts';
import { defaultIpModes, setDefaults } from './defaults.ts';
import { dropUnusedByType } from './preparation.ts';
import { table } from './table.ts';
import { validate, validateStatus } from './validate.ts';
import { validateUpdate } from './validate-update.ts';
import { warnings } from './warnings.ts';

export const services = define<Service>({
  group: '',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.Service' }],
  subresources: [
    serviceProxy,
    loadBalancerStatusView<Service>({
      served: { group: '', version: 'v1', kind: 'Service' },
      type: 'core/v1.Service',
      defaults: defaultIpModes,
      validate: checked(validateStatus),
    }),
  ],
  table,
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
    allowCreateOnUpdate: true,
    returnsDeletedObject: true,
    defaults: setDefaults,
    assigned: serviceValues,
    prepareForCreate: resetLoadBalancerStatus,
    prepareForUpdate: (service, old) => {
      keepStatus(service, old);
      dropUnusedByType(service, old);
    },
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});
