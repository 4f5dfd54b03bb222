import { canonicalGroup } from '../../api/dialect.ts';
import type { ClusterRole, RoleBinding, PolicyRule as StoredRule } from '../../api/types/rbac/v1.ts';
import { parseStored } from '../../codec/stored-object.ts';
import type { Entry } from '../../storage/store.ts';

/** The objects of rbac.authorization.k8s.io/v1, with the fields that decisions need. An absent list is empty. */

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

export interface PolicyRule {
  readonly verbs: string[];
  readonly apiGroups?: string[];
  readonly resources?: string[];
  readonly resourceNames?: string[];
  readonly nonResourceURLs?: string[];
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

export function toRole(entry: Entry): Role {
  const { namespace, name } = entry;
  return { namespace, name, rules: canonicalRules(parseStored<ClusterRole>(entry.json).rules ?? []) };
}

/** Rules may name groups in either dialect; requests have the canonical one. */
export const canonicalRules = (rules: readonly StoredRule[]): PolicyRule[] =>
  rules.map((rule) => ({
    ...rule,
    verbs: rule.verbs ?? [],
    ...(rule.apiGroups && { apiGroups: rule.apiGroups.map((group) => canonicalGroup(group).group) }),
  }));

export function toBinding(entry: Entry): Binding {
  const { namespace, name } = entry;
  const { roleRef, subjects = [] } = parseStored<RoleBinding>(entry.json);
  return { namespace, name, roleRef: toRoleRef(roleRef), subjects: subjects.map(toSubject) };
}

export const toRoleRef = ({ kind = '', name = '', ...rest }: Partial<RoleRef> = {}): RoleRef => ({
  kind,
  name,
  ...rest,
});

export const toSubject = ({ kind = '', name = '', ...rest }: Partial<Subject>): Subject => ({
  kind,
  name,
  ...rest,
});

/** The key of a role. The namespace of a ClusterRole is ''. */
export const roleKey = (namespace: string, name: string): string => `${namespace}\0${name}`;
