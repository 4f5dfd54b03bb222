import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { count, part } from '../../object/parts.ts';
import { validateCounts } from '../validation/numbers.ts';

/** What a controller may report of its replicas: of all there are, some are ready, and of those some available. */

/** Parts of `status.replicas` by their field; none is larger than the whole. */
export function validateShares(status: JsonObject, names: readonly string[]): FieldError[] {
  return names
    .filter((name) => count(status[name]) > count(status.replicas))
    .map((name) =>
      invalidValue(`status.${name}`, count(status[name]), 'cannot be greater than status.replicas'),
    );
}

/** `whole` is what the message calls the ready replicas. */
export function validateAvailable(status: JsonObject, whole: string): FieldError[] {
  const available = count(status.availableReplicas);
  if (available <= count(status.readyReplicas)) return [];
  return [invalidValue('status.availableReplicas', available, `cannot be greater than ${whole}`)];
}

/** Collisions of names are counted, never forgotten: the next name depends on the number. */
export function validateCollisionCount(object: ApiObject, old: ApiObject): FieldError[] {
  const now = part(object, 'status').collisionCount;
  const before = part(old, 'status').collisionCount;
  if (before === undefined || (now !== undefined && count(now) >= count(before))) return [];
  return [invalidValue('status.collisionCount', count(now), 'cannot be decremented')];
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
];

/** ReplicaSets and ReplicationControllers. */
export function validateReplicaStatus(object: ApiObject): FieldError[] {
  const status = part(object, 'status');
  return [
    ...validateCounts(status, COUNTS, 'status'),
    ...validateShares(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
    ...validateAvailable(status, 'readyReplicas'),
  ];
}
