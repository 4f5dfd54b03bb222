import { canonicalGroup } from '../api/dialect.ts';
import type { ResourceTarget, UserInfo } from '../request/api-request.ts';
import type { FlowSchema, PathRule, ResourceRule, SchemaRule, Subject } from './config/flow-schema.ts';
import type { FlowRequest } from './flow-control.ts';

/** Whether a schema is for a request (Kubernetes: matchesFlowSchema). Rules are taken apart once, requests are many. */
export type Matcher = (request: FlowRequest) => boolean;

export function createMatcher({ rules }: FlowSchema): Matcher {
  const matchers = rules.map(matchRule);
  return (request) => matchers.some((matches) => matches(request));
}

function matchRule({ subjects, resourceRules, pathRules }: SchemaRule): Matcher {
  const isFor = matchSubjects(subjects);
  const resources = resourceRules.map(matchResource);
  const paths = pathRules.map(matchPath);
  return ({ user, verb, target, path }) => {
    if (!isFor(user)) return false;
    return target === undefined
      ? paths.some((matches) => matches(verb, path))
      : resources.some((matches) => matches(verb, target));
  };
}

const ACCOUNT = 'system:serviceaccount:';

function matchSubjects(subjects: readonly Subject[]): (user: UserInfo) => boolean {
  const users = new Set<string>();
  const groups = new Set<string>();
  const namespaces: string[] = [];
  for (const subject of subjects) {
    if (subject.kind === 'User') users.add(subject.name);
    else if (subject.kind === 'Group') groups.add(subject.name);
    else if (subject.name === '*') namespaces.push(`${ACCOUNT}${subject.namespace}:`);
    else users.add(`${ACCOUNT}${subject.namespace}:${subject.name}`);
  }
  if (users.has('*') || groups.has('*')) return () => true;
  return ({ username, groups: held }) =>
    users.has(username) ||
    held.some((group) => groups.has(group)) ||
    namespaces.some((prefix) => username.startsWith(prefix));
}

function matchResource(rule: ResourceRule): (verb: string, target: ResourceTarget) => boolean {
  const verbs = matchName(rule.verbs);
  // Rules may be written in either dialect, requests arrive in the canonical one.
  const groups = matchName(rule.groups.map((group) => canonicalGroup(group).group));
  const resources = matchName(rule.resources);
  const namespaces = matchName(rule.namespaces);
  return (verb, { group, resource, subresource, namespace }) =>
    verbs(verb) &&
    resources(subresource === '' ? resource : `${resource}/${subresource}`) &&
    groups(group) &&
    (namespace === '' ? rule.clusterScope : namespaces(namespace));
}

/** `*` means everything only where it stands alone. */
function matchName(names: readonly string[]): (name: string) => boolean {
  if (names.length === 1 && names[0] === '*') return () => true;
  const known = new Set(names);
  return (name) => known.has(name);
}

function matchPath(rule: PathRule): (verb: string, path: string) => boolean {
  const verbs = matchName(rule.verbs);
  const exact = new Set(rule.paths);
  // A path covers what is below it, with and without a star at its end.
  const prefixes = rule.paths.map((path) => `${path.replace(/\*$/, '').replace(/\/$/, '')}/`);
  const all = exact.has('*');
  return (verb, path) =>
    verbs(verb) && (all || exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)));
}
