import type { ClusterRole, ClusterRoleBinding } from '../../../api/types/rbac/v1.ts';
import type { PolicyRule } from '../policy.ts';
import { RBAC_GROUP } from '../policy.ts';
import { CLUSTER_BINDINGS } from './cluster-bindings.ts';
import { COMPONENT_ROLES } from './component-roles.ts';
import { CONTROLLERS } from './controller-roles.ts';
import { NAMESPACED_BINDINGS, NAMESPACED_ROLES } from './namespaced.ts';
import { NODE_RULES } from './node-rules.ts';
import { type BindingData, clusterRole, type RoleData, type RuleData, serviceAccounts } from './shape.ts';
import { USER_ROLES } from './user-roles.ts';

/** Whether a feature gate is on. */
export type Gates = (gate: string) => boolean;

/** The objects of Kubernetes 1.31's default policy. */
export interface BootstrapPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly ClusterRoleBinding[];
  readonly roles: readonly ClusterRole[];
  readonly roleBindings: readonly ClusterRoleBinding[];
}

export const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

export function bootstrapPolicy(isOn: Gates): BootstrapPolicy {
  const there = <T extends { readonly gate?: string }>(all: readonly T[]): T[] =>
    all.filter(({ gate }) => gate === undefined || isOn(gate));
  return {
    clusterRoles: there([...USER_ROLES, ...COMPONENT_ROLES, ...controllerRoles()]).map((role) =>
      toRole(role, isOn),
    ),
    clusterRoleBindings: there([...CLUSTER_BINDINGS, ...controllerBindings()]).map(toBinding),
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
  rules.filter(({ gate }) => gate === undefined || isOn(gate)).map(({ rule }) => rule);

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
