import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { part, parts } from '../../object/parts.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { validateAtMostAll, validateCounts, validateIntOrPercent } from '../validation/numbers.ts';

/** How many must stay, or how many may go: one follows from the other, so that only one can be set. */
export function validateBudget(budget: ApiObject): FieldError[] {
  const spec = part(budget, 'spec');
  const { minAvailable, maxUnavailable } = spec;
  const both = minAvailable !== undefined && maxUnavailable !== undefined;
  const why = 'minAvailable and maxUnavailable cannot be both set';
  return [
    ...(both ? [invalidValue('spec', spec, why)] : []),
    ...['minAvailable', 'maxUnavailable'].flatMap((name) => [
      ...validateIntOrPercent(spec[name], `spec.${name}`),
      ...validateAtMostAll(spec[name], `spec.${name}`),
    ]),
    ...validateLabelSelector(part(spec, 'selector'), 'spec.selector'),
  ];
}

const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

export function validateBudgetStatus(budget: ApiObject): FieldError[] {
  const status = part(budget, 'status');
  return [
    ...validateConditions(parts(status, 'conditions'), 'status.conditions'),
    ...validateCounts(status, COUNTS, 'status'),
  ];
}
