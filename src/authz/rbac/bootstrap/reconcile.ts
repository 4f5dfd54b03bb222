import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import { equal } from '../../../object/equality.ts';
import { uncoveredRules } from '../coverage.ts';
import type { PolicyRule, Subject } from '../policy.ts';
import { AUTO_UPDATE } from './policy.ts';

/**
 * What must be written so that an object of the default policy gives at least what it should. What people added is never
 * taken away; an object annotated with autoupdate=false is left as it is (Kubernetes: component-helpers,
 * auth/rbac/reconciliation).
 */
export type Reconciliation =
  | { readonly kind: 'none' }
  /** It lacks something, and is not to be touched. */
  | { readonly kind: 'protected' }
  | { readonly kind: 'create' | 'update'; readonly object: ApiObject }
  /** A binding cannot change its role: the old one is to be deleted (with its uid as precondition), then this created. */
  | { readonly kind: 'recreate'; readonly object: ApiObject };

/** For Roles and ClusterRoles. `existing` is not changed. */
export function reconcileRole(existing: ApiObject | undefined, expected: ApiObject): Reconciliation {
  if (existing === undefined) return { kind: 'create', object: expected };
  const object = withMetadata(existing, expected);
  const missing = uncoveredRules(rulesOf(existing), rulesOf(expected));
  if (missing.length > 0) object.rules = [...rulesOf(existing), ...missing] as never;
  reconcileAggregation(object, expected);
  return updated(existing, object);
}

/** For RoleBindings and ClusterRoleBindings. `existing` is not changed. */
export function reconcileBinding(existing: ApiObject | undefined, expected: ApiObject): Reconciliation {
  if (existing === undefined) return { kind: 'create', object: expected };
  if (!equal(existing.roleRef, expected.roleRef)) {
    return isProtected(existing) ? { kind: 'protected' } : { kind: 'recreate', object: expected };
  }
  const object = withMetadata(existing, expected);
  const held = new Set(subjectsOf(existing).map(subjectKey));
  const missing = subjectsOf(expected).filter((subject) => !held.has(subjectKey(subject)));
  if (missing.length > 0) object.subjects = [...subjectsOf(existing), ...missing] as never;
  return updated(existing, object);
}

function updated(existing: ApiObject, object: ApiObject): Reconciliation {
  if (equal(existing, object)) return { kind: 'none' };
  return isProtected(existing) ? { kind: 'protected' } : { kind: 'update', object };
}

const isProtected = ({ metadata }: ApiObject): boolean => metadata.annotations?.[AUTO_UPDATE] === 'false';

/** A copy with the labels and annotations it lacks; those it has stay. */
function withMetadata(existing: ApiObject, { metadata }: ApiObject): ApiObject {
  const labels = { ...metadata.labels, ...existing.metadata.labels };
  const annotations = { ...metadata.annotations, ...existing.metadata.annotations };
  return { ...existing, metadata: { ...existing.metadata, labels, annotations } };
}

/** A role that gathers nothing must not gather; one that does must have every selector. */
function reconcileAggregation(object: ApiObject, expected: ApiObject): void {
  if (expected.aggregationRule === undefined) {
    delete object.aggregationRule;
    return;
  }
  const held = selectorsOf(object);
  const missing = selectorsOf(expected).filter((wanted) => !held.some((selector) => equal(selector, wanted)));
  if (missing.length > 0) object.aggregationRule = { clusterRoleSelectors: [...held, ...missing] };
}

/** Both sides have passed validation, one when it was written and one when it was compiled. */
const rulesOf = ({ rules }: ApiObject): PolicyRule[] => (rules ?? []) as unknown as PolicyRule[];
const subjectsOf = ({ subjects }: ApiObject): Subject[] => (subjects ?? []) as unknown as Subject[];

function selectorsOf({ aggregationRule }: ApiObject): JsonObject[] {
  const { clusterRoleSelectors } = (aggregationRule ?? {}) as JsonObject;
  return (clusterRoleSelectors ?? []) as JsonObject[];
}

const subjectKey = ({ kind, apiGroup = '', namespace = '', name }: Subject): string =>
  JSON.stringify([kind, apiGroup, namespace, name]);
