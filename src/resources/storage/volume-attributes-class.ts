import type { VolumeAttributesClass } from '../../api/types/storage/v1beta1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeProvisioner, mustKeepFields, nameCell, validateParameters } from './classes.ts';

const DEFAULT_ANNOTATIONS = ['volumeattributesclass.alpha.kubernetes.io/is-default-class'];

export const volumeattributesclasses = define<VolumeAttributesClass>({
  group: 'storage.k8s.io',
  resource: 'volumeattributesclasses',
  kind: 'VolumeAttributesClass',
  namespaced: false,
  shortNames: ['vac'],
  versions: [
    { version: 'v1', type: 'storage/v1.VolumeAttributesClass', since: 34 },
    { version: 'v1beta1', type: 'storage/v1beta1.VolumeAttributesClass', enabledByDefault: false },
    {
      version: 'v1alpha1',
      type: 'storage/v1alpha1.VolumeAttributesClass',
      enabledByDefault: false,
      until: 35,
    },
  ],
  storedVersion: 'v1beta1',
  protection: 'kubernetes.io/vac-protection',
  table: {
    columns: [nameColumn(), column('DriverName'), column('Age')],
    cells: (attributes, now) => [
      nameCell(attributes.metadata, DEFAULT_ANNOTATIONS),
      attributes.driverName ?? '',
      age(attributes, now),
    ],
  },
  strategy: {
    returnsDeletedObject: true,
    validate: checked(validate),
    validateUpdate: checkedUpdate((at, attributes, old) =>
      mustKeepFields(at, attributes, old, ['driverName', 'parameters']),
    ),
  },
});

function validate(at: FieldPath, { driverName = '', parameters = {} }: VolumeAttributesClass): void {
  const path = at.field('parameters');
  mustBeProvisioner(at.field('driverName'), driverName);
  validateParameters(path, parameters);
  if (Object.keys(parameters).length === 0) path.required('must contain at least one key/value pair');
}
