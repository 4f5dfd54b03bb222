import { column, define, nameColumn } from '../define.ts';
import { claimCells } from './volume-cells.ts';

export const persistentvolumeclaims = define({
  group: '',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  shortNames: ['pvc'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolumeClaim' }],
  emptyStatus: { phase: 'Pending' },
  table: {
    columns: [
      nameColumn(),
      column('Status'),
      column('Volume'),
      column('Capacity'),
      column('Access Modes'),
      column('StorageClass'),
      column('VolumeAttributesClass'),
      column('Age'),
      column('VolumeMode', 1),
    ],
    cells: claimCells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
