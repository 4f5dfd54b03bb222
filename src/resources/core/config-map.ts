import type { ConfigMap } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { decodedBytes, MAX_DATA_BYTES, mustBeDataKey, mustKeepData } from './keyed-data.ts';

export const configmaps = define<ConfigMap>({
  group: '',
  resource: 'configmaps',
  quotaName: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  shortNames: ['cm'],
  versions: [{ version: 'v1', type: 'core/v1.ConfigMap' }],
  table: {
    columns: [nameColumn(), column('Data'), column('Age')],
    cells: (map, now) => [
      map.metadata.name ?? '',
      Object.keys(map.data ?? {}).length + Object.keys(map.binaryData ?? {}).length,
      age(map, now),
    ],
  },
  strategy: {
    validate: checked(validate),
    validateUpdate: checkedUpdate((at, map, old) => mustKeepData(at, map, old)),
  },
});

function validate(at: FieldPath, { data = {}, binaryData = {} }: ConfigMap): void {
  const texts = at.field('data');
  const bytes = at.field('binaryData');
  const hasBytes = Object.keys(binaryData).length > 0;
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(data)) {
    mustBeDataKey(texts, key);
    if (hasBytes && Object.hasOwn(binaryData, key))
      texts.item(key).invalid(key, 'duplicate of key present in binaryData');
    sizeBytes += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    mustBeDataKey(bytes, key);
    sizeBytes += decodedBytes(value);
  }
  // The object as a whole has the path that Kubernetes writes for an empty one.
  if (sizeBytes > MAX_DATA_BYTES) at.whole.tooLong(MAX_DATA_BYTES);
}
