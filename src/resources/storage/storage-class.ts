import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { deprecatedLabel } from '../pod/placement-warnings.ts';
import { validateStorageClass } from './validate-storage-class.ts';

const DEFAULT_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

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
    cells: (storage, now) => [
      displayName(storage),
      text(storage.provisioner),
      text(storage.reclaimPolicy, 'Delete'),
      text(storage.volumeBindingMode, 'Immediate'),
      storage.allowVolumeExpansion === true,
      age(storage, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    validate: validateStorageClass,
    validateUpdate,
    warnings,
  },
});

function displayName({ metadata }: ApiObject): string {
  const isDefault = DEFAULT_ANNOTATIONS.some((name) => metadata.annotations?.[name] === 'true');
  return isDefault ? `${metadata.name} (default)` : (metadata.name ?? '');
}

/** Volumes that exist were made by these values. */
function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const changed = ['parameters', 'provisioner', 'reclaimPolicy'].filter(
    (field) => !equal(object[field], old[field]),
  );
  return [
    ...changed.map((field) => forbiddenField(field, `updates to ${field} are forbidden.`)),
    ...(object.volumeBindingMode === old.volumeBindingMode
      ? []
      : [invalidValue('volumeBindingMode', object.volumeBindingMode, 'field is immutable')]),
  ];
}

function warnings(object: ApiObject): string[] {
  return parts(object, 'allowedTopologies').flatMap((term, i) =>
    parts(term, 'matchLabelExpressions').flatMap((expression, j) => {
      const why = deprecatedLabel(text(expression.key));
      return why === undefined ? [] : [`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${why}`];
    }),
  );
}
