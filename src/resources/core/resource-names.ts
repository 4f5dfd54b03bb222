import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { nanosOf, validateNonNegativeQuantity } from '../validation/quantity-values.ts';

/**
 * Names of what can be counted: Kubernetes' own (`cpu`, `requests.memory`, `pods`), and those of others, which begin with
 * a domain (`example.com/gpu`).
 */

const COUNTS = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const AMOUNTS = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const HUGE_PAGES = 'hugepages-';
const MILLI = 1_000_000n;
const THOUSAND = 1000n;

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Of Kubernetes' own namespace, which goes without saying. */
export const isNativeResource = (name: string): boolean =>
  !name.includes('/') || name.includes('kubernetes.io/');

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return checkQualifiedName(`requests.${name}`).length === 0;
}

export const isQuotaResource = (name: string): boolean =>
  COUNTS.has(name) || AMOUNTS.has(name) || isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);

/** What may take more than there is, because not everyone takes it at once. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

export function validateResourceName(name: string, path: string): FieldError[] {
  const errors = eachInvalid(path, name, checkQualifiedName(name));
  if (errors.length > 0 || name.includes('/') || name === 'storage' || isQuotaResource(name)) return errors;
  return [invalidValue(path, name, 'must be a standard resource type or fully qualified')];
}

export function validateContainerResourceName(name: string, path: string): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    const standard = CONTAINER_RESOURCES.has(name) || isHugePages(name);
    return standard
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
  const whole = COUNTS.has(name) || isExtendedResource(name);
  const errors = validateNonNegativeQuantity(value, path);
  return whole && (nanosOf(value) / MILLI) % THOUSAND !== 0n
    ? [...errors, invalidValue(path, value, 'must be an integer')]
    : errors;
}
