import type { ApiObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validateApiService, validateApiServiceStatus } from './validate-api-service.ts';

export const apiservices = define({
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  kind: 'APIService',
  namespaced: false,
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'apiregistration/v1.APIService' }],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: validateApiServiceStatus,
  table: {
    columns: [nameColumn(), column('Service'), column('Available'), column('Age')],
    cells: (service, now) => {
      const { namespace, name } = part(service, 'spec', 'service');
      const local = !has(part(service, 'spec'), 'service');
      return [
        service.metadata.name ?? '',
        local ? 'Local' : `${text(namespace)}/${text(name)}`,
        availableText(service),
        age(service, now),
      ];
    },
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    prepareForCreate: (service) => {
      service.status = has(part(service, 'spec'), 'service') ? {} : { conditions: [localCondition()] };
    },
    validate: validateApiService,
  },
});

/** What this server serves itself is there as long as the server is. */
const localCondition = () => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
  reason: 'Local',
  message: 'Local APIServices are always available',
});

function availableText(service: ApiObject): string {
  const conditions = parts(part(service, 'status'), 'conditions');
  const available = conditions.find(({ type }) => type === 'Available');
  if (available === undefined) return 'Unknown';
  const status = text(available.status);
  const reason = text(available.reason);
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}
