import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/types/core/v1.ts';
import { age } from '../../cells.ts';
import { column, nameColumn, type Table } from '../../define.ts';

export const table: Table<PersistentVolume> = {
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
  cells: (volume, now) => {
    const { metadata, spec = {}, status = {} } = volume;
    const { claimRef: claim } = spec;
    return [
      metadata.name ?? '',
      spec.capacity?.storage || '0',
      accessModesCell(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      phaseCell(volume),
      claim === undefined ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`,
      storageClassCell(volume),
      spec.volumeAttributesClassName ?? UNSET,
      status.reason ?? '',
      age(volume, now),
      spec.volumeMode || UNSET,
    ];
  },
};

/** Volumes and claims show these alike. */

type VolumeOrClaim = PersistentVolume | PersistentVolumeClaim;

export const UNSET = '<unset>';

export const phaseCell = ({ metadata, status }: VolumeOrClaim): string =>
  metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating';

/** Always shown in this order. */
const SHORT_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export const accessModesCell = (modes: readonly string[] = []): string =>
  SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');

export const BETA_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** The old annotation goes before the field that replaced it. */
export const storageClassCell = ({ metadata, spec }: VolumeOrClaim): string =>
  metadata.annotations?.[BETA_CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';
