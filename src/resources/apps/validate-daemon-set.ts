import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { required } from '../../object/field-errors.ts';
import { part, parts } from '../../object/parts.ts';
import { validatePodTemplate } from '../pod/validation/pod-template.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { goIntOrString, goLabelSelector, invalidShown } from '../validation/notation.ts';
import {
  isZeroIntOrPercent,
  validateAtMostAll,
  validateCounts,
  validateIntOrPercent,
} from '../validation/numbers.ts';
import { selectorOf, validateLastingPods, validateTemplateLabels } from '../workload/selected-template.ts';
import { validateCollisionCount } from '../workload/validate-status.ts';

export function validateDaemonSet(set: ApiObject): FieldError[] {
  const spec = part(set, 'spec');
  const template = part(spec, 'template');
  return [
    ...validateSelection(spec),
    ...validatePodTemplate(template, 'spec.template'),
    ...validateLastingPods(template, 'DaemonSet'),
    ...validateCounts(spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec'),
    ...validateUpdateStrategy(part(spec, 'updateStrategy')),
  ];
}

function validateSelection(spec: JsonObject): FieldError[] {
  const selector = selectorOf(spec);
  const template = part(spec, 'template');
  if (selector === undefined) return validateTemplateLabels(undefined, template);
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (errors.length === 0) errors.push(...validateTemplateLabels(selector, template));
  const size = Object.keys(part(selector, 'matchLabels')).length + parts(selector, 'matchExpressions').length;
  if (size > 0) return errors;
  const why = 'empty selector is invalid for daemonset';
  return [...errors, invalidShown('spec.selector', goLabelSelector(selector), why)];
}

function validateUpdateStrategy(strategy: JsonObject): FieldError[] {
  const path = 'spec.updateStrategy.rollingUpdate';
  return strategy.type === 'RollingUpdate'
    ? validateRollingUpdate(part(strategy, 'rollingUpdate'), path)
    : [];
}

/** Of a node's old and new pod either the one goes first or the other comes first, so one number must be zero. */
function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  return [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
    ...validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
    ...validateAtMostAll(maxSurge, `${path}.maxSurge`),
    ...validateOneOf({ maxUnavailable, maxSurge }, path),
  ];
}

function validateOneOf({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  const noSurge = isZeroIntOrPercent(maxSurge);
  if (isZeroIntOrPercent(maxUnavailable)) {
    return noSurge ? [required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')] : [];
  }
  const why = 'may not be set when maxUnavailable is non-zero';
  return noSurge ? [] : [invalidShown(`${path}.maxSurge`, goIntOrString(maxSurge), why)];
}

const STATUS_COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

export function validateDaemonSetStatus(set: ApiObject, old: ApiObject): FieldError[] {
  return [
    ...validateCounts(part(set, 'status'), STATUS_COUNTS, 'status'),
    ...validateCollisionCount(set, old),
  ];
}
