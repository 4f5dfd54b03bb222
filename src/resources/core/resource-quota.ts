import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { roundUpToMilli } from '../validation/quantity-values.ts';
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from './validate-resource-quota.ts';

export const resourcequotas = define({
  group: '',
  resource: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
  shortNames: ['quota'],
  versions: [{ version: 'v1', type: 'core/v1.ResourceQuota' }],
  emptyStatus: {},
  validateStatus: validateQuotaStatus,
  table: {
    columns: [nameColumn(), column('Age'), column('Request'), column('Limit')],
    cells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (quota) => roundUpToMilli(part(quota, 'spec', 'hard')),
    validate: validateQuota,
    validateUpdate: validateQuotaUpdate,
  },
});

/** Used and most of each resource; limits have a column of their own. */
function cells(quota: ApiObject, now: number): readonly Cell[] {
  const status = part(quota, 'status');
  const used = part(status, 'used');
  const requests: string[] = [];
  const limits: string[] = [];
  for (const [name, most] of Object.entries(part(status, 'hard')).sort(byName)) {
    const target = name.startsWith('limits.') ? limits : requests;
    target.push(`${name}: ${text(used[name], '0')}/${text(most, '0')}`);
  }
  return [quota.metadata.name ?? '', age(quota, now), requests.join(', '), limits.join(', ')];
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);
