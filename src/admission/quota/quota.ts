import type { GroupResource, ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../api/types/core/v1.ts';
import { parseQuantity, type Quantity } from '../../object/quantity.ts';
import { NOTHING, type ResourceList, toResourceList } from '../../object/resource-list.ts';
import type { AdmissionOperation } from '../admission.ts';

/** A ResourceQuota as it is enforced: by its status, into which a controller copies the spec together with the usage. */
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

/** Measures the objects of one resource, which are of type `T` (Kubernetes: apiserver/pkg/quota/v1, pkg/quota/v1/evaluator). */
export interface Measure<T extends ApiObject = ApiObject> {
  readonly resource: ResourceOf<T>;
  readonly operations: readonly AdmissionOperation[];
  /** Whether a limit of this name concerns these objects. */
  counts(name: string): boolean;
  usage(object: T, now: Date): ResourceList;
  /** Whether an object that was changed may use less than before, by its values for field selectors. Absent: never. */
  mayHaveShrunk?(fields: Readonly<Record<string, string>>): boolean;
  /** The amounts that an object lacks when these names are limited; undefined for none. */
  missing?(names: readonly string[], object: T): string | undefined;
  /** Absent: scopes do not apply to the resource. */
  isInScope?(selector: ScopeSelector, object: T): boolean;
}

/** `count/deployments.apps`, `count/pods`. */
export const countName = ({ group, resource }: GroupResource): string =>
  group === '' ? `count/${resource}` : `count/${resource}.${group}`;

export const amount = (count: number): Quantity =>
  parseQuantity(String(count)) ?? { nanos: 0n, format: 'DecimalSI' };

export const ONE = amount(1);
export const ZERO = amount(0);
