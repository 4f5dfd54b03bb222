import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from '../../../api/types/autoscaling/v2.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { type Ratchet, ratchetOf } from '../../rules/checked.ts';
import { mustBeOneOf } from '../../rules/names.ts';
import { mustAllBeNonNegative } from '../../rules/numbers.ts';
import { validateMetric, validateReference } from './validate-metrics.ts';

export function validate(root: FieldPath, { spec = {} }: HorizontalPodAutoscaler): void {
  const at = root.field('spec');
  const { scaleUp, scaleDown } = spec.behavior ?? {};
  validateReplicas(at, spec);
  validateReference(at.field('scaleTargetRef'), spec.scaleTargetRef ?? {});
  for (const [path, metric] of at.field('metrics').each(spec.metrics)) validateMetric(path, metric);
  if (scaleUp !== undefined) validateRules(at.field('behavior').field('scaleUp'), scaleUp);
  if (scaleDown !== undefined) validateRules(at.field('behavior').field('scaleDown'), scaleDown);
}

/** Scaling to nothing is behind the gate HPAScaleToZero, which is closed. */
const LEAST = 1;

/** An autoscaler that scales to nothing was made while the gate was open. */
export const SCALED_TO_NOTHING: Ratchet<HorizontalPodAutoscaler> = {
  ...ratchetOf(/^spec\.minReplicas$/),
  allows: (old, { spec = {} }) => old.spec?.minReplicas === 0 && (spec.minReplicas ?? 0) >= 0,
};

function validateReplicas(at: FieldPath, spec: HorizontalPodAutoscalerSpec): void {
  const { minReplicas: least, maxReplicas: most = 0 } = spec;
  if (least !== undefined && least < LEAST)
    at.field('minReplicas').invalid(least, `must be greater than or equal to ${LEAST}`);
  if (most < 1) at.field('maxReplicas').invalid(most, 'must be greater than 0');
  if (least !== undefined && most < least)
    at.field('maxReplicas').invalid(most, 'must be greater than or equal to `minReplicas`');
  if (least === 0) mustHaveOuterMetric(at.field('metrics'), spec);
}

/** What pods use says nothing while there are none. */
function mustHaveOuterMetric(at: FieldPath, { metrics = [] }: HorizontalPodAutoscalerSpec): void {
  if (!metrics.some(({ type }) => type === 'Object' || type === 'External'))
    at.forbidden('must specify at least one Object or External metric to support scaling to zero replicas');
}

const SELECTIONS = ['Disabled', 'Max', 'Min'];
const MAX_WINDOW_SECONDS = 3600;

function validateRules(at: FieldPath, rules: HPAScalingRules): void {
  const { stabilizationWindowSeconds: windowSeconds = 0, selectPolicy, policies = [] } = rules;
  const path = at.field('stabilizationWindowSeconds');
  if (windowSeconds < 0) path.invalid(windowSeconds, 'must be greater than or equal to zero');
  if (windowSeconds > MAX_WINDOW_SECONDS)
    path.invalid(windowSeconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`);
  mustBeOneOf(at.field('selectPolicy'), selectPolicy, SELECTIONS);
  if (policies.length === 0) at.field('policies').required('must specify at least one Policy');
  for (const [item, policy] of at.field('policies').each(policies)) validatePolicy(item, policy);
}

const POLICIES = ['Percent', 'Pods'];
const MAX_PERIOD_SECONDS = 1800;

function validatePolicy(at: FieldPath, policy: HPAScalingPolicy): void {
  const { type = '', value = 0, periodSeconds = 0 } = policy;
  mustBeOneOf(at.field('type'), type, POLICIES);
  if (value <= 0) at.field('value').invalid(value, 'must be greater than zero');
  if (periodSeconds <= 0) at.field('periodSeconds').invalid(periodSeconds, 'must be greater than zero');
  if (periodSeconds > MAX_PERIOD_SECONDS)
    at.field('periodSeconds').invalid(periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
}

export function validateStatus(root: FieldPath, { status = {} }: HorizontalPodAutoscaler): void {
  mustAllBeNonNegative(root.field('status'), status, ['currentReplicas', 'desiredReplicas']);
}
