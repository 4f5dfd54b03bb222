import { defaultGates, type Gates } from '../../../api/feature-gates.ts';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
} from '../../../api/types/core/v1.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn, type Table } from '../../define.ts';
import { checked, checkedUpdate, type Ratchet, ratchetOf, selectorRatchet } from '../../rules/checked.ts';
import { roundUpToMilli } from '../../rules/numbers.ts';
import {
  accessModesCell,
  BETA_CLASS_ANNOTATION,
  phaseCell,
  storageClassCell,
  UNSET,
} from '../persistent-volume/definition.ts';
import {
  claimSpecWarnings,
  normalizeDataSources,
  validateClaimSpec,
  validateStatus,
  validateUpdate,
} from './validate.ts';

const table: Table<PersistentVolumeClaim> = {
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
  cells: (claim, now) => {
    const { metadata, spec = {}, status = {} } = claim;
    const { volumeName = '' } = spec;
    const isBound = volumeName !== '';
    return [
      metadata.name ?? '',
      phaseCell(claim),
      volumeName,
      isBound ? status.capacity?.storage || '0' : '',
      isBound ? accessModesCell(status.accessModes) : '',
      storageClassCell(claim),
      spec.volumeAttributesClassName ?? UNSET,
      age(claim, now),
      spec.volumeMode || UNSET,
    ];
  },
};

/** The group of a source could once be any text; a claim that has a group is not judged by it again. */
const SOURCE_GROUP: Ratchet<PersistentVolumeClaim> = {
  ...ratchetOf(/^spec\.dataSource(Ref)?\.apiGroup$/),
  allows: ({ spec = {} }) =>
    spec.dataSource?.apiGroup !== undefined || spec.dataSourceRef?.apiGroup !== undefined,
};

export const persistentvolumeclaims = define<PersistentVolumeClaim>({
  group: '',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  protection: 'kubernetes.io/pvc-protection',
  shortNames: ['pvc'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolumeClaim' }],
  emptyStatus: { phase: 'Pending' },
  prepareStatus: defaultPhase,
  validateStatus: checkedUpdate(validateStatus),
  table,
  ratchets: [selectorRatchet('spec\\.selector'), SOURCE_GROUP],
  strategy: {
    returnsDeletedObject: true,
    defaults: (claim) => {
      roundUpToMilli(claim.spec?.resources?.requests);
      roundUpToMilli(claim.spec?.resources?.limits);
      defaultPhase(claim);
    },
    prepareForCreate: (claim, _user, isOn) => {
      claim.status = { phase: 'Pending' };
      prepareSpec(claim.spec, {}, isOn);
    },
    prepareForUpdate: ({ spec }, old, isOn) => prepareSpec(spec, old.spec, isOn),
    validate: checked((at, { spec = {} }) => validateClaimSpec(at.field('spec'), spec)),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});

function defaultPhase(claim: PersistentVolumeClaim): void {
  claim.status = { phase: 'Pending', ...claim.status };
}

function prepareSpec(
  spec: PersistentVolumeClaimSpec = {},
  old: PersistentVolumeClaimSpec = {},
  isOn: Gates = defaultGates,
): void {
  dropForeignSources(spec, old, isOn);
  if (isOn('AnyVolumeDataSource')) normalizeDataSources(spec);
}

const CLASS_WARNING = `metadata.annotations[${BETA_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`;

function warnings({ metadata, spec = {} }: PersistentVolumeClaim): string[] {
  const isAnnotated = metadata.annotations?.[BETA_CLASS_ANNOTATION] !== undefined;
  return [...(isAnnotated ? [CLASS_WARNING] : []), ...claimSpecWarnings(spec, 'spec')];
}

/**
 * A claim can be filled from another one, from a snapshot, or from anything a populator knows. The older field
 * `dataSource` takes the first two alone and ignores others; `dataSourceRef` takes all. Both are kept alike.
 */

/** Drops other sources in the older field and, while they are off, sources of other kinds and in other namespaces, unless they were stored. */
function dropForeignSources(
  spec: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec,
  isOn: Gates,
): void {
  const { namespace = '' } = spec.dataSourceRef ?? {};
  const takesAny = isOn('AnyVolumeDataSource');
  const isAllowed = namespace === '' ? takesAny : takesAny && isOn('CrossNamespaceVolumeDataSource');
  if (!isAllowed && old.dataSourceRef === undefined) delete spec.dataSourceRef;
  const hadSource = old.dataSource !== undefined || old.dataSourceRef !== undefined;
  if (hadSource || spec.dataSourceRef !== undefined || spec.dataSource === undefined) return;
  if (!isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
}

const isClaimOrSnapshot = ({ apiGroup = '', kind }: TypedLocalObjectReference): boolean =>
  (kind === 'PersistentVolumeClaim' && apiGroup === '') ||
  (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io');
