import type { ComponentStatus } from '../../api/types/core/v1.ts';
import type { Cell } from '../../registry/resource-definition.ts';
import { column, define, nameColumn } from '../define.ts';

export const componentstatuses = define<ComponentStatus>({
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
    allowUnconditionalUpdate: false,
  },
});

function cells({ metadata, conditions = [] }: ComponentStatus): readonly Cell[] {
  const { name = '' } = metadata;
  const health = conditions.find(({ type }) => type === 'Healthy');
  if (health === undefined) return [name, 'Unknown', '', ''];
  const { status, message = '', error = '' } = health;
  return [name, status === 'True' ? 'Healthy' : 'Unhealthy', message, error];
}
