import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import {
  isExtendedResource,
  isIntegerResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
} from '../../object/resource-names.ts';
import { nanosOf, validateNonNegativeQuantity } from '../validation/quantity-values.ts';

/** Names of what can be counted, and how much of it: in quotas, limit ranges and nodes. */

const MILLI = 1_000_000n;
const THOUSAND = 1000n;

/** Quotas of storage say of which kind; everything else that has a name of its own can be limited. */
export const isQuotaResource = (name: string): boolean => name !== 'storage' && isStandardResource(name);

export function validateResourceName(name: string, path: string): FieldError[] {
  const errors = eachInvalid(path, name, checkQualifiedName(name));
  if (errors.length > 0 || name.includes('/') || isStandardResource(name)) return errors;
  return [invalidValue(path, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(name: string, path: string): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    return isStandardContainerResource(name)
      ? errors
      : [...errors, invalidValue(path, name, 'must be a standard resource for containers')];
  }
  return isNativeResource(name) || isExtendedResource(name)
    ? errors
    : [...errors, invalidValue(path, name, "doesn't follow extended resource name standard")];
}

export function validateQuotaResourceName(name: string, path: string): FieldError[] {
  const errors = validateResourceName(name, path);
  return name.includes('/') || isQuotaResource(name)
    ? errors
    : [...errors, invalidValue(path, name, 'must be a standard resource for quota')];
}

/** Not negative, and whole where only whole ones can be counted. */
export function validateResourceQuantity(name: string, value: string, path: string): FieldError[] {
  const whole = isIntegerResource(name);
  const errors = validateNonNegativeQuantity(value, path);
  return whole && (nanosOf(value) / MILLI) % THOUSAND !== 0n
    ? [...errors, invalidValue(path, value, 'must be an integer')]
    : errors;
}
