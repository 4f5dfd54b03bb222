import type { ApiRequest, ResourceTarget, UserInfo } from '../request/api-request.ts';

/** How much of a request is recorded. Every level includes the ones before it. */
export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];

export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof STAGES)[number];

export const isAtLeast = (level: Level, least: Level): boolean =>
  LEVELS.indexOf(level) >= LEVELS.indexOf(least);

/** A rule, with the settings that the policy has for all rules. Empty sets and lists match everything. */
export interface PolicyRule {
  readonly level: Level;
  readonly users: ReadonlySet<string>;
  readonly userGroups: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  /** '' stands for resources without a namespace. */
  readonly namespaces: ReadonlySet<string>;
  readonly resources: readonly GroupResources[];
  /** `/healthz`, `/logs/*`, `*`. */
  readonly nonResourceUrls: readonly string[];
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

export interface GroupResources {
  /** Canonical. */
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` + `/scale`, `*`. Empty: all. */
  readonly resources: readonly string[];
  readonly resourceNames: ReadonlySet<string>;
}

/** The first rule that matches a request decides; without one nothing is recorded. */
export type Policy = readonly PolicyRule[];

/** The facts that rules match. Without a user, authentication failed. */
export type AuditAttributes = Pick<ApiRequest, 'verb' | 'target' | 'path'> & { readonly user?: UserInfo };

/** The first rule that matches (Kubernetes: audit/policy/checker.go). */
export const findRule = (policy: Policy, attributes: AuditAttributes): PolicyRule | undefined =>
  policy.find((rule) => matches(rule, attributes));

function matches(rule: PolicyRule, { user, verb, target, path }: AuditAttributes): boolean {
  if (rule.users.size > 0 && !rule.users.has(user?.username ?? '')) return false;
  if (rule.userGroups.size > 0 && user?.groups.some((group) => rule.userGroups.has(group)) !== true)
    return false;
  if (rule.verbs.size > 0 && !rule.verbs.has(verb)) return false;
  if (rule.namespaces.size > 0 || rule.resources.length > 0)
    return target !== undefined && matchesTarget(rule, target);
  if (rule.nonResourceUrls.length === 0) return true;
  return target === undefined && rule.nonResourceUrls.some((url) => matchesPath(url, path));
}

function matchesPath(url: string, path: string): boolean {
  return url.endsWith('*') ? path.startsWith(url.replace(/\*+$/, '')) : url === path;
}

function matchesTarget({ namespaces, resources }: PolicyRule, target: ResourceTarget): boolean {
  if (namespaces.size > 0 && !namespaces.has(target.namespace)) return false;
  return resources.length === 0 || resources.some((group) => matchesGroup(group, target));
}

function matchesGroup({ group, resources, resourceNames }: GroupResources, target: ResourceTarget): boolean {
  if (group !== target.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.size > 0 && !resourceNames.has(target.name)) return false;
  return resources.some((resource) => matchesResource(resource, target));
}

/** `pods/*` also matches pods themselves, as in Kubernetes. */
function matchesResource(pattern: string, { resource, subresource }: ResourceTarget): boolean {
  if (pattern === '*') return true;
  if (pattern === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (subresource !== '' && pattern === `*/${subresource}`) return true;
  return pattern === `${resource}/*`;
}
