import { column, define, nameColumn } from '../define.ts';
import { volumeCells } from './volume-cells.ts';

export const persistentvolumes = define({
  group: '',
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
  shortNames: ['pv'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolume' }],
  emptyStatus: { phase: 'Pending' },
  table: {
    columns: [
      nameColumn(),
      column('Capacity'),
      column('Access Modes'),
      column('Reclaim Policy'),
      column('Status'),
      column('Claim'),
      column('StorageClass'),
      column('VolumeAttributesClass'),
      column('Reason'),
      column('Age'),
      column('VolumeMode', 1),
    ],
    cells: volumeCells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
