import { formatQuantity, type Quantity } from '../../../object/quantity.ts';
import { NOTHING, type ResourceList } from '../../../object/resource-list.ts';

/** One item of a LimitRange's `spec.limits`. */
export interface Limit {
  readonly type: string;
  readonly min: ResourceList;
  readonly max: ResourceList;
  readonly maxLimitRequestRatio: ResourceList;
}

/** What one container, or a whole pod, asks for. */
export interface Asked {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
}

interface Constraint {
  /** `cpu usage per Container`, as messages begin. */
  readonly name: string;
  readonly type: string;
  readonly enforced: Quantity;
  readonly request: Quantity | undefined;
  readonly limit: Quantity | undefined;
}

/** What breaks the limit, in Kubernetes' words. */
export function violationsOf(limit: Limit, asked: Asked): string[] {
  return [
    ...check(limit.type, limit.min, asked, belowMinimum),
    ...check(limit.type, limit.max, asked, aboveMaximum),
    ...check(limit.type, limit.maxLimitRequestRatio, asked, aboveRatio),
  ];
}

/** Claims ask, and have no limits: what they ask for is measured against both ends. */
export function claimViolationsOf(limit: Limit, requests: ResourceList): string[] {
  const asked = { requests, limits: NOTHING };
  return [
    ...check(limit.type, limit.min, asked, belowMinimum),
    ...check(limit.type, limit.max, asked, requestAboveMaximum),
  ];
}

function check(
  type: string,
  enforced: ResourceList,
  { requests, limits }: Asked,
  rule: (constraint: Constraint) => string | undefined,
): string[] {
  return [...enforced].flatMap(
    ([name, quantity]) =>
      rule({ name, type, enforced: quantity, request: requests.get(name), limit: limits.get(name) }) ?? [],
  );
}

function belowMinimum({ name, type, enforced, request, limit }: Constraint): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  const below = comparison(request, limit, enforced);
  if (below(request) < 0) return `${rule}, but request is ${formatQuantity(request)}`;
  if (limit !== undefined && below(limit) < 0) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function aboveMaximum({ name, type, enforced, request, limit }: Constraint): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (limit === undefined) return `${rule}.  No limit is specified`;
  const above = comparison(request, limit, enforced);
  if (above(limit) > 0) return `${rule}, but limit is ${formatQuantity(limit)}`;
  if (request !== undefined && above(request) > 0)
    return `${rule}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function requestAboveMaximum({ name, type, enforced, request }: Constraint): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  return comparison(request, undefined, enforced)(request) > 0
    ? `${rule}, but request is ${formatQuantity(request)}`
    : undefined;
}

function aboveRatio({ name, type, enforced, request, limit }: Constraint): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(enforced)}`;
  const unit = unitOf(request, limit, enforced);
  const requested = amount(request, unit);
  const limited = amount(limit, unit);
  if (requested === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limited === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(limited) / Number(requested);
  const most = Number(amount(enforced, MILLI)) / 1000;
  return ratio > most ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

const WHOLE = 1_000_000_000n;
const MILLI = 1_000_000n;
/** Beyond it Kubernetes counts in whole units, because thousandths would overflow. */
const MOST_IN_MILLI = 9_223_372_036_854_775n * WHOLE;

const unitOf = (...quantities: readonly (Quantity | undefined)[]): bigint =>
  quantities.every((quantity) => quantity === undefined || quantity.nanos <= MOST_IN_MILLI) ? MILLI : WHOLE;

/** In units, the last one begun counting as whole. */
function amount(quantity: Quantity | undefined, unit: bigint): bigint {
  if (quantity === undefined) return 0n;
  const whole = quantity.nanos / unit;
  return quantity.nanos > whole * unit ? whole + 1n : whole;
}

function comparison(
  request: Quantity | undefined,
  limit: Quantity | undefined,
  enforced: Quantity,
): (quantity: Quantity) => number {
  const unit = unitOf(request, limit, enforced);
  return (quantity) => Number(amount(quantity, unit) - amount(enforced, unit));
}
