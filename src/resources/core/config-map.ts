import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, tooLong } from '../../object/field-errors.ts';
import { checkConfigMapKey } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { decodedBytes, MAX_DATA_BYTES } from './data-size.ts';
import { validateImmutableData } from './immutable-data.ts';

export const configmaps = define({
  group: '',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  shortNames: ['cm'],
  versions: [{ version: 'v1', type: 'core/v1.ConfigMap' }],
  table: {
    columns: [nameColumn(), column('Data'), column('Age')],
    cells: (map, now) => [
      map.metadata.name ?? '',
      Object.keys(part(map, 'data')).length + Object.keys(part(map, 'binaryData')).length,
      age(map, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    validate,
    validateUpdate: (object, old) => validateImmutableData(object, old, ['data', 'binaryData']),
  },
});

function validate(map: ApiObject): FieldError[] {
  const binary = part(map, 'binaryData');
  const errors: FieldError[] = [];
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(part(map, 'data'))) {
    errors.push(...eachInvalid(`data[${key}]`, key, checkConfigMapKey(key)));
    if (Object.hasOwn(binary, key)) {
      errors.push(invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
    }
    sizeBytes += Buffer.byteLength(text(value));
  }
  for (const [key, value] of Object.entries(binary)) {
    errors.push(...eachInvalid(`binaryData[${key}]`, key, checkConfigMapKey(key)));
    sizeBytes += decodedBytes(value);
  }
  // The object as a whole has the path that Kubernetes writes for an empty one.
  return sizeBytes > MAX_DATA_BYTES ? [...errors, tooLong('[]', MAX_DATA_BYTES)] : errors;
}
