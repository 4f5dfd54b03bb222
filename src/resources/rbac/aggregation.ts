import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { required } from '../../object/field-errors.ts';
import { part, parts } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';

/** Which cluster roles a cluster role gathers its rules from. */
export function validateAggregation(role: ApiObject): FieldError[] {
  if (!has(role, 'aggregationRule')) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = parts(part(role, 'aggregationRule'), 'clusterRoleSelectors');
  if (selectors.length === 0)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, at) => validateLabelSelector(selector, `${path}[${at}]`));
}
