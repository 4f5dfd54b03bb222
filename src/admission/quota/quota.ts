import type { JsonObject } from '../../api/object-meta.ts';
import { objectsOf, part, text } from '../../object/parts.ts';
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

export function toQuota(object: JsonObject): Quota {
  const status = part(object, 'status');
  return {
    name: text(part(object, 'metadata').name),
    hard: toResourceList(status.hard),
    used: toResourceList(status.used),
    scopes: scopesOf(object),
  };
}

export function scopesOf(object: JsonObject): ScopeSelector[] {
  const { scopes } = part(object, 'spec');
  const plain = Array.isArray(scopes) ? scopes : [];
  return [
    ...plain.map((scope) => ({ scope: text(scope), operator: 'Exists', values: [] })),
    ...toScopeSelectors(objectsOf(part(object, 'spec', 'scopeSelector').matchExpressions)),
  ];
}

export const toScopeSelectors = (expressions: readonly JsonObject[]): ScopeSelector[] =>
  expressions.map(({ scopeName, operator, values }) => ({
    scope: text(scopeName),
    operator: text(operator),
    values: Array.isArray(values) ? values.map((value) => text(value)) : [],
  }));

/** The amounts of these names alone. */
export function only(list: ResourceList, isWanted: (name: string) => boolean): ResourceList {
  const entries = [...list].filter(([name]) => isWanted(name));
  return entries.length === 0 ? NOTHING : new Map(entries);
}
