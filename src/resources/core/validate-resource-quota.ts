import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { goScopes } from '../validation/go-structs.ts';
import { quantitiesOf } from '../validation/quantity-values.ts';
import { strings } from '../validation/values.ts';
import {
  isQuotaResource,
  validateQuotaResourceName,
  validateResourceQuantity,
} from './validate-resource-name.ts';

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
const SCOPES = [...EXISTS_SCOPES, 'PriorityClass'];

/** No pod is both. */
const CONTRARY_SCOPES: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

export function validateQuota(quota: ApiObject): FieldError[] {
  const spec = part(quota, 'spec');
  return [
    ...validateQuantities(part(spec, 'hard'), 'spec.hard'),
    ...validateScopes(spec, 'spec.scopes'),
    ...validateScopeSelector(spec, 'spec.scopeSelector.matchExpressions'),
  ];
}

export function validateQuotaStatus(quota: ApiObject): FieldError[] {
  const status = part(quota, 'status');
  return [
    ...validateQuantities(part(status, 'hard'), 'status.hard'),
    ...validateQuantities(part(status, 'used'), 'status.used'),
  ];
}

export function validateQuotaUpdate(quota: ApiObject, old: ApiObject): FieldError[] {
  const scopes = strings(part(quota, 'spec'), 'scopes');
  return equal(toSet(scopes), toSet(strings(part(old, 'spec'), 'scopes')))
    ? []
    : [invalidValue('spec.scopes', goScopes(scopes), 'field is immutable')];
}

const toSet = (scopes: readonly string[]): string[] => [...new Set(scopes)].sort();

const validateQuantities = (list: JsonObject, path: string): FieldError[] =>
  quantitiesOf(list).flatMap(([name, value]) => [
    ...validateQuotaResourceName(name, `${path}[${name}]`),
    ...validateResourceQuantity(name, value, `${path}[${name}]`),
  ]);

/** Scopes are of pods, so they limit what pods use, and those without requests and limits only in number. */
function isLimitedByScope(resource: string, scope: string): boolean {
  if (!SCOPES.includes(scope)) return true;
  return resource === 'pods' || (scope !== 'BestEffort' && POD_COMPUTE.has(resource));
}

const unlimited = (spec: JsonObject, scope: string): string[] =>
  Object.keys(part(spec, 'hard')).filter((name) => isQuotaResource(name) && !isLimitedByScope(name, scope));

function validateScopes(spec: JsonObject, path: string): FieldError[] {
  const scopes = strings(spec, 'scopes');
  const wrong = scopes.flatMap((scope) => [
    ...(SCOPES.includes(scope) ? [] : ['unsupported scope']),
    ...unlimited(spec, scope).map(() => 'unsupported scope applied to resource'),
  ]);
  return [...wrong, ...contradictions(scopes)].map((why) => invalidValue(path, goScopes(scopes), why));
}

function contradictions(scopes: readonly string[]): string[] {
  return CONTRARY_SCOPES.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(
    () => 'conflicting scopes',
  );
}

/** Mistakes in expressions are told of all of them; there is no index in Kubernetes' paths either. */
function validateScopeSelector(spec: JsonObject, path: string): FieldError[] {
  const selector = part(spec, 'scopeSelector');
  const expressions = parts(selector, 'matchExpressions');
  const scopes = expressions.map(({ scopeName }) => text(scopeName));
  return [
    ...expressions.flatMap((expression) => validateExpression(expression, path)),
    ...scopes
      .flatMap((scope) => unlimited(spec, scope))
      .map(() => invalidValue(path, selector, 'unsupported scope applied to resource')),
    ...contradictions(scopes).map((why) => invalidValue(path, goScopes(strings(spec, 'scopes')), why)),
  ];
}

function validateExpression(expression: JsonObject, path: string): FieldError[] {
  const scope = text(expression.scopeName);
  const operator = text(expression.operator);
  const errors: FieldError[] = [];
  if (!SCOPES.includes(scope)) errors.push(invalidValue(`${path}.scopeName`, scope, 'unsupported scope'));
  if (EXISTS_SCOPES.includes(scope) && operator !== 'Exists') {
    errors.push(invalidValue(`${path}.operator`, operator, MUST_EXIST));
  }
  return [...errors, ...validateOperator(operator, strings(expression, 'values'), path)];
}

const MUST_EXIST =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

function validateOperator(operator: string, values: readonly string[], path: string): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn': {
      const why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      return values.length > 0 ? [] : [required(`${path}.values`, why)];
    }
    case 'Exists':
    case 'DoesNotExist': {
      const why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      return values.length === 0 ? [] : [invalidValue(`${path}.values`, values, why)];
    }
    default:
      return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
