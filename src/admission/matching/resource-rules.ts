import { canonicalGroup } from '../../api/dialect.ts';
import type { NamedRuleWithOperations } from '../../api/types/admissionregistration/v1.ts';
import type { AdmissionOperation } from '../admission.ts';

/** The facts about a request that the rules of webhooks and policies match. */
export interface RuleSubject {
  readonly operation: AdmissionOperation;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Whether the object is in a namespace; a namespace itself is not. */
  readonly namespaced: boolean;
}

/** RuleWithOperations, and resourceNames, which only policies have. */
export interface ResourceRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
  /** Empty: any name. */
  readonly resourceNames: readonly string[];
}

export const readRules = (rules: readonly NamedRuleWithOperations[] = []): ResourceRule[] =>
  rules.map(({ operations = [], apiGroups = [], apiVersions = [], resources = [], ...rule }) => ({
    operations,
    apiGroups: apiGroups.map((group) => canonicalGroup(group).group),
    apiVersions,
    resources,
    scope: rule.scope || '*',
    resourceNames: rule.resourceNames ?? [],
  }));

/** Matches everything but the names (Kubernetes: admission/plugin/webhook/predicates/rules). */
export function ruleMatches(rule: ResourceRule, subject: RuleSubject): boolean {
  return (
    inScope(rule.scope, subject) &&
    includes(rule.operations, subject.operation) &&
    includes(rule.apiGroups, subject.group) &&
    includes(rule.apiVersions, subject.version) &&
    rule.resources.some((resource) => resourceMatches(resource, subject))
  );
}

export const nameMatches = ({ resourceNames }: ResourceRule, name: string): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name);

const includes = (values: readonly string[], value: string): boolean =>
  values.includes('*') || values.includes(value);

function inScope(scope: string, { namespaced }: RuleSubject): boolean {
  if (scope === '*') return true;
  return scope === (namespaced ? 'Namespaced' : 'Cluster');
}

/** `pods`, `pods/log`, `pods/*`, a star for either part, and a star alone for all without their subresources. */
function resourceMatches(pattern: string, subject: RuleSubject): boolean {
  const slash = pattern.indexOf('/');
  const resource = slash < 0 ? pattern : pattern.slice(0, slash);
  const subresource = slash < 0 ? '' : pattern.slice(slash + 1);
  return (
    (resource === '*' || resource === subject.resource) &&
    (subresource === '*' || subresource === subject.subresource)
  );
}
