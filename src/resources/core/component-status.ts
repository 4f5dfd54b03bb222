import type { ApiObject } from '../../api/object-meta.ts';
import { parts, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { column, define, nameColumn } from '../define.ts';

export const componentstatuses = define({
  group: '',
  resource: 'componentstatuses',
  kind: 'ComponentStatus',
  namespaced: false,
  shortNames: ['cs'],
  verbs: ['get', 'list'],
  versions: [{ version: 'v1', type: 'core/v1.ComponentStatus' }],
  table: {
    columns: [nameColumn(), column('Status'), column('Message'), column('Error')],
    cells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});

function cells(component: ApiObject): readonly Cell[] {
  const name = component.metadata.name ?? '';
  const health = parts(component, 'conditions').find(({ type }) => type === 'Healthy');
  if (health === undefined) return [name, 'Unknown', '', ''];
  const status = health.status === 'True' ? 'Healthy' : 'Unhealthy';
  return [name, status, text(health.message), text(health.error)];
}
