import { age, parts } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';

export const serviceaccounts = define({
  group: '',
  resource: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
  shortNames: ['sa'],
  versions: [{ version: 'v1', type: 'core/v1.ServiceAccount' }],
  table: {
    columns: [nameColumn(), column('Secrets'), column('Age')],
    cells: (account, now) => [
      account.metadata.name ?? '',
      parts(account, 'secrets').length,
      age(account, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
