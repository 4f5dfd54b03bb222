import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  addInvalid,
  duplicate,
  forbiddenField,
  invalidValue,
  required,
} from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { objectsOf, text } from '../../../object/parts.ts';
import { parseQuantity } from '../../../object/quantity.ts';
import {
  canOvercommit,
  isExtendedResource,
  isHugePages,
  isIntegerResource,
  isNativeResource,
  isOfEveryContainer,
  isStandardContainerResource,
  isStandardResource,
} from '../../../object/resource-names.ts';
import { addName, eachAt, stringMap } from '../../validation/values.ts';

/** What a container asks for and may use at most. */
export function validateResources(
  resources: JsonObject,
  path: string,
  claimNames: ReadonlySet<string>,
  errors: FieldError[],
): void {
  const limits = stringMap(resources, 'limits');
  const requests = stringMap(resources, 'requests');
  validateAmounts(limits, `${path}.limits`, errors);
  validateAmounts(requests, `${path}.requests`, errors);
  for (const name in requests) validateAgainstLimit(name, requests[name] ?? '', { limits, path }, errors);
  if (holdsHugePages(limits) || holdsHugePages(requests)) {
    const names = [...Object.keys(limits), ...Object.keys(requests)];
    if (!names.includes('cpu') && !names.includes('memory'))
      errors.push(forbiddenField(path, 'HugePages require cpu or memory'));
  }
  if (resources.claims !== undefined)
    validateClaims(objectsOf(resources.claims), `${path}.claims`, claimNames, errors);
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

/** What a runtime class adds to every pod: limits of no container. */
export function validateOverhead(limits: JsonObject, path: string, errors: FieldError[]): void {
  validateResources({ limits }, path, NO_CLAIMS, errors);
}

type Amounts = Readonly<Record<string, string>>;

function holdsHugePages(amounts: Amounts): boolean {
  for (const name in amounts) if (isHugePages(name)) return true;
  return false;
}

function validateAmounts(amounts: Amounts, path: string, errors: FieldError[]): void {
  for (const name in amounts) {
    const at = `${path}[${name}]`;
    const amount = amounts[name] ?? '';
    if (!isOfEveryContainer(name)) validateContainerResourceName(name, at, errors);
    validateResourceAmount(name, amount, at, errors);
    if (isHugePages(name) && !isDivisible(name, amount))
      errors.push(invalidValue(at, amount, `${amount} is not positive integer multiple of ${name}`));
  }
}

function validateContainerResourceName(name: string, path: string, errors: FieldError[]): void {
  const problems = checkQualifiedName(name);
  addInvalid(errors, path, name, problems);
  if (!name.includes('/')) {
    if (problems.length === 0 && !isStandardResource(name))
      errors.push(invalidValue(path, name, 'must be a standard resource type or fully qualified'));
    if (!isStandardContainerResource(name))
      errors.push(invalidValue(path, name, 'must be a standard resource for containers'));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  }
}

const NANO = 1_000_000_000n;
const nanos = (quantity: string): bigint => parseQuantity(quantity)?.nanos ?? 0n;

/** Not below zero, and whole where only whole pieces can be had. */
function validateResourceAmount(name: string, amount: string, path: string, errors: FieldError[]): void {
  const value = nanos(amount);
  if (value < 0n) errors.push(invalidValue(path, amount, 'must be greater than or equal to 0'));
  if (isIntegerResource(name) && value % NANO !== 0n)
    errors.push(invalidValue(path, amount, 'must be an integer'));
}

function isDivisible(name: string, amount: string): boolean {
  const page = parseQuantity(name.slice('hugepages-'.length))?.nanos ?? 0n;
  return page > 0n && page % NANO === 0n && nanos(amount) % page === 0n;
}

function validateAgainstLimit(
  name: string,
  amount: string,
  { limits, path }: { limits: Amounts; path: string },
  errors: FieldError[],
): void {
  const limit = limits[name];
  if (limit === undefined) {
    if (!canOvercommit(name))
      errors.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
    return;
  }
  const [asked, most] = [nanos(amount), nanos(limit)];
  if (asked !== most && !canOvercommit(name))
    errors.push(invalidValue(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`));
  else if (asked > most) {
    const why = `must be less than or equal to ${name} limit of ${limit}`;
    errors.push(invalidValue(`${path}.requests`, amount, why));
  }
}

/** Claims of the pod, or single requests of them, that a container uses: each once. */
function validateClaims(
  claims: readonly JsonObject[],
  path: string,
  known: ReadonlySet<string>,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  eachAt(claims, path, (claim, at) => {
    const name = text(claim.name);
    const request = text(claim.request);
    if (name === '') {
      errors.push(required(at));
      return;
    }
    if (request !== '') addName(errors, `${at}.request`, request, 'dns-label');
    const key = request === '' ? name : `${name}/${request}`;
    const whole = request === '' && [...seen].some((other) => other.startsWith(`${name}/`));
    if (seen.has(name)) errors.push(duplicate(at, name));
    else if (seen.has(key) || whole) errors.push(duplicate(at, key));
    seen.add(key);
    if (!known.has(name)) errors.push(unknownClaim(at, name, known));
  });
}

function unknownClaim(path: string, name: string, known: ReadonlySet<string>): FieldError {
  const list = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  const message = `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${list}`;
  return { type: 'FieldValueNotFound', field: path, message };
}
