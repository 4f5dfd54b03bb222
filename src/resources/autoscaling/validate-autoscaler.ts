import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { validateCounts } from '../validation/numbers.ts';
import { type Ratchet, ratchetOf } from '../validation/ratchet.ts';
import { validateMetric, validateReference } from './validate-metrics.ts';

export function validateAutoscaler(autoscaler: ApiObject): FieldError[] {
  const spec = part(autoscaler, 'spec');
  return [
    ...validateReplicas(spec),
    ...validateReference(part(spec, 'scaleTargetRef'), 'spec.scaleTargetRef'),
    ...parts(spec, 'metrics').flatMap((metric, at) => validateMetric(metric, `spec.metrics[${at}]`)),
    ...validateBehavior(spec),
  ];
}

/** Scaling to nothing is behind the gate HPAScaleToZero, which is closed. */
const LEAST = 1;

/** One that scales to nothing was made while the gate was open. */
export const SCALED_TO_NOTHING: Ratchet = {
  ...ratchetOf(/^spec\.minReplicas$/),
  allows: (old, autoscaler) =>
    part(old, 'spec').minReplicas === 0 && count(part(autoscaler, 'spec').minReplicas) >= 0,
};

function validateReplicas(spec: JsonObject): FieldError[] {
  const { minReplicas } = spec;
  const most = count(spec.maxReplicas);
  const field = 'spec.maxReplicas';
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && count(minReplicas) < LEAST)
    errors.push(invalidValue('spec.minReplicas', minReplicas, `must be greater than or equal to ${LEAST}`));
  if (most < 1) errors.push(invalidValue(field, most, 'must be greater than 0'));
  if (minReplicas !== undefined && most < count(minReplicas))
    errors.push(invalidValue(field, most, 'must be greater than or equal to `minReplicas`'));
  return minReplicas === 0 ? [...errors, ...validateWakeUp(spec)] : errors;
}

/** What pods use says nothing while there are none. */
function validateWakeUp(spec: JsonObject): FieldError[] {
  if (parts(spec, 'metrics').some(({ type }) => type === 'Object' || type === 'External')) return [];
  const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [forbiddenField('spec.metrics', why)];
}

function validateBehavior(spec: JsonObject): FieldError[] {
  const behavior = part(spec, 'behavior');
  return ['scaleUp', 'scaleDown']
    .filter((direction) => behavior[direction] !== undefined)
    .flatMap((direction) => validateRules(part(behavior, direction), `spec.behavior.${direction}`));
}

const SELECTIONS = ['Disabled', 'Max', 'Min'];
const POLICIES = ['Percent', 'Pods'];
const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

function validateRules(rules: JsonObject, path: string): FieldError[] {
  const { stabilizationWindowSeconds: windowSeconds, selectPolicy } = rules;
  const field = `${path}.stabilizationWindowSeconds`;
  const policies = parts(rules, 'policies');
  const errors: FieldError[] = [];
  if (count(windowSeconds) < 0)
    errors.push(invalidValue(field, windowSeconds, 'must be greater than or equal to zero'));
  if (count(windowSeconds) > MAX_WINDOW_SECONDS)
    errors.push(invalidValue(field, windowSeconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  if (selectPolicy !== undefined && !SELECTIONS.includes(text(selectPolicy)))
    errors.push(notSupported(`${path}.selectPolicy`, selectPolicy, SELECTIONS));
  if (policies.length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'));
  return [...errors, ...policies.flatMap((policy, at) => validatePolicy(policy, `${path}.policies[${at}]`))];
}

function validatePolicy(policy: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!POLICIES.includes(text(policy.type)))
    errors.push(notSupported(`${path}.type`, text(policy.type), POLICIES));
  for (const name of ['value', 'periodSeconds']) {
    if (count(policy[name]) <= 0)
      errors.push(invalidValue(`${path}.${name}`, count(policy[name]), 'must be greater than zero'));
  }
  const period = count(policy.periodSeconds);
  if (period > MAX_PERIOD_SECONDS) {
    const why = `must be less than or equal to ${MAX_PERIOD_SECONDS}`;
    errors.push(invalidValue(`${path}.periodSeconds`, period, why));
  }
  return errors;
}

export function validateAutoscalerStatus(autoscaler: ApiObject): FieldError[] {
  return validateCounts(part(autoscaler, 'status'), ['currentReplicas', 'desiredReplicas'], 'status');
}
