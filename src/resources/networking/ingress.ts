import { part } from '../../object/parts.ts';
import { column, define, nameColumn } from '../define.ts';
import { keepStatus, loadBalancerStatusView, resetLoadBalancerStatus } from '../load-balancer-status.ts';
import { ingressCells } from './ingress-cells.ts';
import {
  CLASS_ANNOTATION,
  validateIngress,
  validateIngressCreate,
  validateIngressStatus,
} from './validation/ingress.ts';
import { INGRESS_RATCHETS } from './validation/ingress-ratchets.ts';

export const ingresses = define({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
  shortNames: ['ing'],
  versions: [{ version: 'v1', type: 'networking/v1.Ingress' }],
  subresources: [
    loadBalancerStatusView({
      served: { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' },
      type: 'networking/v1.Ingress',
      validate: validateIngressStatus,
    }),
  ],
  table: {
    columns: [
      nameColumn(),
      column('Class'),
      column('Hosts'),
      column('Address'),
      column('Ports'),
      column('Age'),
    ],
    cells: ingressCells,
  },
  ratchets: INGRESS_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    prepareForCreate: resetLoadBalancerStatus,
    prepareForUpdate: keepStatus,
    validate: validateIngress,
    validateCreate: validateIngressCreate,
    warnings: ({ metadata: { annotations }, ...ingress }, old) =>
      old === undefined &&
      annotations?.[CLASS_ANNOTATION] !== undefined &&
      part(ingress, 'spec').ingressClassName === undefined
        ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
        : [],
  },
});
