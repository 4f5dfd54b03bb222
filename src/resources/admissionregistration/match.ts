import type { ApiObject } from '../../api/object-meta.ts';
import type { MatchCondition, MatchResources } from '../../api/types/admissionregistration/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import type { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { type Ratchet, ratchetOf } from '../rules/checked.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { mustBeOneOf, UniqueNames } from '../rules/names.ts';
import { mustCompile } from './expressions.ts';
import { validateNamedRule } from './resource-rules.ts';

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

/** v1 fills these in from the type; objects written through older versions arrive without them. */
export function setMatchDefaults(match: MatchResources): void {
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
}

const MAX_CONDITIONS = 64;

export function validateMatchConditions(
  at: FieldPath,
  conditions: readonly MatchCondition[],
  compiler: PolicyCompiler,
): void {
  if (conditions.length > MAX_CONDITIONS) at.tooMany(conditions.length, MAX_CONDITIONS);
  for (const [path, condition] of at.each(conditions)) validateCondition(path, condition, compiler);
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

/** Conditions that nobody touches are not compiled anew: what they may use has changed, and will again. */
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
