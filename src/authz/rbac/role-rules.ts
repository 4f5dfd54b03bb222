import { canonicalGroup } from '../../api/dialect.ts';
import type { ClusterRole, RoleBinding, PolicyRule as StoredRule } from '../../api/types/rbac/v1.ts';
import { parseStored } from '../../codec/stored-object.ts';
import type { Entry } from '../../storage/store.ts';
import type { AuthorizationAttributes } from '../authorizer.ts';

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

interface Role {
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

/** The question of a decision, prepared once for all rules. */
export type Question =
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      /** `pods`, or with a subresource `pods/log`. */
      readonly resource: string;
      /** The name in rules for the subresource of all resources: `* /log` without the space; '' without a subresource. */
      readonly anySubresource: string;
      readonly name: string;
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string };

export function toQuestion({ verb, target, path }: AuthorizationAttributes): Question {
  if (target === undefined) return { kind: 'path', verb, path };
  const { group, resource, subresource, name } = target;
  return {
    kind: 'resource',
    verb,
    group,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    anySubresource: subresource === '' ? '' : `*/${subresource}`,
    name,
  };
}

export const rulesAllow = (rules: readonly PolicyRule[], question: Question): boolean =>
  rules.some((rule) => ruleAllows(rule, question));

/** Kubernetes: RuleAllows. An empty list allows nothing, but an empty list of resourceNames allows every name. */
export function ruleAllows(rule: PolicyRule, question: Question): boolean {
  if (!hasOrAll(rule.verbs, question.verb)) return false;
  if (question.kind === 'path') return urlsAllow(rule.nonResourceURLs, question.path);
  return (
    hasOrAll(rule.apiGroups, question.group) &&
    resourcesAllow(rule.resources, question.resource, question.anySubresource) &&
    namesAllow(rule.resourceNames, question.name)
  );
}

const hasOrAll = (values: readonly string[] | undefined, value: string): boolean =>
  values !== undefined && (values.includes(value) || values.includes('*'));

function resourcesAllow(
  resources: readonly string[] | undefined,
  resource: string,
  anySubresource: string,
): boolean {
  if (hasOrAll(resources, resource)) return true;
  return anySubresource !== '' && resources !== undefined && resources.includes(anySubresource);
}

const namesAllow = (names: readonly string[] | undefined, name: string): boolean =>
  names === undefined || names.length === 0 || names.includes(name);

const urlsAllow = (urls: readonly string[] | undefined, path: string): boolean =>
  urls?.some((url) => urlCovers(url, path)) ?? false;

/** `/healthz/*` covers every path that begins with `/healthz/`; several stars at the end count as one. */
export function urlCovers(url: string, path: string): boolean {
  if (url === path) return true;
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''));
}
