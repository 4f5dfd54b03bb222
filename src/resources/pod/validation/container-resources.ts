import type { PodResourceClaim, ResourceClaim, ResourceRequirements } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { parseQuantity } from '../../../object/quantity.ts';
import {
  canOvercommit,
  isHugePages,
  isIntegerResource,
  isOfEveryContainer,
} from '../../../object/resource-list.ts';
import { mustBeName } from '../../rules/name-rules.ts';
import { mustBeContainerResource } from '../../rules/resource-amounts.ts';

/** Requests and limits of containers, and the devices that a pod claims for them. */

type Amounts = Readonly<Record<string, string>>;
const NO_AMOUNTS: Amounts = Object.freeze({});
const NO_CLAIMS: ReadonlySet<string> = new Set();

export function validateResources(
  at: FieldPath,
  { limits = NO_AMOUNTS, requests = NO_AMOUNTS, claims }: ResourceRequirements,
  claimNames: ReadonlySet<string>,
  mustBeKnown: NameCheck = mustBeOfContainers,
): void {
  validateAmounts(at.field('limits'), limits, mustBeKnown);
  validateAmounts(at.field('requests'), requests, mustBeKnown);
  for (const name in requests) validateAgainstLimit(at, name, requests[name] ?? '', limits);
  if (holdsHugePages(limits) || holdsHugePages(requests)) {
    const names = [...Object.keys(limits), ...Object.keys(requests)];
    if (!names.includes('cpu') && !names.includes('memory')) at.forbidden('HugePages require cpu or memory');
  }
  if (claims !== undefined) validateClaims(at.field('claims'), claims, claimNames);
}

type NameCheck = (at: FieldPath, name: string) => void;

const mustBeOfContainers: NameCheck = (at, name) => {
  if (!isOfEveryContainer(name)) mustBeContainerResource(at, name);
};

/** Overhead, which a runtime class adds to every pod, is no container's limit. */
export function validateOverhead(at: FieldPath, limits: Amounts): void {
  validateResources(at, { limits }, NO_CLAIMS);
}

function holdsHugePages(amounts: Amounts): boolean {
  for (const name in amounts) if (isHugePages(name)) return true;
  return false;
}

function validateAmounts(at: FieldPath, amounts: Amounts, mustBeKnown: NameCheck): void {
  for (const name in amounts) {
    const path = at.item(name);
    const amount = amounts[name] ?? '';
    mustBeKnown(path, name);
    validateAmount(path, name, amount);
    if (isHugePages(name) && !isDivisible(name, amount))
      path.invalid(amount, `${amount} is not positive integer multiple of ${name}`);
  }
}

const NANO = 1_000_000_000n;
const nanos = (quantity: string): bigint => parseQuantity(quantity)?.nanos ?? 0n;

/** Amounts are not negative, and integral where units are indivisible. */
function validateAmount(at: FieldPath, name: string, amount: string): void {
  const value = nanos(amount);
  if (value < 0n) at.invalid(amount, 'must be greater than or equal to 0');
  if (isIntegerResource(name) && value % NANO !== 0n) at.invalid(amount, 'must be an integer');
}

function isDivisible(name: string, amount: string): boolean {
  const page = parseQuantity(name.slice('hugepages-'.length))?.nanos ?? 0n;
  return page > 0n && page % NANO === 0n && nanos(amount) % page === 0n;
}

function validateAgainstLimit(at: FieldPath, name: string, amount: string, limits: Amounts): void {
  const limit = limits[name];
  if (limit === undefined) {
    if (!canOvercommit(name))
      at.field('limits').required('Limit must be set for non overcommitable resources');
    return;
  }
  const [asked, most] = [nanos(amount), nanos(limit)];
  if (asked !== most && !canOvercommit(name))
    at.field('requests').invalid(amount, `must be equal to ${name} limit of ${limit}`);
  else if (asked > most)
    at.field('requests').invalid(amount, `must be less than or equal to ${name} limit of ${limit}`);
}

/** Claims of the pod, or single requests of them, that a container uses: each once. */
function validateClaims(at: FieldPath, claims: readonly ResourceClaim[], known: ReadonlySet<string>): void {
  const seen = new Set<string>();
  const namedInParts = new Set<string>();
  for (const [path, { name = '', request = '' }] of at.each(claims)) {
    if (name === '') {
      path.required();
      continue;
    }
    if (request !== '') mustBeName(path.field('request'), request, 'dns-label');
    const key = request === '' ? name : `${name}/${request}`;
    const isWholeBesideParts = request === '' && namedInParts.has(name);
    if (seen.has(name)) path.duplicate(name);
    else if (seen.has(key) || isWholeBesideParts) path.duplicate(key);
    seen.add(key);
    if (request !== '') namedInParts.add(name);
    if (!known.has(name)) addUnknownClaim(path, name, known);
  }
}

function addUnknownClaim(at: FieldPath, name: string, known: ReadonlySet<string>): void {
  const list = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  const message = `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${list}`;
  at.add([{ type: 'FieldValueNotFound', field: String(at), message }]);
}

const REFERENCES = ['resourceClaimName', 'resourceClaimTemplateName'] as const;

/** Devices the pod uses: claims that exist, or are made for it. */
export function validateResourceClaims(at: FieldPath, claims: readonly PodResourceClaim[]): void {
  const names = new Set<string>();
  for (const [path, claim] of at.each(claims)) {
    const given = REFERENCES.filter((field) => claim[field] !== undefined);
    validateClaimName(path.field('name'), claim.name ?? '', names);
    if (given.length > 1)
      path.invalid(
        claim,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      );
    if (given.length === 0)
      path.invalid(claim, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    for (const field of given) mustBeName(path.field(field), claim[field] ?? '', 'dns-subdomain');
  }
}

function validateClaimName(at: FieldPath, name: string, seen: Set<string>): void {
  if (name === '') at.required();
  else if (seen.has(name)) at.duplicate(name);
  else {
    seen.add(name);
    mustBeName(at, name, 'dns-label');
  }
}
