import type { Gates } from '../../../api/feature-gates.ts';
import type { ApiObject } from '../../../api/object-meta.ts';
import type { LabelSelector } from '../../../api/types/meta/v1.ts';
import type { ClusterRole, ClusterRoleBinding } from '../../../api/types/rbac/v1.ts';
import { equal } from '../../../object/equality.ts';
import { uncoveredRules } from '../escalation.ts';
import { type PolicyRule, RBAC_GROUP, type Subject, toSubject } from '../role-rules.ts';
import { COMPONENT_ROLES, NODE_RULES } from './component-roles.ts';
import { CONTROLLERS } from './controller-roles.ts';
import {
  allow,
  type BindingData,
  clusterRole,
  EVENTS,
  groups,
  READ,
  type RoleData,
  type RuleData,
  role,
  serviceAccounts,
  there,
  users,
} from './role-notation.ts';
import { USER_ROLES } from './user-roles.ts';

/** The objects of the default policy of a version of Kubernetes. */
interface BootstrapPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly ClusterRoleBinding[];
  readonly roles: readonly ClusterRole[];
  readonly roleBindings: readonly ClusterRoleBinding[];
}

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

export function bootstrapPolicy(isOn: Gates): BootstrapPolicy {
  const roles = there([...USER_ROLES, ...COMPONENT_ROLES, ...controllerRoles()], isOn);
  return {
    clusterRoles: roles.map((role) => toRole(role, isOn)),
    clusterRoleBindings: there([...CLUSTER_BINDINGS, ...controllerBindings()], isOn).map(toBinding),
    roles: NAMESPACED_ROLES.map((role) => toRole(role, isOn)),
    roleBindings: NAMESPACED_BINDINGS.map(toBinding),
  };
}

/** The rules of the Node authorizer for every node. */
export const nodeRules = (isOn: Gates): PolicyRule[] => rulesThere(NODE_RULES, isOn);

const CONTROLLER = 'system:controller:';

const controllerRoles = (): RoleData[] =>
  CONTROLLERS.map(({ name, rules, ...gate }) => clusterRole(`${CONTROLLER}${name}`, rules, gate));

const controllerBindings = (): BindingData[] =>
  CONTROLLERS.map(({ name, rules: _, ...gate }) => ({
    namespace: '',
    name: `${CONTROLLER}${name}`,
    role: `${CONTROLLER}${name}`,
    subjects: serviceAccounts('kube-system', name),
    ...gate,
  }));

const rulesThere = (rules: readonly RuleData[], isOn: Gates): PolicyRule[] =>
  there(rules, isOn).map(({ rule }) => rule);

function toRole({ namespace, name, rules, partOf, gathers }: RoleData, isOn: Gates): ClusterRole {
  const labels = partOf === undefined ? {} : aggregationLabel(partOf);
  const object: ClusterRole = {
    kind: namespace === '' ? 'ClusterRole' : 'Role',
    apiVersion: `${RBAC_GROUP}/v1`,
    metadata: metadataOf(namespace, name, labels),
  };
  if (gathers === undefined) return { ...object, rules: structuredClone(rulesThere(rules, isOn)) };
  return {
    ...object,
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregationLabel(gathers) }] },
  };
}

function toBinding({ namespace, name, role, subjects }: BindingData): ClusterRoleBinding {
  const kind = namespace === '' ? 'ClusterRole' : 'Role';
  return {
    kind: `${kind}Binding`,
    apiVersion: `${RBAC_GROUP}/v1`,
    metadata: metadataOf(namespace, name, {}),
    roleRef: { apiGroup: RBAC_GROUP, kind, name: role },
    ...(subjects.length === 0 ? {} : { subjects: subjects.map((subject) => ({ ...subject })) }),
  };
}

const metadataOf = (namespace: string, name: string, labels: Record<string, string>) => ({
  name,
  ...(namespace === '' ? {} : { namespace }),
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { [AUTO_UPDATE]: 'true' },
});

const aggregationLabel = (to: string): Record<string, string> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true',
});

/** The ClusterRoleBindings of a fresh cluster; each has the name of its role. */

const bind = (role: string, subjects: readonly Subject[], gate?: string): BindingData => ({
  namespace: '',
  name: role,
  role,
  subjects,
  ...(gate === undefined ? {} : { gate }),
});

