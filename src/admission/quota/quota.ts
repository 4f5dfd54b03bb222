import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../api/types/core/v1.ts';
import { NOTHING, type ResourceList, toResourceList } from '../../object/resource-list.ts';

/** A ResourceQuota as it is enforced: by its status, which a controller copies from the spec together with what is used. */
export interface Quota {
  readonly name: string;
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** All must hold for an object to be counted. */
  readonly scopes: readonly ScopeSelector[];
}

export interface ScopeSelector {
  readonly scope: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export const toQuota = (quota: ResourceQuota): Quota => ({
  name: quota.metadata.name ?? '',
  hard: toResourceList(quota.status?.hard),
  used: toResourceList(quota.status?.used),
  scopes: scopesOf(quota),
});

export function scopesOf({ spec = {} }: ResourceQuota): ScopeSelector[] {
  const { scopes = [], scopeSelector } = spec;
  return [
    ...scopes.map((scope) => ({ scope, operator: 'Exists', values: [] })),
    ...toScopeSelectors(scopeSelector?.matchExpressions ?? []),
  ];
}

export const toScopeSelectors = (
  expressions: readonly ScopedResourceSelectorRequirement[],
): ScopeSelector[] =>
  expressions.map(({ scopeName: scope = '', operator = '', values = [] }) => ({ scope, operator, values }));

/** The amounts of these names alone. */
export function only(list: ResourceList, isWanted: (name: string) => boolean): ResourceList {
  const entries = [...list].filter(([name]) => isWanted(name));
  return entries.length === 0 ? NOTHING : new Map(entries);
}
