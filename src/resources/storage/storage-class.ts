import { age, text } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';

export const storageclasses = define({
  group: 'storage.k8s.io',
  resource: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
  shortNames: ['sc'],
  versions: [{ version: 'v1', type: 'storage/v1.StorageClass' }],
  table: {
    columns: [
      nameColumn(),
      column('Provisioner'),
      column('ReclaimPolicy'),
      column('VolumeBindingMode'),
      column('AllowVolumeExpansion'),
      column('Age'),
    ],
    cells: (storage, now) => {
      const name = storage.metadata.name ?? '';
      const isDefault =
        storage.metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
      return [
        isDefault ? `${name} (default)` : name,
        text(storage.provisioner),
        text(storage.reclaimPolicy),
        text(storage.volumeBindingMode),
        storage.allowVolumeExpansion === true,
        age(storage, now),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
