import { age, part, text } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';

export const leases = define({
  group: 'coordination.k8s.io',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
  versions: [{ version: 'v1', type: 'coordination/v1.Lease' }],
  table: {
    columns: [nameColumn(), column('Holder'), column('Age')],
    cells: (lease, now) => [
      lease.metadata.name ?? '',
      text(part(lease, 'spec').holderIdentity),
      age(lease, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
  },
});
