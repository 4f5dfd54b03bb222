import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { type FieldError, unknownError } from '../../api/status.ts';
import type { ScopedResourceSelectorRequirement } from '../../api/types/core/v1.ts';
import { asObject, checkFields, checkOneOf, required, throwProblems } from '../../object/field-errors.ts';
import { objectsOf, stringOf } from '../../object/json-values.ts';
import { formatQuantity, type Quantity } from '../../object/quantity.ts';
import { addLists, type ResourceList } from '../../object/resource-list.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { refusal } from '../plugin.ts';
import { type Measure, only, type Quota, type ScopeSelector, toScopeSelectors } from './quota.ts';

/** One write, to be charged to the quotas of its namespace. */
export interface Charged {
  readonly attributes: AdmissionAttributes;
  readonly object: ApiObject;
  readonly measure: Measure;
  readonly now: Date;
}

/**
 * The usage that the write adds to each quota that counts it, by the quota's name.
 * @throws StatusError 403 when a quota does not allow it, or must allow it and does not exist
 */
export function chargesOf(
  quotas: readonly Quota[],
  write: Charged,
  limited: readonly LimitedResource[],
): ReadonlyMap<string, ResourceList> {
  const { attributes, object, measure, now } = write;
  const counting = quotas.filter((quota) => isCounted(quota, measure, object));
  for (const quota of counting) refuseUnclear(quota, write);
  const usage = measure.usage(object, now);
  const negative = [...usage].filter(([, { nanos }]) => nanos < 0n).map(([name]) => name);
  if (negative.length > 0)
    throw refusal(attributes, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  const added = addedTo(usage, write);
  // A quota that did not count the object before is charged for all of it.
  const bills = counting.flatMap((quota) => {
    const { old } = attributes;
    const isNew = old !== undefined && !isCounted(quota, measure, old);
    const bill = isNew ? positive(usage) : added;
    return bill.size === 0 ? [] : [{ quota, bill }];
  });
  if (counting.length === 0 ? added.size === 0 : bills.length === 0) return new Map();
  refuseUncovered(quotas, counting, write, limited);
  for (const { quota, bill } of bills) refuseExcess(quota, bill, attributes);
  return new Map(bills.map(({ quota, bill }) => [quota.name, only(bill, (name) => quota.hard.has(name))]));
}

/**
 * A status reports what has happened already: it is charged, but never refused.
 * @throws StatusError 403 when the added usage exceeds the quota's limits
 */
export function refuseExcess(quota: Quota, added: ResourceList, attributes: AdmissionAttributes): void {
  if (attributes.subresource === 'status') return;
  const exceeded = (name: string): boolean => {
    const most = quota.hard.get(name)?.nanos;
    const more = added.get(name)?.nanos;
    return most !== undefined && more !== undefined && (quota.used.get(name)?.nanos ?? 0n) + more > most;
  };
  if (![...added.keys()].some(exceeded)) return;
  const amounts = (list: ResourceList): string => formatAmounts(only(list, exceeded));
  throw refusal(
    attributes,
    `exceeded quota: ${quota.name}, requested: ${amounts(added)}, used: ${amounts(quota.used)}, limited: ${amounts(quota.hard)}`,
  );
}

const isCounted = ({ hard, scopes }: Quota, measure: Measure, object: ApiObject): boolean =>
  [...hard.keys()].some((name) => measure.counts(name)) &&
  scopes.every((selector) => measure.isInScope?.(selector, object) === true);

function refuseUnclear({ name, hard, used }: Quota, { attributes, object, measure }: Charged): void {
  const names = [...hard.keys()].filter((one) => measure.counts(one));
  const missing = measure.missing?.(names, object);
  if (missing !== undefined) throw refusal(attributes, `failed quota: ${name}: ${missing}`);
  if (!names.every((one) => used.has(one)))
    throw refusal(attributes, `status unknown for quota: ${name}, resources: ${names.sort().join(',')}`);
}

/** The usage that an update adds. Usage that it frees is given back when usage is next computed. */
function addedTo(usage: ResourceList, { attributes, measure, now }: Charged): ResourceList {
  const before = attributes.old === undefined ? undefined : measure.usage(attributes.old, now);
  const added = [...usage].map(([name, quantity]) => {
    const nanos = quantity.nanos - (before?.get(name)?.nanos ?? 0n);
    return [name, { ...quantity, nanos }] as const;
  });
  return positive(added);
}

const positive = (amounts: Iterable<readonly [string, Quantity]>): ResourceList =>
  new Map([...amounts].filter(([, { nanos }]) => nanos > 0n));

/** Some resources need a quota that allows them (the plugin's configuration). */
function refuseUncovered(
  quotas: readonly Quota[],
  counting: readonly Quota[],
  { attributes, object, measure, now }: Charged,
  limited: readonly LimitedResource[],
): void {
  const own = limited.filter(
    ({ group, resource }) => group === measure.resource.group && resource === measure.resource.resource,
  );
  const consumed = [...measure.usage(object, now)].filter(([, { nanos }]) => nanos > 0n);
  const names = consumed.flatMap(([name]) =>
    own.some(({ matchContains }) => matchContains.some((part) => name.includes(part))) ? [name] : [],
  );
  const isCovered = (name: string): boolean =>
    counting.some(({ hard }) => hard.has(name) && measure.counts(name));
  const uncovered = names.filter((name) => !isCovered(name));
  if (uncovered.length > 0)
    throw refusal(attributes, `insufficient quota to consume: ${uncovered.sort().join(',')}`);
  const inScope = (selectors: Quota['scopes']) =>
    selectors.filter((selector) => measure.isInScope?.(selector, object) === true);
  const covered = new Set(quotas.flatMap(({ scopes }) => inScope(scopes)).map(({ scope }) => scope));
  const open = own
    .flatMap(({ matchScopes }) => inScope(matchScopes))
    .filter(({ scope }) => !covered.has(scope));
  if (open.length === 0) return;
  const texts = open.map(({ scope, operator, values }) => `{${scope} ${operator} [${values.join(' ')}]}`);
  // Kubernetes gives this error no status of its own.
  throw unknownError(`insufficient quota to match these scopes: [${texts.join(' ')}]`);
}

/** The quota after the charge of a write. */
export const withCharge = (quota: Quota, added: ResourceList | undefined): Quota =>
  added === undefined ? quota : { ...quota, used: addLists(quota.used, added) };

const formatAmounts = (list: ResourceList): string =>
  [...list]
    .map(([name, quantity]) => `${name}=${formatQuantity(quantity)}`)
    .sort()
    .join(',');

/** A resource that needs a quota, with the names or scopes of usage that do. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Names of usage that contain one of these. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeSelector[];
}

const API_VERSIONS = ['k8s.io', 'cluster.io'].flatMap((domain) => [
  `apiserver.config.${domain}/v1`,
  `resourcequota.admission.${domain}/v1beta1`,
  `resourcequota.admission.${domain}/v1alpha1`,
]);

/**
 *   apiVersion: apiserver.config.k8s.io/v1
 *   kind: ResourceQuotaConfiguration
 *   limitedResources:
 *   - resource: pods
 *     matchScopes: [{scopeName: PriorityClass, operator: In, values: [cluster-services]}]
 *
 * @throws Error with all problems
 */
export function readQuotaConfig(config: JsonValue | undefined): LimitedResource[] {
  if (config === undefined) return [];
  const file = asObject(config);
  const problems: FieldError[] = [];
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['ResourceQuotaConfiguration', 'Configuration'], 'kind', problems);
  checkFields(file, ['apiVersion', 'kind', 'limitedResources'], '', problems);
  const limited = objectsOf(file.limitedResources).map((one, at) => readLimited(one, at, problems));
  throwProblems('ResourceQuota configuration', problems);
  return limited;
}

function readLimited(one: JsonObject, at: number, problems: FieldError[]): LimitedResource {
  const path = `limitedResources[${at}]`;
  checkFields(one, ['apiGroup', 'resource', 'matchContains', 'matchScopes'], path, problems);
  const resource = stringOf(one.resource);
  if (resource === '') problems.push(required(`${path}.resource`));
  const contains = Array.isArray(one.matchContains) ? one.matchContains : [];
  return {
    group: stringOf(one.apiGroup),
    resource,
    matchContains: contains.map((part) => stringOf(part)),
    matchScopes: toScopeSelectors(objectsOf(one.matchScopes).map(readScope)),
  };
}

const readScope = ({ scopeName, operator, values }: JsonObject): ScopedResourceSelectorRequirement => ({
  scopeName: stringOf(scopeName),
  operator: stringOf(operator),
  values: Array.isArray(values) ? values.map((value) => stringOf(value)) : [],
});
