import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { count, part } from '../../object/parts.ts';
import { goIntOrString, invalidShown } from '../validation/notation.ts';
import {
  isZeroIntOrPercent,
  validateAtMostAll,
  validateCounts,
  validateIntOrPercent,
} from '../validation/numbers.ts';
import { validateReplicaTemplate } from '../workload/selected-template.ts';
import { validateAvailable, validateCollisionCount, validateShares } from '../workload/validate-status.ts';

export function validateDeployment(deployment: ApiObject): FieldError[] {
  const spec = part(deployment, 'spec');
  const counts = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];
  return [
    ...validateCounts(spec, counts, 'spec'),
    ...validateReplicaTemplate(spec),
    ...validateStrategy(part(spec, 'strategy')),
    ...validateDeadline(spec),
  ];
}

/** Pods would be reported as late before they can count as available. */
function validateDeadline({ progressDeadlineSeconds: deadline, minReadySeconds }: JsonObject): FieldError[] {
  if (deadline === undefined || count(deadline) > count(minReadySeconds)) return [];
  return [invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')];
}

function validateStrategy(strategy: JsonObject): FieldError[] {
  const path = 'spec.strategy.rollingUpdate';
  if (strategy.type === 'Recreate' && strategy.rollingUpdate !== undefined) {
    return [forbiddenField(path, "may not be specified when strategy `type` is 'Recreate'")];
  }
  return strategy.type === 'RollingUpdate'
    ? validateRollingUpdate(part(strategy, 'rollingUpdate'), path)
    : [];
}

/** With neither one missing nor one too many there is no next step. */
function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  const stuck = isZeroIntOrPercent(maxUnavailable) && isZeroIntOrPercent(maxSurge);
  const why = 'may not be 0 when `maxSurge` is 0';
  return [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
    ...(stuck ? [invalidShown(`${path}.maxUnavailable`, goIntOrString(maxUnavailable), why)] : []),
    ...validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`),
  ];
}

const STATUS_COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'collisionCount',
];

export function validateDeploymentStatus(deployment: ApiObject, old: ApiObject): FieldError[] {
  const status = part(deployment, 'status');
  return [
    ...validateCounts(status, STATUS_COUNTS, 'status'),
    ...validateShares(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
    ...validateAvailable(status, 'readyReplicas'),
    ...validateCollisionCount(deployment, old),
  ];
}
