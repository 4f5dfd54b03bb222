import type { ApiObject } from '../../api/object-meta.ts';
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../api/types/admissionregistration/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import type { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goList } from '../../object/go-value.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { type Ratchet, ratchetOf } from '../rules/checked.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { mustBeName, mustBeOneOf, UniqueNames } from '../rules/name-rules.ts';
import { mustCompile } from './expressions.ts';

/** Which requests a webhook or a policy is for. */

export const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];

interface Matching {
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

export function validateMatchPolicy(at: FieldPath, { matchPolicy = '' }: Matching): void {
  if (matchPolicy !== '') mustBeOneOf(at.field('matchPolicy'), matchPolicy, MATCH_POLICIES);
}

export function validateSelectors(at: FieldPath, { namespaceSelector, objectSelector }: Matching): void {
  mustBeLabelSelector(at.field('namespaceSelector'), namespaceSelector);
  mustBeLabelSelector(at.field('objectSelector'), objectSelector);
}

export function validateMatchResources(at: FieldPath, match: MatchResources): void {
  validateMatchPolicy(at, match);
  validateSelectors(at, match);
  for (const [path, rule] of at.field('resourceRules').each(match.resourceRules))
    validateNamedRule(path, rule);
  for (const [path, rule] of at.field('excludeResourceRules').each(match.excludeResourceRules))
    validateNamedRule(path, rule);
}

/** A policy says what it is about, which gives expressions their types. */
export function validateMatchConstraints(at: FieldPath, constraints: MatchResources | undefined): void {
  if (constraints === undefined) {
    at.required();
    return;
  }
  validateMatchResources(at, constraints);
  if ((constraints.resourceRules ?? []).length === 0) at.field('resourceRules').required();
}

const MUTABLE_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** A deletion has no body that could be changed. */
export function mustNotMatchDeletions(at: FieldPath, { resourceRules = [] }: MatchResources = {}): void {
  const path = at.field('resourceRules').field('operations');
  for (const { operations = [] } of resourceRules)
    for (const operation of operations) mustBeOneOf(path, operation, MUTABLE_OPERATIONS);
}

const MAX_CONDITIONS = 64;

/**
 * Kubernetes compiles all expressions of an object. Each takes 25 µs here, so one object must not have more than one turn of
 * the event loop can compile; the largest policies in use have some dozens. Returns whether `count` is within the limit.
 */
export function mustBeFewExpressions(at: FieldPath, count: number): boolean {
  if (count > MAX_EXPRESSIONS) at.tooMany(count, MAX_EXPRESSIONS);
  return count <= MAX_EXPRESSIONS;
}

const MAX_EXPRESSIONS = 1000;

export function validateMatchConditions(
  at: FieldPath,
  conditions: readonly MatchCondition[],
  compiler: PolicyCompiler,
): void {
  if (conditions.length > MAX_CONDITIONS) at.tooMany(conditions.length, MAX_CONDITIONS);
  const compiled = conditions.length > MAX_CONDITIONS ? [] : conditions;
  for (const [path, condition] of at.each(compiled)) validateCondition(path, condition, compiler);
  const names = new UniqueNames();
  for (const [path, { name = '' }] of at.each(conditions)) names.add(path.field('name'), name);
}

function validateCondition(at: FieldPath, condition: MatchCondition, compiler: PolicyCompiler): void {
  const { name = '' } = condition;
  const expression = (condition.expression ?? '').trim();
  if (expression === '') at.field('expression').required();
  else mustCompile(at.field('expression'), compiler.compile(expression, 'bool'), expression);
  if (name === '') at.field('name').required();
  else at.field('name').invalidFor(name, checkQualifiedName(name));
}

interface Conditional {
  readonly matchConditions?: MatchCondition[];
}

/** Unchanged conditions are not compiled again: the available functions differ between versions. */
export const conditionsRatchet = <T extends ApiObject>(
  field: RegExp,
  ownersOf: (object: T) => readonly Conditional[],
): Ratchet<T> => ({
  ...ratchetOf(field),
  allows: (old, object) => {
    const before = ownersOf(old);
    const after = ownersOf(object);
    return (
      before.length === after.length &&
      after.every(({ matchConditions }, index) => equal(matchConditions, before[index]?.matchConditions))
    );
  },
});

/** Operations on resources that a webhook or a policy is called for. */

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** A rule that may also name objects. */
function validateNamedRule(at: FieldPath, rule: NamedRuleWithOperations): void {
  const seen = new Set<string>();
  for (const [path, name] of at.field('resourceNames').each(rule.resourceNames)) {
    mustBeName(path, name, 'path-segment');
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
  }
  validateRule(at, rule);
}

export function validateRule(at: FieldPath, rule: RuleWithOperations): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope = '' } = rule;
  const type = 'admissionregistration.OperationType';
  mustBeAllOrSome(at.field('operations'), operations, { items: 'operations', type });
  for (const [path, operation] of at.field('operations').each(operations))
    mustBeOneOf(path, operation, OPERATIONS);
  mustBeAllOrSome(at.field('apiGroups'), apiGroups, { items: 'API groups' });
  mustBeAllOrSome(at.field('apiVersions'), apiVersions, { items: 'API versions' });
  for (const [path, version] of at.field('apiVersions').each(apiVersions))
    if (version === '') path.required();
  validateResources(at.field('resources'), resources);
  if (scope !== '') mustBeOneOf(at.field('scope'), scope, SCOPES);
}

interface ListWords {
  /** The plural noun for the entries, for messages. */
  readonly items: string;
  /** The type of an item in Go. */
  readonly type?: string;
}

/** Requires a non-empty list, in which `*` stands alone. */
function mustBeAllOrSome(
  at: FieldPath,
  values: readonly string[],
  { items, type = 'string' }: ListWords,
): void {
  if (values.length === 0) at.required();
  else if (values.length > 1 && values.includes('*'))
    at.invalid(goList(type, values), `if '*' is present, must not specify other ${items}`);
}

// `pods`, `pods/log`, `pods/*`, `*/scale`, `*/*`, and `*` for all resources without their subresources.
function validateResources(at: FieldPath, resources: readonly string[]): void {
  if (resources.length === 0) at.required();
  for (const [path, resource] of at.each(resources)) if (resource === '') path.required();
  validateSubresources(at, resources);
  if (resources.length > 1 && resources.includes('*/*'))
    at.invalid(resources, "if '*/*' is present, must not specify other resources");
  const plain = resources.findLast((resource) => resource !== '' && !resource.includes('/'));
  if (resources.includes('*') && plain !== undefined && plain !== '*')
    at.invalid(resources, "if '*' is present, must not specify other resources without subresources");
}

function validateSubresources(at: FieldPath, resources: readonly string[]): void {
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  for (const [path, both] of at.each(resources)) {
    const slash = both.indexOf('/');
    if (slash < 0) continue;
    const [resource, subresource] = [both.slice(0, slash), both.slice(slash + 1)];
    if (wholeResources.has(resource))
      path.invalid(both, `if '${resource}/*' is present, must not specify ${both}`);
    if (wholeSubresources.has(subresource))
      path.invalid(both, `if '*/${subresource}' is present, must not specify ${both}`);
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  }
}
