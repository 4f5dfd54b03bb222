import { CLAIMS, PODS } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
} from '../../api/types/core/v1.ts';
import { podResources, resourcesOf } from '../../object/pod-resources.ts';
import { formatQuantity, type Quantity } from '../../object/quantity.ts';
import { NOTHING, type ResourceList, toResourceList } from '../../object/resource-list.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, isWriteOf, type PluginParts, refuseFor, type WriteOf } from '../plugin.ts';

const LIMIT_RANGES: ResourceOf<LimitRange> = { group: '', resource: 'limitranges' };

/**
 * Applies the LimitRanges of a namespace: defaults for containers, and the least and most that containers, pods and claims may
 * ask for (Kubernetes: plugin/pkg/admission/limitranger).
 */
function createLimitRanger(objects: ClusterObjects): AdmissionPlugin {
  const limitRanges = objects.follow(LIMIT_RANGES);
  return {
    name: 'LimitRanger',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      const pod = limitedPod(attributes);
      if (pod === undefined) return;
      const isNew = attributes.operation === 'CREATE';
      for (const limitRange of limitRanges.in(attributes.namespace)) {
        const given = giveDefaults(pod, limitRange);
        // A resize changes no annotations.
        if (isNew && given.length > 0) annotate(pod, given);
      }
    },
    validate: (attributes) => {
      const violations = checkOf(attributes);
      if (violations === undefined) return;
      for (const { spec } of limitRanges.in(attributes.namespace))
        refuseFor(attributes, (spec?.limits ?? []).map(toLimit).flatMap(violations));
    },
  };
}

/** The check of a write against each limit; undefined: limits do not apply to the write. */
function checkOf(attributes: AdmissionAttributes): ((limit: Limit) => string[]) | undefined {
  const pod = limitedPod(attributes);
  if (pod !== undefined) return (limit) => podViolations(limit, pod);
  const claim = stayingClaim(attributes);
  return claim && ((limit) => claimViolations(limit, claim));
}

/** A new pod, or one that is resized: no other write changes what the containers of a pod ask for. */
function limitedPod(attributes: AdmissionAttributes): Pod | undefined {
  const isNew = attributes.operation === 'CREATE' && isWriteOf(attributes, PODS);
  return isNew || isWriteOf(attributes, PODS, 'resize') ? unlessEnding(attributes) : undefined;
}

/** Claims are also checked on updates, because they may grow. */
const stayingClaim = (attributes: AdmissionAttributes): PersistentVolumeClaim | undefined =>
  isWriteOf(attributes, CLAIMS) ? unlessEnding(attributes) : undefined;

/** The written object. Undefined: it is being deleted, and no limit may hold that up. */
const unlessEnding = <T extends ApiObject>({ object, old }: WriteOf<T>): T | undefined =>
  old?.metadata.deletionTimestamp === undefined ? object : undefined;

const toLimit = ({ type = '', min, max, maxLimitRequestRatio }: LimitRangeItem): Limit => ({
  type,
  min: toResourceList(min),
  max: toResourceList(max),
  maxLimitRequestRatio: toResourceList(maxLimitRequestRatio),
});

function podViolations(limit: Limit, { spec = {} }: Pod): string[] {
  if (limit.type === 'Pod') {
    const sumOf = (of: 'requests' | 'limits'): ResourceList => podResources(spec, of, isLimitedAsStated);
    return violationsOf(limit, { requests: sumOf('requests'), limits: sumOf('limits') });
  }
  if (limit.type !== 'Container') return [];
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return containers.flatMap((container) => violationsOf(limit, askedBy(container)));
}

/** Of huge pages, limits for pods look at the containers alone. */
const isLimitedAsStated = (name: string): boolean => name === 'cpu' || name === 'memory';

const askedBy = (container: Container): Asked => ({
  requests: resourcesOf(container, 'requests'),
  limits: resourcesOf(container, 'limits'),
});

function claimViolations(limit: Limit, { spec }: PersistentVolumeClaim): string[] {
  if (limit.type !== 'PersistentVolumeClaim') return [];
  return claimViolationsOf(limit, toResourceList(spec?.resources?.requests));
}

export const limitRanger = describePlugin({
  name: 'LimitRanger',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createLimitRanger(objects),
});

const ANNOTATION = 'kubernetes.io/limit-ranger';

/** Gives the containers of a pod the defaults of a LimitRange. Returns the texts of the annotation about them. */
function giveDefaults(pod: Pod, limitRange: LimitRange): string[] {
  const defaults = defaultsOf(limitRange);
  const { containers, initContainers } = pod.spec ?? {};
  return [
    ...(containers ?? []).flatMap((container) => complete(container, 'container', defaults)),
    ...(initContainers ?? []).flatMap((container) => complete(container, 'init container', defaults)),
  ];
}

function annotate(pod: Pod, given: readonly string[]): void {
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${given.join('; ')}`,
  };
}

type Amounts = Readonly<Record<string, string>>;

interface Defaults {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function defaultsOf({ spec }: LimitRange): Defaults {
  const limits = (spec?.limits ?? []).filter(({ type }) => type === 'Container');
  const all = (of: 'defaultRequest' | 'default'): Amounts =>
    Object.assign({}, ...limits.map((limit) => limit[of]));
  return { requests: all('defaultRequest'), limits: all('default') };
}

/** Returns the text of the annotation about the given defaults. */
function complete(container: Container, kind: string, defaults: Defaults): string[] {
  return (['requests', 'limits'] as const).flatMap((of) => {
    const held = container.resources?.[of] ?? {};
    const missing = Object.entries(defaults[of]).filter(([name]) => held[name] === undefined);
    if (missing.length === 0) return [];
    container.resources = { ...container.resources, [of]: { ...held, ...Object.fromEntries(missing) } };
    const names = missing.map(([name]) => name).sort();
    return [`${names.join(', ')} ${of.slice(0, -1)} for ${kind} ${container.name ?? ''}`];
  });
}

/** One item of a LimitRange's `spec.limits`. */
interface Limit {
  readonly type: string;
  readonly min: ResourceList;
  readonly max: ResourceList;
  readonly maxLimitRequestRatio: ResourceList;
}

/** The requests and limits of one container or a whole pod. */
interface Asked {
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

/** The violations of a limit, in Kubernetes' words. */
function violationsOf(limit: Limit, asked: Asked): string[] {
  return [
    ...check(limit.type, limit.min, asked, belowMinimum),
    ...check(limit.type, limit.max, asked, aboveMaximum),
    ...check(limit.type, limit.maxLimitRequestRatio, asked, aboveRatio),
  ];
}

/** Claims have requests but no limits, so their requests are checked against both minimum and maximum. */
function claimViolationsOf(limit: Limit, requests: ResourceList): string[] {
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
/** Beyond this Kubernetes compares whole units, because thousandths would overflow. */
const MOST_IN_MILLI = 9_223_372_036_854_775n * WHOLE;

const unitOf = (...quantities: readonly (Quantity | undefined)[]): bigint =>
  quantities.every((quantity) => quantity === undefined || quantity.nanos <= MOST_IN_MILLI) ? MILLI : WHOLE;

/** The amount in units, rounded up. */
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
