import type { ClusterRole, PolicyRule, Role } from '../../api/types/rbac/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { define } from '../define.ts';
import { checked, selectorRatchet } from '../rules/checked.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';

/** Both kinds of roles are lists of rules; a cluster role may also aggregate rules of others. */

const STRATEGY = {
  nameRule: 'path-segment',
  allowCreateOnUpdate: true,
} as const satisfies Partial<Strategy>;

export const roles = define<Role>({
  group: 'rbac.authorization.k8s.io',
  resource: 'roles',
  kind: 'Role',
  namespaced: true,
  versions: [{ version: 'v1', type: 'rbac/v1.Role' }],
  strategy: {
    ...STRATEGY,
    validate: checked((at, { rules }) => validateRules(at.field('rules'), rules, 'namespace')),
  },
});

export const clusterroles = define<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRole' }],
  ratchets: [selectorRatchet('aggregationRule\\..*')],
  strategy: {
    ...STRATEGY,
    validate: checked((at, role) => {
      validateRules(at.field('rules'), role.rules, 'cluster');
      validateAggregation(at.field('aggregationRule').field('clusterRoleSelectors'), role);
    }),
  },
});

type Scope = 'namespace' | 'cluster';

/** A rule covers resources or URLs; in a namespaced role only resources. */
function validateRules(at: FieldPath, rules: readonly PolicyRule[] | null | undefined, scope: Scope): void {
  for (const [path, rule] of at.each(rules)) {
    if ((rule.verbs ?? []).length === 0)
      path.field('verbs').required('verbs must contain at least one value');
    if ((rule.nonResourceURLs ?? []).length > 0) validateUrlRule(path.field('nonResourceURLs'), rule, scope);
    else validateResourceRule(path, rule);
  }
}

function validateResourceRule(at: FieldPath, { apiGroups = [], resources = [] }: PolicyRule): void {
  if (apiGroups.length === 0)
    at.field('apiGroups').required('resource rules must supply at least one api group');
  if (resources.length === 0)
    at.field('resources').required('resource rules must supply at least one resource');
}

function validateUrlRule(at: FieldPath, rule: PolicyRule, scope: Scope): void {
  const { nonResourceURLs: urls, apiGroups = [], resources = [], resourceNames = [] } = rule;
  if (scope === 'namespace') at.invalid(urls, 'namespaced rules cannot apply to non-resource URLs');
  if (apiGroups.length + resources.length + resourceNames.length > 0)
    at.invalid(urls, 'rules cannot apply to both regular resources and non-resource URLs');
}

/** Which cluster roles a cluster role gathers its rules from. */
function validateAggregation(at: FieldPath, { aggregationRule }: ClusterRole): void {
  if (aggregationRule === undefined) return;
  const { clusterRoleSelectors: selectors = [] } = aggregationRule;
  if (selectors.length === 0)
    at.required('at least one clusterRoleSelector required if aggregationRule is non-nil');
  for (const [path, selector] of at.each(selectors)) mustBeLabelSelector(path, selector);
}
