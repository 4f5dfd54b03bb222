import { minorOf } from '../../api/feature-gates.ts';
import type {
  ResourceQuota,
  ResourceQuotaSpec,
  ScopedResourceSelectorRequirement,
} from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { parseQuantity } from '../../object/quantity.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goScopes } from '../rules/go-structs.ts';
import { roundUpToMilli } from '../rules/numbers.ts';
import { isQuotaResource, mustBeAmountOf, mustBeQuotaResource } from '../rules/resource-amounts.ts';

type Amounts = Readonly<Record<string, string>>;

const table: Table<ResourceQuota> = {
  columns: [nameColumn(), column('Request'), column('Limit'), column('Age')],
  cells: (quota, now) => {
    const { hard = {}, used = {} } = quota.status ?? {};
    const [requests, limits] = usageTexts(hard, used);
    return [quota.metadata.name ?? '', requests.join(', '), limits.join(', '), age(quota, now)];
  },
};

const ageInSecondPlace = <Cell>([name, requests, limits, age]: readonly Cell[]): Cell[] =>
  [name, age, requests, limits].filter((cell) => cell !== undefined);

/** Used and most of each resource; limits have a column of their own. */
function usageTexts(hard: Amounts, used: Amounts): [requests: string[], limits: string[]] {
  const requests: string[] = [];
  const limits: string[] = [];
  for (const [name, most] of Object.entries(hard).sort(byName)) {
    const usage = Object.hasOwn(used, name) ? used[name] : undefined;
    const target = name.startsWith('limits.') ? limits : requests;
    target.push(`${name}: ${usage || '0'}/${most || '0'}`);
  }
  return [requests, limits];
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

export const resourcequotas = define<ResourceQuota>({
  group: '',
  resource: 'resourcequotas',
  quotaName: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
  shortNames: ['quota'],
  versions: [{ version: 'v1', type: 'core/v1.ResourceQuota' }],
  olderTables: [
    {
      until: 33,
      columns: ageInSecondPlace(table.columns),
      cells: (quota, now) => ageInSecondPlace(table.cells(quota, now)),
    },
  ],
  emptyStatus: {},
  validateStatus: checked(validateStatus),
  table,
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec }) => roundUpToMilli(spec?.hard ?? {}),
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings: ({ spec }, old, isOn) =>
      old === undefined && minorOf(isOn) >= 35 ? warnings(spec?.hard ?? {}) : [],
  },
});

/** Requests beyond the limits of the same resource are never reached. */
function warnings(hard: Amounts): string[] {
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const bare = name === 'cpu' || name === 'memory' ? [name] : [];
    const request = [`requests.${name}`, ...bare].find((key) => hard[key] !== undefined);
    const limit = `limits.${name}`;
    if (request === undefined || hard[limit] === undefined) return [];
    const [most, least] = [parseQuantity(hard[limit]), parseQuantity(hard[request] ?? '')];
    if (most === undefined || least === undefined || least.nanos <= most.nanos) return [];
    return [`ResourceQuota ${request} (${hard[request]}) should be less than ${limit} (${hard[limit]})`];
  });
}

function validate(root: FieldPath, { spec = {} }: ResourceQuota): void {
  const at = root.field('spec');
  validateAmounts(at.field('hard'), spec.hard);
  validateScopes(at.field('scopes'), spec);
  validateScopeSelector(at.field('scopeSelector').field('matchExpressions'), spec);
}

function validateStatus(root: FieldPath, { status = {} }: ResourceQuota): void {
  const at = root.field('status');
  validateAmounts(at.field('hard'), status.hard);
  validateAmounts(at.field('used'), status.used);
}

function validateUpdate(root: FieldPath, { spec = {} }: ResourceQuota, old: ResourceQuota): void {
  const { scopes = [] } = spec;
  if (!equal(toSet(scopes), toSet(old.spec?.scopes ?? [])))
    root.field('spec').field('scopes').invalid(goScopes(scopes), 'field is immutable');
}

const toSet = (scopes: readonly string[]): string[] => [...new Set(scopes)].sort();

