import { canonicalGroup } from '../../api/dialect.ts';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { text } from '../../object/parts.ts';

/** Which writes a webhook is for (Kubernetes: admission/plugin/webhook/predicates/rules). `*` in a list is anything. */
export interface Rule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  // `pods`, `pods/status`, `pods/*`, `*/scale`; `*` alone is all resources without their subresources.
  readonly resources: readonly { readonly resource: string; readonly subresource: string }[];
  readonly scope: string;
}

/** What is written, as rules see it. */
export interface RuleTarget {
  readonly operation: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespaced: boolean;
}

export const toRule = (rule: JsonObject): Rule => ({
  operations: texts(rule.operations),
  groups: texts(rule.apiGroups).map((group) => canonicalGroup(group).group),
  versions: texts(rule.apiVersions),
  resources: texts(rule.resources).map(toResource),
  scope: text(rule.scope, '*'),
});

const texts = (list: JsonValue | undefined): string[] =>
  Array.isArray(list) ? list.map((item) => text(item)) : [];

function toResource(written: string): Rule['resources'][number] {
  const slash = written.indexOf('/');
  return slash < 0
    ? { resource: written, subresource: '' }
    : { resource: written.slice(0, slash), subresource: written.slice(slash + 1) };
}

export const matchesRule = (rule: Rule, target: RuleTarget): boolean =>
  matchesScope(rule.scope, target.namespaced) &&
  has(rule.operations, target.operation) &&
  has(rule.groups, target.group) &&
  has(rule.versions, target.version) &&
  rule.resources.some(
    ({ resource, subresource }) => is(resource, target.resource) && is(subresource, target.subresource),
  );

const is = (wanted: string, given: string): boolean => wanted === '*' || wanted === given;
const has = (list: readonly string[], given: string): boolean => list.some((wanted) => is(wanted, given));

function matchesScope(scope: string, namespaced: boolean): boolean {
  if (scope === '*') return true;
  return scope === (namespaced ? 'Namespaced' : 'Cluster');
}
