import type { ApiObject } from '../../../api/object-meta.ts';
import type { LabelSelector } from '../../../api/types/meta/v1.ts';
import type { ClusterRole, ClusterRoleBinding } from '../../../api/types/rbac/v1.ts';
import { equal } from '../../../object/equality.ts';
import { uncoveredRules } from '../escalation.ts';
import { type PolicyRule, type Subject, toSubject } from '../policy.ts';
import { AUTO_UPDATE } from './policy.ts';

/**
 * The write that makes an object of the default policy grant at least its default rights. Additions of administrators stay; an
 * object annotated with autoupdate=false is not changed (Kubernetes: component-helpers, auth/rbac/reconciliation).
 */
export type Reconciliation =
  | { readonly kind: 'none' }
  /** The object lacks something, and must not be changed. */
  | { readonly kind: 'protected' }
  | { readonly kind: 'create' | 'update'; readonly object: ApiObject }
  /** A binding cannot change its role: delete the old one (with its uid as precondition), then create this one. */
  | { readonly kind: 'recreate'; readonly object: ApiObject };

/** For Roles and ClusterRoles. `existing` is not changed. */
export function reconcileRole(existing: ClusterRole | undefined, expected: ClusterRole): Reconciliation {
  if (existing === undefined) return { kind: 'create', object: expected };
  const object = withMetadata(existing, expected);
  const missing = uncoveredRules(rulesOf(existing), rulesOf(expected));
  if (missing.length > 0) object.rules = [...(existing.rules ?? []), ...missing];
  reconcileAggregation(object, expected);
  return updated(existing, object);
}

/** For RoleBindings and ClusterRoleBindings. `existing` is not changed. */
export function reconcileBinding(
  existing: ClusterRoleBinding | undefined,
  expected: ClusterRoleBinding,
): Reconciliation {
  if (existing === undefined) return { kind: 'create', object: expected };
  if (!equal(existing.roleRef, expected.roleRef)) {
    return isProtected(existing) ? { kind: 'protected' } : { kind: 'recreate', object: expected };
  }
  const object = withMetadata(existing, expected);
  const held = new Set(subjectsOf(existing).map(subjectKey));
  const missing = subjectsOf(expected).filter((subject) => !held.has(subjectKey(subject)));
  if (missing.length > 0) object.subjects = [...(existing.subjects ?? []), ...missing];
  return updated(existing, object);
}

function updated(existing: ApiObject, object: ApiObject): Reconciliation {
  if (equal(existing, object)) return { kind: 'none' };
  return isProtected(existing) ? { kind: 'protected' } : { kind: 'update', object };
}

const isProtected = ({ metadata }: ApiObject): boolean => metadata.annotations?.[AUTO_UPDATE] === 'false';

/** A copy with the missing labels and annotations; existing ones stay. */
function withMetadata<T extends ApiObject>(existing: T, { metadata }: ApiObject): T {
  const labels = { ...metadata.labels, ...existing.metadata.labels };
  const annotations = { ...metadata.annotations, ...existing.metadata.annotations };
  return { ...existing, metadata: { ...existing.metadata, labels, annotations } };
}

/** A role without expected selectors must have no aggregation rule; a role with some must have all of them. */
function reconcileAggregation(object: ClusterRole, expected: ClusterRole): void {
  if (expected.aggregationRule === undefined) {
    delete object.aggregationRule;
    return;
  }
  const held = selectorsOf(object);
  const missing = selectorsOf(expected).filter((wanted) => !held.some((selector) => equal(selector, wanted)));
  if (missing.length > 0) object.aggregationRule = { clusterRoleSelectors: [...held, ...missing] };
}

const rulesOf = ({ rules }: ClusterRole): PolicyRule[] =>
  (rules ?? []).map((rule) => ({ ...rule, verbs: rule.verbs ?? [] }));

const selectorsOf = ({ aggregationRule }: ClusterRole): LabelSelector[] =>
  aggregationRule?.clusterRoleSelectors ?? [];

const subjectsOf = ({ subjects }: ClusterRoleBinding): Subject[] => (subjects ?? []).map(toSubject);

const subjectKey = ({ kind, apiGroup = '', namespace = '', name }: Subject): string =>
  JSON.stringify([kind, apiGroup, namespace, name]);
