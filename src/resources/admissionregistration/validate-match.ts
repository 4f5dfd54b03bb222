import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { duplicate, eachInvalid, notSupported, required, tooMany } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { duplicates, has } from '../validation/fields.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { compileErrors } from './validate-expressions.ts';
import { validateNamedRules } from './validate-rules.ts';

/** Which requests a webhook or a policy is for. */

const MATCH_POLICIES = ['Equivalent', 'Exact'] as const;
const MAX_CONDITIONS = 64;

export function validateMatchPolicy(owner: JsonObject, path: string): FieldError[] {
  const policy = text(owner.matchPolicy);
  return policy === '' || MATCH_POLICIES.some((known) => known === policy)
    ? []
    : [notSupported(`${path}.matchPolicy`, policy, MATCH_POLICIES)];
}

export function validateSelectors(owner: JsonObject, path: string): FieldError[] {
  return ['namespaceSelector', 'objectSelector'].flatMap((name) =>
    validateLabelSelector(part(owner, name), `${path}.${name}`),
  );
}

export function validateMatchConditions(
  owner: JsonObject,
  path: string,
  compiler: PolicyCompiler,
): FieldError[] {
  const conditions = parts(owner, 'matchConditions');
  const field = `${path}.matchConditions`;
  return [
    ...(conditions.length > MAX_CONDITIONS ? [tooMany(field, conditions.length, MAX_CONDITIONS)] : []),
    ...conditions.flatMap((condition, at) => validateCondition(condition, `${field}[${at}]`, compiler)),
    ...duplicates(
      conditions.map(({ name }) => text(name)),
      (at) => `${field}[${at}].name`,
    ),
  ];
}

function validateCondition(condition: JsonObject, path: string, compiler: PolicyCompiler): FieldError[] {
  const { name } = condition;
  const expression = text(condition.expression).trim();
  const field = `${path}.expression`;
  return [
    ...(expression === ''
      ? [required(field)]
      : compileErrors(compiler.compile(expression, 'bool'), field, expression)),
    ...(text(name) === ''
      ? [required(`${path}.name`)]
      : eachInvalid(`${path}.name`, name, checkQualifiedName(text(name)))),
  ];
}

export function validateMatchResources(match: JsonObject, path: string): FieldError[] {
  return [
    ...validateMatchPolicy(match, path),
    ...validateSelectors(match, path),
    ...validateNamedRules(parts(match, 'resourceRules'), `${path}.resourceRules`),
    ...validateNamedRules(parts(match, 'excludeResourceRules'), `${path}.excludeResourceRules`),
  ];
}

/** v1 fills these in from the type; objects written through older versions arrive without them. */
export function defaultMatchResources(match: JsonObject): void {
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
}

const FAILURE_POLICIES = ['Fail', 'Ignore'] as const;

export function validateFailurePolicy(owner: JsonObject, path: string): FieldError[] {
  if (!has(owner, 'failurePolicy')) return [];
  return FAILURE_POLICIES.some((known) => known === owner.failurePolicy)
    ? []
    : [notSupported(`${path}.failurePolicy`, owner.failurePolicy, FAILURE_POLICIES)];
}

/** Names of a list whose items must be told apart by them. */
export const validateUniqueNames = (items: readonly JsonObject[], path: string): FieldError[] =>
  items.flatMap(({ name }, at) =>
    text(name) !== '' && items.findIndex((other) => other.name === name) < at
      ? [duplicate(`${path}[${at}].name`, name)]
      : [],
  );