const CLUSTER_BINDINGS: readonly BindingData[] = [
  bind('cluster-admin', groups('system:masters')),
  bind('system:monitoring', groups('system:monitoring')),
  bind('system:discovery', groups('system:authenticated')),
  bind('system:basic-user', groups('system:authenticated')),
  bind('system:history', groups('system:authenticated')),
  bind('system:public-info-viewer', groups('system:authenticated system:unauthenticated')),
  bind('system:node-proxier', users('system:kube-proxy')),
  bind('system:kube-controller-manager', users('system:kube-controller-manager')),
  bind('system:kube-dns', serviceAccounts('kube-system', 'kube-dns')),
  bind('system:kube-scheduler', users('system:kube-scheduler')),
  bind('system:volume-scheduler', users('system:kube-scheduler')),
  // Nodes use the Node authorizer. The binding exists for administrators who add nodes to it.
  bind('system:node', []),
  bind('system:service-account-issuer-discovery', groups('system:serviceaccounts')),
  bind('system:cluster-trust-bundle-discovery', groups('system:serviceaccounts'), 'ClusterTrustBundle'),
];

/** Roles and RoleBindings in the namespaces of the system. */

const SYSTEM = 'kube-system';
const PUBLIC = 'kube-public';

const leaderLocking = (component: string): RoleData =>
  role(SYSTEM, `system::leader-locking-${component}`, [
    allow('watch', 'core', 'configmaps', { until: 35 }),
    allow('get update', 'core', 'configmaps', { names: component, until: 35 }),
    allow(`${READ} create update`, 'coordination.k8s.io', 'leases'),
    allow(`${READ} create update`, 'coordination.k8s.io', 'leasecandidates'),
  ]);

const NAMESPACED_ROLES: readonly RoleData[] = [
  role(SYSTEM, 'extension-apiserver-authentication-reader', [
    allow(READ, 'core', 'configmaps', { names: 'extension-apiserver-authentication' }),
  ]),
  role(SYSTEM, 'system:controller:bootstrap-signer', [allow(READ, 'core', 'secrets')]),
  role(SYSTEM, 'system:controller:cloud-provider', [allow(`create ${READ}`, 'core', 'configmaps')]),
  role(SYSTEM, 'system:controller:token-cleaner', [allow(`${READ} delete`, 'core', 'secrets'), EVENTS]),
  leaderLocking('kube-controller-manager'),
  leaderLocking('kube-scheduler'),
  role(PUBLIC, 'system:controller:bootstrap-signer', [
    allow(READ, 'core', 'configmaps'),
    allow('update', 'core', 'configmaps', { names: 'cluster-info' }),
    EVENTS,
  ]),
];

const ofServiceAccount = (namespace: string, name: string): BindingData => ({
  namespace,
  name: `system:controller:${name}`,
  role: `system:controller:${name}`,
  subjects: serviceAccounts(SYSTEM, name),
});

const ofLeader = (component: string, accounts: string): BindingData => ({
  namespace: SYSTEM,
  name: `system::leader-locking-${component}`,
  role: `system::leader-locking-${component}`,
  subjects: [...users(`system:${component}`), ...serviceAccounts(SYSTEM, accounts)],
});

const NAMESPACED_BINDINGS: readonly BindingData[] = [
  {
    namespace: SYSTEM,
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: users('system:kube-controller-manager system:kube-scheduler'),
  },
  ofLeader('kube-controller-manager', 'kube-controller-manager leader-election-controller'),
  ofLeader('kube-scheduler', 'kube-scheduler'),
  ofServiceAccount(SYSTEM, 'bootstrap-signer'),
  ofServiceAccount(SYSTEM, 'cloud-provider'),
  ofServiceAccount(SYSTEM, 'token-cleaner'),
  ofServiceAccount(PUBLIC, 'bootstrap-signer'),
];

/**
 * Objects of the default policy whose rights once belonged to another one, by name. Administrators may have changed the other, so
 * a missing heir begins with what the other grants (Kubernetes: pkg/registry/rbac/rest, primeSplitClusterRoleBindings).
 */
export const HEIRS: Readonly<Record<string, string>> = {
  'system:aggregate-to-admin': 'admin',
  'system:aggregate-to-edit': 'edit',
  'system:aggregate-to-view': 'view',
  'system:public-info-viewer': 'system:discovery',
};

/** The heir as it begins. Undefined: the other one gathers its rules, and has none of its own to leave. */
export function toHeir(other: ApiObject, expected: ApiObject): ApiObject | undefined {
  if (other.aggregationRule !== undefined) return undefined;
  const { labels, annotations } = other.metadata;
  const { labels: _, annotations: __, ...metadata } = expected.metadata;
  const rights = 'roleRef' in expected ? { subjects: other.subjects } : { rules: other.rules };
  return structuredClone({
    ...expected,
    metadata: {
      ...metadata,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...rights,
  });
}

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
