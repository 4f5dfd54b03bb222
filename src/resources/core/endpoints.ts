import { column, define, nameColumn } from '../define.ts';
import { endpointsCells } from './endpoints-cells.ts';
import { validateEndpoints } from './validation/endpoints.ts';

export const endpoints = define({
  group: '',
  resource: 'endpoints',
  kind: 'Endpoints',
  namespaced: true,
  shortNames: ['ep'],
  versions: [{ version: 'v1', type: 'core/v1.Endpoints' }],
  table: {
    columns: [nameColumn(), column('Endpoints'), column('Age')],
    cells: endpointsCells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    validate: validateEndpoints,
  },
});
