import { part } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { strings } from '../validation/values.ts';
import { validateServiceCidr, validateServiceCidrUpdate } from './validation/service-cidr.ts';

export const servicecidrs = define({
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  namespaced: false,
  versions: [{ version: 'v1beta1', type: 'networking/v1beta1.ServiceCIDR', enabledByDefault: false }],
  emptyStatus: {},
  table: {
    columns: [nameColumn(), column('CIDRs'), column('Age')],
    cells: (serviceCidr, now) => [
      serviceCidr.metadata.name ?? '',
      strings(part(serviceCidr, 'spec'), 'cidrs').join(','),
      age(serviceCidr, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    validate: validateServiceCidr,
    validateUpdate: validateServiceCidrUpdate,
  },
});
