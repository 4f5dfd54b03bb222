import { isAlive, type Life } from '../../../api/emulation.ts';
import { type Gates, minorOf } from '../../../api/feature-gates.ts';
import type { PolicyRule, Subject } from '../role-rules.ts';
import { RBAC_GROUP } from '../role-rules.ts';

/**
 * A short notation for the roles of a fresh cluster: words separated by blanks. `core` is the group without a name.
 *
 *   allow('get list', 'core apps', 'pods deployments/scale')
 *   allow('get', 'core', 'configmaps', { names: 'cluster-info' })
 *   allowPaths('get', '/healthz /livez')
 */

/** An item that some versions of Kubernetes have, and only while a feature gate is on. */
export interface Gated extends Life {
  readonly gate?: string;
}

const isThere = ({ gate, ...life }: Gated, isOn: Gates): boolean =>
  isAlive(life, minorOf(isOn)) && (gate === undefined || isOn(gate));

export const there = <T extends Gated>(all: readonly T[], isOn: Gates): T[] =>
  all.filter((item) => isThere(item, isOn));

export interface RuleData extends Gated {
  readonly rule: PolicyRule;
}

export interface RoleData extends Gated {
  /** '' for a ClusterRole. */
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly RuleData[];
  /** The role into which this one is aggregated: `admin` becomes the label aggregate-to-admin. */
  readonly partOf?: string;
  /** The role aggregates the roles that are part of this one. */
  readonly gathers?: string;
}

export interface BindingData extends Gated {
  readonly namespace: string;
  readonly name: string;
  /** A Role in a namespace, a ClusterRole otherwise. */
  readonly role: string;
  readonly subjects: readonly Subject[];
}

const words = (text: string): string[] => text.split(' ');

/** Lists are sorted, as in Kubernetes. */
export function allow(
  verbs: string,
  groups: string,
  resources: string,
  { names, ...gated }: Gated & { readonly names?: string } = {},
): RuleData {
  const apiGroups = words(groups).map((group) => (group === 'core' ? '' : group));
  const rule = {
    verbs: words(verbs).sort(),
    apiGroups: apiGroups.sort(),
    resources: words(resources).sort(),
    ...(names === undefined ? {} : { resourceNames: words(names).sort() }),
  };
  return { rule, ...gated };
}

export const allowPaths = (verbs: string, paths: string, gated: Gated = {}): RuleData => ({
  rule: { verbs: words(verbs).sort(), nonResourceURLs: words(paths).sort() },
  ...gated,
});

export function clusterRole(
  name: string,
  rules: readonly RuleData[],
  more: Gated & { readonly partOf?: string; readonly gathers?: string } = {},
): RoleData {
  return { namespace: '', name, rules, ...more };
}

export const role = (namespace: string, name: string, rules: readonly RuleData[]): RoleData => ({
  namespace,
  name,
  rules,
});

export const users = (names: string): Subject[] =>
  words(names).map((name) => ({ apiGroup: RBAC_GROUP, kind: 'User', name }));

export const groups = (names: string): Subject[] =>
  words(names).map((name) => ({ apiGroup: RBAC_GROUP, kind: 'Group', name }));

export const serviceAccounts = (namespace: string, names: string): Subject[] =>
  words(names).map((name) => ({ kind: 'ServiceAccount', name, namespace }));

/** Verbs that go together. */
export const READ = 'get list watch';
export const WRITE = 'create update patch delete deletecollection';
export const READ_WRITE = `${READ} ${WRITE}`;
export const READ_UPDATE = `${READ} update patch`;

/** The right of a component to write events. */
export const EVENTS = allow('create update patch', 'core events.k8s.io', 'events');
