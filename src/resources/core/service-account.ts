import { minorOf } from '../../api/feature-gates.ts';
import type { ServiceAccount } from '../../api/types/core/v1.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { token } from './token-request.ts';

export const serviceaccounts = define<ServiceAccount>({
  group: '',
  resource: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
  shortNames: ['sa'],
  versions: [{ version: 'v1', type: 'core/v1.ServiceAccount' }],
  subresources: [token],
  table: {
    columns: [nameColumn(), column('Age')],
    cells: (account, now) => [account.metadata.name ?? '', age(account, now)],
  },
  olderTables: [
    {
      until: 35,
      columns: [nameColumn(), column('Secrets'), column('Age')],
      cells: (account, now) => [
        account.metadata.name ?? '',
        (account.secrets ?? []).length,
        age(account, now),
      ],
    },
  ],
  strategy: {
    returnsDeletedObject: true,
    prepareForCreate: keepNamesOfSecrets,
    prepareForUpdate: keepNamesOfSecrets,
    warnings: ({ metadata }, old, isOn) =>
      minorOf(isOn) >= 32 &&
      metadata.annotations?.[MOUNTABLE_SECRETS] !== undefined &&
      old?.metadata.annotations?.[MOUNTABLE_SECRETS] === undefined
        ? [
            `metadata.annotations[${MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
          ]
        : [],
  },
});

const MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';

/** Secrets of an account are of its namespace, and known by their names alone. */
function keepNamesOfSecrets(account: ServiceAccount): void {
  if (account.secrets !== undefined)
    account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
