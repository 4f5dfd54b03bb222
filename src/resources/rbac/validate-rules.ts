import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { parts } from '../../object/parts.ts';
import { strings } from '../validation/values.ts';

/** What a role allows. A rule is about resources or about URLs, and a role in a namespace has no say over URLs. */
export function validatePolicyRules(role: JsonObject, scope: 'namespace' | 'cluster'): FieldError[] {
  return parts(role, 'rules').flatMap((rule, at) => [
    ...requireSome(rule, 'verbs', `rules[${at}]`, 'verbs must contain at least one value'),
    ...(strings(rule, 'nonResourceURLs').length > 0
      ? validateUrlRule(rule, `rules[${at}].nonResourceURLs`, scope)
      : validateResourceRule(rule, `rules[${at}]`)),
  ]);
}

function validateResourceRule(rule: JsonObject, path: string): FieldError[] {
  return [
    ...requireSome(rule, 'apiGroups', path, 'resource rules must supply at least one api group'),
    ...requireSome(rule, 'resources', path, 'resource rules must supply at least one resource'),
  ];
}

function validateUrlRule(rule: JsonObject, path: string, scope: 'namespace' | 'cluster'): FieldError[] {
  const errors: FieldError[] = [];
  if (scope === 'namespace')
    errors.push(
      invalidValue(path, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'),
    );
  if (['apiGroups', 'resources', 'resourceNames'].some((name) => strings(rule, name).length > 0)) {
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    errors.push(invalidValue(path, rule.nonResourceURLs, why));
  }
  return errors;
}

const requireSome = (rule: JsonObject, name: string, path: string, why: string): FieldError[] =>
  strings(rule, name).length > 0 ? [] : [required(`${path}.${name}`, why)];
