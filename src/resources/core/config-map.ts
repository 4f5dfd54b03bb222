import { age, part } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
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
    validateUpdate: (object, old) => validateImmutableData(object, old, ['data', 'binaryData']),
  },
});
