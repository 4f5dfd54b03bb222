import type { FieldPath } from '../../object/field-path.ts';
import {
  isExtendedResource,
  isIntegerResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
} from '../../object/resource-list.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { nanosOf } from './numbers.ts';

/** Names and amounts of countable resources: in containers, quotas, limit ranges and nodes. */

export function mustBeResource(at: FieldPath, name: string): void {
  const problems = checkQualifiedName(name);
  at.invalidFor(name, problems);
  if (problems.length === 0 && !name.includes('/') && !isStandardResource(name))
    at.invalid(name, 'must be a standard resource type or fully qualified');
}

export function mustBeContainerResource(at: FieldPath, name: string): void {
  mustBeResource(at, name);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) at.invalid(name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name))
    at.invalid(name, "doesn't follow extended resource name standard");
}

/** Quotas of storage name its kind; all other standard resources can be limited. */
export const isQuotaResource = (name: string): boolean => name !== 'storage' && isStandardResource(name);

export function mustBeQuotaResource(at: FieldPath, name: string): void {
  mustBeResource(at, name);
  if (!name.includes('/') && !isQuotaResource(name))
    at.invalid(name, 'must be a standard resource for quota');
}

const MILLI = 1_000_000n;
const THOUSAND = 1000n;

/** Not negative, and integral for indivisible resources. */
export function mustBeAmountOf(at: FieldPath, name: string, amount: string): void {
  const nanos = nanosOf(amount);
  if (nanos < 0n) at.invalid(amount, 'must be greater than or equal to 0');
  if (isIntegerResource(name) && (nanos / MILLI) % THOUSAND !== 0n) at.invalid(amount, 'must be an integer');
}
