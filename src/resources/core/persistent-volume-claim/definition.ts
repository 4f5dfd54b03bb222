import type { PersistentVolumeClaim } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn, type Table } from '../../define.ts';
import { checked, checkedUpdate, selectorRatchet } from '../../rules/checked.ts';
import { mustBeResourceQuantity, roundUpToMilli } from '../../rules/numbers.ts';
import {
  accessModesCell,
  BETA_CLASS_ANNOTATION,
  phaseCell,
  storageClassCell,
  UNSET,
} from '../persistent-volume/definition.ts';
import { dropForeignSources, normalizeDataSources, SOURCE_GROUP } from './data-source.ts';
import { claimSpecWarnings, validateClaimSpec, validateUpdate } from './validate.ts';

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

export const persistentvolumeclaims = define<PersistentVolumeClaim>({
  group: '',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  protection: 'kubernetes.io/pvc-protection',
  shortNames: ['pvc'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolumeClaim' }],
  emptyStatus: { phase: 'Pending' },
  validateStatus: checked(validateStatus),
  table,
  ratchets: [selectorRatchet('spec\\.selector'), SOURCE_GROUP],
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec }) => {
      roundUpToMilli(spec?.resources?.requests);
      roundUpToMilli(spec?.resources?.limits);
    },
    prepareForCreate: (claim) => {
      claim.status = { phase: 'Pending' };
      prepareSpec(claim);
    },
    prepareForUpdate: prepareSpec,
    validate: checked((at, { spec = {} }) => validateClaimSpec(at.field('spec'), spec)),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});

function prepareSpec({ spec = {} }: PersistentVolumeClaim, old?: PersistentVolumeClaim): void {
  dropForeignSources(spec, old?.spec ?? {});
  normalizeDataSources(spec);
}

function validateStatus(root: FieldPath, { status = {} }: PersistentVolumeClaim): void {
  const capacity = root.field('status').field('capacity');
  for (const [at, , quantity] of capacity.entries(status.capacity)) mustBeResourceQuantity(at, quantity);
}

const CLASS_WARNING = `metadata.annotations[${BETA_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`;

function warnings({ metadata, spec = {} }: PersistentVolumeClaim): string[] {
  const isAnnotated = metadata.annotations?.[BETA_CLASS_ANNOTATION] !== undefined;
  return [...(isAnnotated ? [CLASS_WARNING] : []), ...claimSpecWarnings(spec, 'spec')];
}
