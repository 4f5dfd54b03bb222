import { column, define, nameColumn } from '../define.ts';
import { ingressCells } from './ingress-cells.ts';

export const ingresses = define({
  group: 'networking.k8s.io',
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
  shortNames: ['ing'],
  versions: [{ version: 'v1', type: 'networking/v1.Ingress' }],
  emptyStatus: { loadBalancer: {} },
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
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
