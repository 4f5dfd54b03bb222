import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  forbiddenField,
  invalidValue,
  required,
} from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { parseQuantity } from '../../../object/quantity.ts';
import { part, parts, text } from '../../cells.ts';
import { each, stringMap, validateName } from '../../validation/values.ts';
import {
  canOvercommit,
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
} from '../resource-names.ts';

/** What a container asks for and may use at most. */
export function validateResources(
  resources: JsonObject,
  path: string,
  claimNames: ReadonlySet<string>,
): FieldError[] {
  const limits = stringMap(resources, 'limits');
  const requests = stringMap(resources, 'requests');
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  const errors = [
    ...validateAmounts(limits, `${path}.limits`),
    ...validateAmounts(requests, `${path}.requests`),
    ...Object.entries(requests).flatMap(([name, amount]) =>
      validateAgainstLimit(name, amount, limits[name], path),
    ),
  ];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory'))
    errors.push(forbiddenField(path, 'HugePages require cpu or memory'));
  return [...errors, ...validateClaims(parts(resources, 'claims'), `${path}.claims`, claimNames)];
}

/** What a runtime class adds to every pod: limits of no container. */
export function validateOverhead(spec: JsonObject, path: string): FieldError[] {
  const limits = part(spec, 'overhead');
  return validateResources({ limits }, path, new Set());
}

function validateAmounts(amounts: Readonly<Record<string, string>>, path: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => [
    ...validateContainerResourceName(name, `${path}[${name}]`),
    ...validateResourceAmount(name, amount, `${path}[${name}]`),
    ...(isHugePages(name) && !isDivisible(name, amount)
      ? [invalidValue(`${path}[${name}]`, amount, `${amount} is not positive integer multiple of ${name}`)]
      : []),
  ]);
}

function validateContainerResourceName(name: string, path: string): FieldError[] {
  const errors = eachInvalid(path, name, checkQualifiedName(name));
  if (!name.includes('/')) {
    if (errors.length === 0 && !isStandardResource(name))
      errors.push(invalidValue(path, name, 'must be a standard resource type or fully qualified'));
    if (!isStandardContainerResource(name))
      errors.push(invalidValue(path, name, 'must be a standard resource for containers'));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

const NANO = 1_000_000_000n;
const nanos = (quantity: string): bigint => parseQuantity(quantity)?.nanos ?? 0n;

/** Not below zero, and whole where only whole pieces can be had. */
export function validateResourceAmount(name: string, amount: string, path: string): FieldError[] {
  const value = nanos(amount);
  return [
    ...(value < 0n ? [invalidValue(path, amount, 'must be greater than or equal to 0')] : []),
    ...(isIntegerResource(name) && value % NANO !== 0n
      ? [invalidValue(path, amount, 'must be an integer')]
      : []),
  ];
}

function isDivisible(name: string, amount: string): boolean {
  const page = parseQuantity(name.slice('hugepages-'.length))?.nanos ?? 0n;
  return page > 0n && page % NANO === 0n && nanos(amount) % page === 0n;
}

function validateAgainstLimit(
  name: string,
  amount: string,
  limit: string | undefined,
  path: string,
): FieldError[] {
  if (limit === undefined) {
    if (canOvercommit(name)) return [];
    return [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const [asked, most] = [nanos(amount), nanos(limit)];
  if (asked !== most && !canOvercommit(name))
    return [invalidValue(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)];
  return asked > most
    ? [invalidValue(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)]
    : [];
}

/** Claims of the pod, or single requests of them, that a container uses: each once. */
function validateClaims(
  claims: readonly JsonObject[],
  path: string,
  known: ReadonlySet<string>,
): FieldError[] {
  const seen = new Set<string>();
  return each(claims, path, (claim, at) => {
    const name = text(claim.name);
    const request = text(claim.request);
    if (name === '') return [required(at)];
    const errors = request === '' ? [] : validateName(`${at}.request`, request, 'dns-label');
    const key = request === '' ? name : `${name}/${request}`;
    const whole = request === '' && [...seen].some((other) => other.startsWith(`${name}/`));
    if (seen.has(name)) errors.push(duplicate(at, name));
    else if (seen.has(key) || whole) errors.push(duplicate(at, key));
    seen.add(key);
    if (!known.has(name)) errors.push(unknownClaim(at, name, known));
    return errors;
  });
}

function unknownClaim(path: string, name: string, known: ReadonlySet<string>): FieldError {
  const list = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  const message = `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${list}`;
  return { type: 'FieldValueNotFound', field: path, message };
}
