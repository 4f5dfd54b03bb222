import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  DeviceCapacity,
} from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { nanosOf } from '../rules/numbers.ts';
import { hasAtMost } from './list-limits.ts';

/** How much of a capacity requests may take from a device that several share (feature DRAConsumableCapacity). */

const MAX_VALUES = 10;

export function validateCapacity(
  at: FieldPath,
  { value = '0', requestPolicy }: DeviceCapacity,
  shared: boolean,
): void {
  if (requestPolicy === undefined) return;
  const path = at.field('requestPolicy');
  if (shared) validatePolicy(path, requestPolicy, value);
  else path.forbidden('allowMultipleAllocations must be true');
}

function validatePolicy(at: FieldPath, policy: CapacityRequestPolicy, most: string): void {
  const { default: usual, validValues = [], validRange } = policy;
  if (validValues.length > 0 && validRange !== undefined)
    at.forbidden(
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    );
  else if (validValues.length > 0) {
    if (usual === undefined) at.field('default').required('required when validValues is defined');
    else validateValues(at.field('validValues'), validValues, { usual, most });
  } else if (validRange !== undefined) {
    if (usual === undefined) at.field('default').required('required when validRange is defined');
    else validateRange(at.field('validRange'), validRange, { usual, most });
  }
}

/** `usual`: the amount of a request that names none. `most`: the capacity. */
interface Amounts {
  readonly usual: string;
  readonly most: string;
}

function validateValues(at: FieldPath, values: readonly string[], { usual, most }: Amounts): void {
  for (const [path, value, index] of at.each(values))
    if (index > 0 && nanosOf(values[index - 1]) > nanosOf(value))
      path.invalid(value, 'values must be sorted in ascending order');
  if (hasAtMost(at, MAX_VALUES, values))
    for (const [path, value, index] of at.each(values)) {
      if (nanosOf(value) > nanosOf(most))
        path.invalid(value, `option is larger than capacity value: ${most}`);
      if (values.findIndex((other) => nanosOf(other) === nanosOf(value)) < index) path.duplicate(value);
    }
  if (!values.some((value) => nanosOf(value) === nanosOf(usual)))
    at.invalid(usual, 'default value is not valid according to the requestPolicy');
}

function validateRange(at: FieldPath, range: CapacityRequestPolicyRange, { usual, most }: Amounts): void {
  const { min, max, step } = range;
  if (min === undefined) {
    at.field('min').required('required when validRange is defined');
    return;
  }
  if (nanosOf(min) > nanosOf(most))
    at.field('min').invalid(min, `min is larger than capacity value: ${most}`);
  if (nanosOf(usual) < nanosOf(min)) at.field('min').invalid(usual, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (nanosOf(min) > nanosOf(max)) at.field('max').invalid(min, `min is larger than max: ${max}`);
    if (nanosOf(max) > nanosOf(most))
      at.field('max').invalid(max, `max is larger than capacity value: ${most}`);
    if (nanosOf(usual) > nanosOf(max)) at.field('max').invalid(usual, `default is more than max: ${max}`);
  }
  if (step !== undefined)
    validateStep(at.field('step'), { min, step, most }, max === undefined ? [usual] : [usual, max]);
}

function validateStep(
  at: FieldPath,
  { min, step, most }: { readonly min: string; readonly step: string; readonly most: string },
  values: readonly string[],
): void {
  if (nanosOf(step) <= 0n) {
    at.invalid(step, 'must be greater than zero');
    return;
  }
  if (nanosOf(min) + nanosOf(step) > nanosOf(most))
    at.invalid(step, `one step is larger than capacity value: ${most}`);
  for (const value of values)
    if ((nanosOf(value) - nanosOf(min)) % nanosOf(step) !== 0n)
      at.invalid(value, `value is not a multiple of a given step (${step}) from (${min})`);
}
