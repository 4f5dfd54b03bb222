import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/types/core/v1.ts';
import { FieldPath } from '../../../object/field-path.ts';
import { toTimestamp } from '../../../object/timestamps.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn, type Table } from '../../define.ts';
import { addNodeTermWarnings } from '../../pod/placement-warnings.ts';
import { NODE_VALUES } from '../../pod/validation/placement.ts';
import { checked, checkedUpdate } from '../../rules/checked.ts';
import { roundUpToMilli } from '../../rules/numbers.ts';
import type { SourceKind } from './sources.ts';
import { MOUNT_OPTIONS_ANNOTATION, validate, validateUpdate } from './validate.ts';

const table: Table<PersistentVolume> = {
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

export const persistentvolumes = define<PersistentVolume>({
  group: '',
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
  protection: 'kubernetes.io/pv-protection',
  shortNames: ['pv'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolume' }],
  emptyStatus: { phase: 'Pending' },
  prepareStatus: keepPhaseTime,
  table,
  ratchets: [NODE_VALUES],
  strategy: {
    returnsDeletedObject: true,
    defaults: (volume) => {
      roundUpToMilli(volume.spec?.capacity);
      volume.status = { phase: 'Pending', ...volume.status };
    },
    prepareForCreate: (volume) => {
      const since = volume.metadata.creationTimestamp ?? undefined;
      volume.status = {
        phase: 'Pending',
        ...(since === undefined ? {} : { lastPhaseTransitionTime: since }),
      };
    },
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});

/** The time since when the phase holds: the writer's, or now when the phase changes and the writer gives no time. */
function keepPhaseTime(volume: PersistentVolume, { status: old = {} }: PersistentVolume): void {
  const status = { phase: 'Pending', ...volume.status };
  const { lastPhaseTransitionTime: given } = status;
  const { lastPhaseTransitionTime: known } = old;
  if (status.phase === old.phase) {
    if (given === undefined && known !== undefined) status.lastPhaseTransitionTime = known;
  } else if (given === undefined || given === known) {
    status.lastPhaseTransitionTime = toTimestamp(new Date());
  }
  volume.status = status;
}

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

/** The old annotation takes precedence over the field. */
export const storageClassCell = ({ metadata, spec }: VolumeOrClaim): string =>
  metadata.annotations?.[BETA_CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';

const OLD_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [BETA_CLASS_ANNOTATION, 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [MOUNT_OPTIONS_ANNOTATION, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

const RECYCLE_WARNING =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

/** Each with its name in Go. */
const GONE_SOURCES: readonly (readonly [SourceKind, string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function warnings({ metadata, spec = {} }: PersistentVolume): string[] {
  const said: string[] = [];
  for (const [name, why] of OLD_ANNOTATIONS)
    if (metadata.annotations?.[name] !== undefined) said.push(`metadata.annotations[${name}]: ${why}`);
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') said.push(RECYCLE_WARNING);
  const terms = FieldPath.root().field('spec.nodeAffinity.required.nodeSelectorTerms');
  for (const [at, term] of terms.each(spec.nodeAffinity?.required?.nodeSelectorTerms))
    addNodeTermWarnings(said, at, term);
  for (const [kind, name, why] of GONE_SOURCES)
    if (spec[kind] !== undefined) said.push(`spec.${name}: ${why}`);
  return said;
}
