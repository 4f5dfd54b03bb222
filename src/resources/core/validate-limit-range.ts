import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid, forbiddenField, invalidValue, required } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { canOvercommit } from '../../object/resource-names.ts';
import { nanosOf } from '../validation/quantity-values.ts';
import { each } from '../validation/values.ts';
import { validateContainerResourceName, validateResourceName } from './validate-resource-name.ts';

const TYPES = ['Container', 'PersistentVolumeClaim', 'Pod'];
const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type List = (typeof LISTS)[number];
const ONE = 1_000_000_000n;

export function validateLimitRange(range: ApiObject): FieldError[] {
  const seen = new Set<string>();
  return each(parts(part(range, 'spec'), 'limits'), 'spec.limits', (limit, at) => {
    const type = text(limit.type);
    const errors = [
      ...validateType(type, `${at}.type`),
      ...(seen.has(type) ? [duplicate(`${at}.type`, type)] : []),
      ...validateLimit(limit, type, at),
    ];
    seen.add(type);
    return errors;
  });
}

function validateType(type: string, path: string): FieldError[] {
  const errors = eachInvalid(path, type, checkQualifiedName(type));
  if (errors.length > 0 || type.includes('/') || TYPES.includes(type)) return errors;
  return [invalidValue(path, type, 'must be a standard limit type or fully qualified')];
}

function validateLimit(limit: JsonObject, type: string, path: string): FieldError[] {
  const errors = type === 'Pod' ? forbidDefaults(limit, path) : [];
  // Pods have no defaults, so these are not looked at either.
  const lists = LISTS.filter((list) => type !== 'Pod' || !list.startsWith('default'));
  const names = new Set<string>();
  for (const list of lists) {
    for (const name of Object.keys(part(limit, list))) {
      names.add(name);
      errors.push(...validateName(type, name, `${path}.${list}[${name}]`));
    }
  }
  if (type === 'PersistentVolumeClaim' && !hasStorage(limit)) {
    const why = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(`${path}.limits`, why));
  }
  for (const name of names) errors.push(...validateRelations(amountsOf(limit, lists, name), path, name));
  return errors;
}

const forbidDefaults = (limit: JsonObject, path: string): FieldError[] =>
  ['default', 'defaultRequest']
    .filter((list) => Object.keys(part(limit, list)).length > 0)
    .map((list) => forbiddenField(`${path}.${list}`, "may not be specified when `type` is 'Pod'"));

const validateName = (type: string, name: string, path: string): FieldError[] =>
  type === 'Pod' || type === 'Container'
    ? validateContainerResourceName(name, path)
    : validateResourceName(name, path);

const hasStorage = (limit: JsonObject): boolean =>
  part(limit, 'min').storage !== undefined || part(limit, 'max').storage !== undefined;

type Amounts = Partial<Record<List, string>>;

function amountsOf(limit: JsonObject, lists: readonly List[], name: string): Amounts {
  const amounts: Amounts = {};
  for (const list of lists) {
    const value = part(limit, list)[name];
    if (value !== undefined) amounts[list] = text(value);
  }
  return amounts;
}

/** Two of a limit's lists of which the first may not have more of a resource, and which of them is to blame. */
interface Order {
  readonly lower: List;
  readonly upper: List;
  readonly blamed: List;
  readonly shown: List;
}

const ORDERS: readonly Order[] = [
  { lower: 'min', upper: 'max', blamed: 'min', shown: 'min' },
  { lower: 'min', upper: 'defaultRequest', blamed: 'defaultRequest', shown: 'defaultRequest' },
  { lower: 'defaultRequest', upper: 'max', blamed: 'defaultRequest', shown: 'defaultRequest' },
  { lower: 'defaultRequest', upper: 'default', blamed: 'defaultRequest', shown: 'defaultRequest' },
  { lower: 'min', upper: 'default', blamed: 'default', shown: 'min' },
  { lower: 'default', upper: 'max', blamed: 'default', shown: 'max' },
];

function validateRelations(amounts: Amounts, path: string, name: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const { lower, upper, blamed, shown } of ORDERS) {
    const low = amounts[lower];
    const high = amounts[upper];
    if (low === undefined || high === undefined || nanosOf(low) <= nanosOf(high)) continue;
    const why = `${wordFor(lower, upper)} value ${low} is greater than ${wordFor(upper, lower)} value ${high}`;
    errors.push(invalidValue(`${path}.${blamed}[${name}]`, amounts[shown], why));
  }
  return [
    ...errors,
    ...validateRatio(amounts, `${path}.maxLimitRequestRatio[${name}]`),
    ...validateOvercommit(amounts, path, name),
  ];
}

/** A default limit is called so only where a default request stands beside it. */
function wordFor(list: List, other: List): string {
  if (list === 'defaultRequest') return 'default request';
  return list === 'default' && other === 'defaultRequest' ? 'default limit' : list;
}

function validateRatio({ maxLimitRequestRatio, min, max }: Amounts, path: string): FieldError[] {
  if (maxLimitRequestRatio === undefined) return [];
  const ratio = nanosOf(maxLimitRequestRatio);
  const errors: FieldError[] = [];
  if (ratio < ONE) {
    errors.push(invalidValue(path, maxLimitRequestRatio, `ratio ${maxLimitRequestRatio} is less than 1`));
  }
  if (min === undefined || max === undefined) return errors;
  const most = Number(nanosOf(max)) / Number(nanosOf(min));
  if (Number(ratio) / Number(ONE) > most) {
    const why = `ratio ${maxLimitRequestRatio} is greater than max/min = ${most.toFixed(6)}`;
    errors.push(invalidValue(path, maxLimitRequestRatio, why));
  }
  return errors;
}

/** Of what cannot be overcommitted (huge pages, devices) a container gets as much as it asks for. */
function validateOvercommit(amounts: Amounts, path: string, name: string): FieldError[] {
  const { default: limit, defaultRequest: request } = amounts;
  if (canOvercommit(name) || limit === undefined || request === undefined) return [];
  if (nanosOf(limit) === nanosOf(request)) return [];
  const why = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
  return [invalidValue(`${path}.defaultRequest[${name}]`, request, why)];
}
