import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField, required } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateParameters, validateProvisioner } from './validation/class-parameters.ts';

const DEFAULT_ANNOTATION = 'volumeattributesclass.alpha.kubernetes.io/is-default-class';

export const volumeattributesclasses = define({
  group: 'storage.k8s.io',
  resource: 'volumeattributesclasses',
  kind: 'VolumeAttributesClass',
  namespaced: false,
  shortNames: ['vac'],
  versions: [
    { version: 'v1beta1', type: 'storage/v1beta1.VolumeAttributesClass', enabledByDefault: false },
    { version: 'v1alpha1', type: 'storage/v1alpha1.VolumeAttributesClass', enabledByDefault: false },
  ],
  table: {
    columns: [nameColumn(), column('DriverName'), column('Age')],
    cells: (object, now) => {
      const { name = '', annotations } = object.metadata;
      const isDefault = annotations?.[DEFAULT_ANNOTATION] === 'true';
      return [isDefault ? `${name} (default)` : name, text(object.driverName), age(object, now)];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    validate,
    validateUpdate: (object, old) =>
      ['driverName', 'parameters']
        .filter((field) => !equal(object[field], old[field]))
        .map((field) => forbiddenField(field, `updates to ${field} are forbidden.`)),
  },
});

function validate(object: ApiObject): FieldError[] {
  const parameters = part(object, 'parameters');
  return [
    ...validateProvisioner(text(object.driverName), 'driverName'),
    ...validateParameters(parameters, 'parameters'),
    ...(Object.keys(parameters).length === 0
      ? [required('parameters', 'must contain at least one key/value pair')]
      : []),
  ];
}
