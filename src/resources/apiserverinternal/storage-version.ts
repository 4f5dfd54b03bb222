import type { JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validateStorageVersion, validateStorageVersionStatus } from './validate-storage-version.ts';

export const storageversions = define({
  group: 'internal.apiserver.k8s.io',
  resource: 'storageversions',
  kind: 'StorageVersion',
  namespaced: false,
  versions: [
    { version: 'v1alpha1', type: 'apiserverinternal/v1alpha1.StorageVersion', enabledByDefault: false },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: validateStorageVersionStatus,
  table: {
    columns: [nameColumn(), column('CommonEncodingVersion'), column('StorageVersions'), column('Age')],
    cells: (storage, now) => {
      const status = part(storage, 'status');
      return [
        storage.metadata.name ?? '',
        has(status, 'commonEncodingVersion') ? text(status.commonEncodingVersion) : UNSET,
        serversText(parts(status, 'storageVersions')),
        age(storage, now),
      ];
    },
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    validate: validateStorageVersion,
  },
});

const UNSET = '<unset>';
const SHOWN = 3;

function serversText(servers: readonly JsonObject[]): string {
  const shown = servers
    .slice(0, SHOWN)
    .map(({ apiServerID, encodingVersion }) => `${text(apiServerID)}=${text(encodingVersion)}`)
    .join(',');
  return servers.length > SHOWN ? `${shown} + ${servers.length - SHOWN} more...` : text(shown, UNSET);
}
