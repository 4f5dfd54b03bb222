import { canonicalGroup } from '../api/dialect.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { repeatedKeyProblems } from '../codec/yaml-problems.ts';
import { parseYamlText } from '../codec/yaml-text.ts';
import {
  asObject,
  checkFields,
  checkOneOf,
  eachInvalid,
  invalidValue,
  required,
} from '../object/field-errors.ts';
import { checkName } from '../object/text-formats.ts';
import type { ApiRequest, ResourceTarget, UserInfo } from '../request/api-request.ts';

/** How much of a request is recorded. Every level includes the ones before it. */
const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];

const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
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

interface GroupResources {
  /** Canonical. */
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` + `/scale`, `*`. Empty: all. */
  readonly resources: readonly string[];
  readonly resourceNames: ReadonlySet<string>;
}

/** The first rule that matches a request decides; without one nothing is recorded. */
export type Policy = readonly PolicyRule[];

/** The facts that rules match. Without a user, authentication failed. */
type AuditAttributes = Pick<ApiRequest, 'verb' | 'target' | 'path'> & { readonly user?: UserInfo };

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

/**
 * The file of --audit-policy-file, in YAML or JSON:
 *
 *   apiVersion: audit.k8s.io/v1
 *   kind: Policy
 *   omitStages: [RequestReceived]
 *   rules:
 *   - level: Metadata
 *     resources: [{group: "", resources: [secrets, configmaps]}]
 *   - level: RequestResponse
 *
 * The checks are Kubernetes' (apiserver, apis/audit/validation), but unknown and repeated fields, which Kubernetes only warns
 * about, are refused: a misspelt rule would record too little or too much for years.
 */

const API_VERSIONS = ['audit.k8s.io/v1', 'audit.cluster.io/v1'];
const POLICY_FIELDS = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const RULE_FIELDS = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
];
const GROUP_FIELDS = ['group', 'resources', 'resourceNames'];

/** @throws Error with all problems */
export function parsePolicy(text: string): Policy {
  const { value, duplicates } = parseYamlText(Buffer.from(text));
  const problems = repeatedKeyProblems(duplicates);
  const file = asObject(value);
  checkOneOf(file.apiVersion, API_VERSIONS, 'apiVersion', problems);
  checkOneOf(file.kind, ['Policy'], 'kind', problems);
  checkFields(file, POLICY_FIELDS, '', problems);
  const omitStages = readStages(file, '', problems);
  const omitManagedFields = readBoolean(file, '', problems) ?? false;
  const rules = readObjects(file.rules, 'rules', problems);
  if (rules.length === 0) problems.push(required('rules', 'a policy needs at least one rule'));
  const policy = rules.map((rule, at) => {
    const parsed = parseRule(rule, `rules[${at}]`, problems);
    return {
      ...parsed,
      omitStages: new Set([...omitStages, ...parsed.omitStages]),
      omitManagedFields: parsed.omitManagedFields ?? omitManagedFields,
    };
  });
  if (problems.length === 0) return policy;
  throw new Error(problems.map(({ field, message }) => `${field}: ${message}`).join(', '));
}

type ParsedRule = Omit<PolicyRule, 'omitManagedFields'> & { readonly omitManagedFields: boolean | undefined };

function parseRule(rule: JsonObject, path: string, problems: FieldError[]): ParsedRule {
  checkFields(rule, RULE_FIELDS, path, problems);
  checkOneOf(rule.level, LEVELS, `${path}.level`, problems);
  const nonResourceUrls = readTexts(rule, 'nonResourceURLs', path, problems);
  const namespaces = readTexts(rule, 'namespaces', path, problems);
  const groups = readObjects(rule.resources, `${path}.resources`, problems);
  checkUrls(nonResourceUrls, `${path}.nonResourceURLs`, problems);
  if (nonResourceUrls.length > 0 && (groups.length > 0 || namespaces.length > 0)) {
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    problems.push(invalidValue(`${path}.nonResourceURLs`, nonResourceUrls, why));
  }
  return {
    level: LEVELS.find((level) => level === rule.level) ?? ('None' satisfies Level),
    users: new Set(readTexts(rule, 'users', path, problems)),
    userGroups: new Set(readTexts(rule, 'userGroups', path, problems)),
    verbs: new Set(readTexts(rule, 'verbs', path, problems)),
    namespaces: new Set(namespaces),
    resources: groups.map((group, at) => parseGroup(group, `${path}.resources[${at}]`, problems)),
    nonResourceUrls,
    omitStages: readStages(rule, path, problems),
    omitManagedFields: readBoolean(rule, path, problems),
  };
}

function parseGroup(entry: JsonObject, path: string, problems: FieldError[]): GroupResources {
  checkFields(entry, GROUP_FIELDS, path, problems);
  const { group: given } = entry;
  const group = typeof given === 'string' ? given : '';
  if (given !== undefined && given !== null && typeof given !== 'string') {
    problems.push(invalidValue(`${path}.group`, given, 'must be a string'));
  }
  if (group !== '') problems.push(...eachInvalid(`${path}.group`, group, checkName(group, 'dns-subdomain')));
  const resources = readTexts(entry, 'resources', path, problems);
  const resourceNames = readTexts(entry, 'resourceNames', path, problems);
  if (resourceNames.length > 0 && resources.length === 0) {
    const why = 'using resourceNames requires at least one resource';
    problems.push(invalidValue(`${path}.resourceNames`, resourceNames, why));
  }
  return { group: canonicalGroup(group).group, resources, resourceNames: new Set(resourceNames) };
}

function checkUrls(urls: readonly string[], path: string, problems: FieldError[]): void {
  for (const [at, url] of urls.entries()) {
    if (url === '*') continue;
    const field = `${path}[${at}]`;
    if (!url.startsWith('/'))
      problems.push(invalidValue(field, url, "non-resource URL rules must begin with a '/' character"));
    if (url.slice(0, -1).includes('*')) {
      const why = "non-resource URL wildcards '*' must be the final character of the rule";
      problems.push(invalidValue(field, url, why));
    }
  }
}

function readStages(object: JsonObject, path: string, problems: FieldError[]): Set<Stage> {
  const given = readTexts(object, 'omitStages', path, problems);
  const stages = new Set<Stage>();
  for (const [at, text] of given.entries()) {
    const stage = STAGES.find((one) => one === text);
    if (stage !== undefined) stages.add(stage);
    else {
      const field = `${inside(path, 'omitStages')}[${at}]`;
      problems.push(invalidValue(field, text, `allowed stages are ${STAGES.join(',')}`));
    }
  }
  return stages;
}

function readBoolean(object: JsonObject, path: string, problems: FieldError[]): boolean | undefined {
  const { omitManagedFields: value } = object;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  problems.push(invalidValue(inside(path, 'omitManagedFields'), value, 'must be true or false'));
  return undefined;
}

function readTexts(object: JsonObject, name: string, path: string, problems: FieldError[]): string[] {
  const value = object[name] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  problems.push(invalidValue(inside(path, name), value, 'must be a list of strings'));
  return [];
}

function readObjects(value: JsonValue | undefined, field: string, problems: FieldError[]): JsonObject[] {
  const list = value ?? [];
  if (Array.isArray(list) && list.every(isPlain)) return list.map(asObject);
  problems.push(invalidValue(field, value, 'must be a list of objects'));
  return [];
}

const isPlain = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inside = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
