import { randomUUID } from 'node:crypto';
import type { LimitRange, LimitRangeItem } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { canOvercommit } from '../../object/resource-list.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { define } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { nanosOf, roundUpToMilli } from '../rules/numbers.ts';
import { mustBeContainerResource, mustBeResource } from '../rules/resource-amounts.ts';

export const limitranges = define<LimitRange>({
  group: '',
  resource: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
  shortNames: ['limits'],
  versions: [{ version: 'v1', type: 'core/v1.LimitRange' }],
  strategy: {
    allowCreateOnUpdate: true,
    defaults: setDefaults,
    prepareForCreate: ({ metadata }) => {
      if ((metadata.name ?? '') === '') metadata.name = randomUUID();
    },
    validate: checked(validate),
  },
});

const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
type List = (typeof LISTS)[number];

function setDefaults({ spec = {} }: LimitRange): void {
  for (const limit of spec.limits ?? []) {
    for (const list of LISTS) roundUpToMilli(limit[list] ?? {});
    if (limit.type === 'Container') fillDefaults(limit);
  }
}

/** Containers get the maximum as their limit, and the limit, or else the minimum, as their request. */
function fillDefaults(limit: LimitRangeItem): void {
  const limits = { ...limit.max, ...limit.default };
  const requests = { ...limit.min, ...limits, ...limit.defaultRequest };
  if (Object.keys(limits).length > 0) limit.default = limits;
  if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
}

function validate(root: FieldPath, { spec = {} }: LimitRange): void {
  const seen = new Set<string>();
  for (const [path, limit] of root.field('spec').field('limits').each(spec.limits)) {
    const { type = '' } = limit;
    mustBeLimitType(path.field('type'), type);
    if (seen.has(type)) path.field('type').duplicate(type);
    seen.add(type);
    validateLimit(path, limit);
  }
}

const TYPES = ['Container', 'PersistentVolumeClaim', 'Pod'];

function mustBeLimitType(at: FieldPath, type: string): void {
  const problems = checkQualifiedName(type);
  at.invalidFor(type, problems);
  if (problems.length === 0 && !type.includes('/') && !TYPES.includes(type))
    at.invalid(type, 'must be a standard limit type or fully qualified');
}

function validateLimit(at: FieldPath, limit: LimitRangeItem): void {
  const { type, min, max } = limit;
  if (type === 'Pod') mustHaveNoDefaults(at, limit);
  // Pods have no defaults: these lists are ignored.
  const lists = LISTS.filter((list) => type !== 'Pod' || !list.startsWith('default'));
  const names = new Set<string>();
  for (const list of lists)
    for (const [path, name] of at.field(list).entries(limit[list])) {
      names.add(name);
      if (type === 'Pod' || type === 'Container') mustBeContainerResource(path, name);
      else mustBeResource(path, name);
    }
  if (type === 'PersistentVolumeClaim' && min?.storage === undefined && max?.storage === undefined)
    at.field('limits').required(
      'either minimum or maximum storage value is required, but neither was provided',
    );
  for (const name of names) validateAmounts(at, name, amountsOf(limit, lists, name));
}

function mustHaveNoDefaults(at: FieldPath, limit: LimitRangeItem): void {
  for (const list of ['default', 'defaultRequest'] as const)
    if (Object.keys(limit[list] ?? {}).length > 0)
      at.field(list).forbidden("may not be specified when `type` is 'Pod'");
}

/** The value of one resource in each list of a limit. */
type Amounts = Partial<Record<List, string>>;

function amountsOf(limit: LimitRangeItem, lists: readonly List[], name: string): Amounts {
  const amounts: Amounts = {};
  for (const list of lists) {
    const given = limit[list] ?? {};
    const amount = Object.hasOwn(given, name) ? given[name] : undefined;
    if (amount !== undefined) amounts[list] = amount;
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

function validateAmounts(at: FieldPath, name: string, amounts: Amounts): void {
  for (const { lower, upper, blamed, shown } of ORDERS) {
    const low = amounts[lower];
    const high = amounts[upper];
    if (low === undefined || high === undefined || nanosOf(low) <= nanosOf(high)) continue;
    at.field(blamed)
      .item(name)
      .invalid(
        amounts[shown],
        `${wordFor(lower, upper)} value ${low} is greater than ${wordFor(upper, lower)} value ${high}`,
      );
  }
  validateRatio(at.field('maxLimitRequestRatio').item(name), amounts);
  if (!canOvercommit(name)) mustDefaultToRequest(at.field('defaultRequest').item(name), name, amounts);
}

/** A default limit is called so only beside a default request. */
function wordFor(list: List, other: List): string {
  if (list === 'defaultRequest') return 'default request';
  return list === 'default' && other === 'defaultRequest' ? 'default limit' : list;
}

const ONE = 1_000_000_000n;

function validateRatio(at: FieldPath, { maxLimitRequestRatio, min, max }: Amounts): void {
  if (maxLimitRequestRatio === undefined) return;
  const ratio = nanosOf(maxLimitRequestRatio);
  if (ratio < ONE) at.invalid(maxLimitRequestRatio, `ratio ${maxLimitRequestRatio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const most = Number(nanosOf(max)) / Number(nanosOf(min));
  if (Number(ratio) / Number(ONE) > most)
    at.invalid(
      maxLimitRequestRatio,
      `ratio ${maxLimitRequestRatio} is greater than max/min = ${most.toFixed(6)}`,
    );
}

/** Resources that cannot be overcommitted (huge pages, devices) need equal limits and requests. */
function mustDefaultToRequest(at: FieldPath, name: string, amounts: Amounts): void {
  const { default: limit, defaultRequest: request } = amounts;
  if (limit === undefined || request === undefined || nanosOf(limit) === nanosOf(request)) return;
  at.invalid(request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`);
}