function validateAmounts(at: FieldPath, amounts: Amounts | undefined): void {
  for (const [path, name, amount] of at.entries(amounts)) {
    mustBeQuotaResource(path, name);
    mustBeAmountOf(path, name, amount);
  }
}

const POD_COMPUTE = new Set([
  'cpu',
  'memory',
  'limits.cpu',
  'limits.memory',
  'requests.cpu',
  'requests.memory',
]);

const EXISTS_SCOPES = [
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
];
const CLASS_OF_ATTRIBUTES = 'VolumeAttributesClass';
const SCOPES = [...EXISTS_SCOPES, 'PriorityClass', CLASS_OF_ATTRIBUTES];
const CLAIM_RESOURCES = ['persistentvolumeclaims', 'requests.storage'];

/** Claims are counted by the class of their attributes since 1.34. */
const isScope = (scope: string, { isOn }: FieldPath): boolean =>
  scope === CLASS_OF_ATTRIBUTES ? isOn(CLASS_OF_ATTRIBUTES) && minorOf(isOn) >= 34 : SCOPES.includes(scope);

/** Scopes select pods or claims, so they limit only their resources; best-effort pods are limited only in number. */
function isLimitedByScope(resource: string, scope: string): boolean {
  if (scope === CLASS_OF_ATTRIBUTES) return CLAIM_RESOURCES.includes(resource);
  return resource === 'pods' || (scope !== 'BestEffort' && POD_COMPUTE.has(resource));
}

/**
 * A scope must apply to all resources of the quota: one error for each other one. Both lists may be long, so the resources are
 * checked once for each of the few known scopes.
 */
function limitRuleOf({
  hard = {},
}: ResourceQuotaSpec): (at: FieldPath, scope: string, shown: unknown) => void {
  const resources = Object.keys(hard).filter(isQuotaResource);
  const unlimited = new Map(
    SCOPES.map((scope) => [scope, resources.filter((resource) => !isLimitedByScope(resource, scope)).length]),
  );
  return (at, scope, shown) => {
    const count = unlimited.get(scope) ?? 0;
    for (let found = 0; found < count; found += 1) at.invalid(shown, 'unsupported scope applied to resource');
  };
}

/** No pod has both. */
const CONTRARY_SCOPES: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

function mustNotContradict(at: FieldPath, scopes: readonly string[], shown: unknown): void {
  for (const [one, other] of CONTRARY_SCOPES)
    if (scopes.includes(one) && scopes.includes(other)) at.invalid(shown, 'conflicting scopes');
}

function validateScopes(at: FieldPath, spec: ResourceQuotaSpec): void {
  const { scopes = [] } = spec;
  const shown = goScopes(scopes);
  const mustLimitAll = limitRuleOf(spec);
  for (const scope of scopes) {
    if (!isScope(scope, at)) at.invalid(shown, 'unsupported scope');
    mustLimitAll(at, scope, shown);
  }
  mustNotContradict(at, scopes, shown);
}

/** Paths do not identify the expression: Kubernetes' have no index here. */
function validateScopeSelector(at: FieldPath, spec: ResourceQuotaSpec): void {
  const { scopeSelector = {} } = spec;
  const expressions = scopeSelector.matchExpressions ?? [];
  const scopes = expressions.map(({ scopeName = '' }) => scopeName);
  for (const expression of expressions) validateExpression(at, expression);
  const mustLimitAll = limitRuleOf(spec);
  for (const scope of scopes) mustLimitAll(at, scope, scopeSelector);
  mustNotContradict(at, scopes, goScopes(spec.scopes ?? []));
}

const MUST_EXIST =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateExpression(at: FieldPath, expression: ScopedResourceSelectorRequirement): void {
  const { scopeName: scope = '', operator = '', values = [] } = expression;
  if (!isScope(scope, at)) at.field('scopeName').invalid(scope, 'unsupported scope');
  if (EXISTS_SCOPES.includes(scope) && operator !== 'Exists')
    at.field('operator').invalid(operator, MUST_EXIST);
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        at.field('values').required(
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        );
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        at.field('values').invalid(
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        );
      return;
    default:
      at.field('operator').invalid(operator, 'not a valid selector operator');
  }
}
