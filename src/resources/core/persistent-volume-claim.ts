import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { part } from '../../object/parts.ts';
import { column, define, nameColumn } from '../define.ts';
import { quantitiesOf, roundUpToMilli, validateBasicQuantity } from '../validation/quantity-values.ts';
import { selectorRatchet } from '../validation/ratchet.ts';
import { dropForeignSources, normalizeDataSources, SOURCE_GROUP } from './claim-data-source.ts';
import { validateClaimSpec, warnOfClaimSpec } from './validate-claim-spec.ts';
import { validateClaimUpdate } from './validate-claim-update.ts';
import { BETA_CLASS_ANNOTATION, claimCells } from './volume-cells.ts';

export const persistentvolumeclaims = define({
  group: '',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
  shortNames: ['pvc'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolumeClaim' }],
  emptyStatus: { phase: 'Pending' },
  validateStatus,
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
  ratchets: [selectorRatchet('spec\\.selector'), SOURCE_GROUP],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (claim) => {
      const resources = part(claim, 'spec', 'resources');
      roundUpToMilli(part(resources, 'requests'));
      roundUpToMilli(part(resources, 'limits'));
    },
    prepareForCreate: (claim) => {
      claim.status = { phase: 'Pending' };
      prepareSpec(claim, undefined);
    },
    prepareForUpdate: prepareSpec,
    validate: (claim) => validateClaimSpec(part(claim, 'spec'), 'spec'),
    validateUpdate: validateClaimUpdate,
    warnings: ({ metadata, spec }) => [
      ...(metadata.annotations?.[BETA_CLASS_ANNOTATION] === undefined ? [] : [CLASS_WARNING]),
      ...warnOfClaimSpec(part({ spec }, 'spec'), 'spec'),
    ],
  },
});

const CLASS_WARNING = `metadata.annotations[${BETA_CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`;

function prepareSpec(claim: ApiObject, old: ApiObject | undefined): void {
  const spec = part(claim, 'spec');
  const before = part(old, 'spec');
  dropForeignSources(spec, before);
  normalizeDataSources(spec);
}

function validateStatus(claim: ApiObject): FieldError[] {
  return quantitiesOf(part(claim, 'status', 'capacity')).flatMap(([name, value]) =>
    validateBasicQuantity(value, `status.capacity[${name}]`),
  );
}
