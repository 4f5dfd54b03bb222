import { canonicalGroup } from '../../api/dialect.ts';
import type { Entry } from '../../storage/store.ts';

/** The objects of rbac.authorization.k8s.io/v1, as far as decisions look at them. An absent list is an empty one. */

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface RoleRef {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface Role {
  /** '' for a ClusterRole. */
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly PolicyRule[];
}

export interface Binding {
  /** '' for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

/** What was stored has been validated, so its fields have their types; they may be absent. */
const parse = (
  entry: Entry,
): { rules?: PolicyRule[] | null; roleRef?: RoleRef; subjects?: Subject[] | null } =>
  JSON.parse(entry.json.toString());

export function toRole(entry: Entry): Role {
  const { namespace, name } = entry;
  return { namespace, name, rules: canonicalRules(parse(entry).rules ?? []) };
}

/** Rules may name groups in either dialect; requests have the canonical one. */
export const canonicalRules = (rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.map((rule) =>
    rule.apiGroups === undefined
      ? rule
      : { ...rule, apiGroups: rule.apiGroups.map((group) => canonicalGroup(group).group) },
  );

export function toBinding(entry: Entry): Binding {
  const { namespace, name } = entry;
  const { roleRef = { kind: '', name: '' }, subjects } = parse(entry);
  return { namespace, name, roleRef, subjects: subjects ?? [] };
}

/** Where a role is found: the namespace of a ClusterRole is ''. */
export const roleKey = (namespace: string, name: string): string => `${namespace}\0${name}`;
