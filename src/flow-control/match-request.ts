import { canonicalGroup } from '../api/dialect.ts';
import type { ResourceTarget, UserInfo } from '../request/api-request.ts';
import {
  bySchemaOrder,
  type FlowSchema,
  type PathRule,
  parseFlowSchema,
  type ResourceRule,
  type SchemaRule,
  type Subject,
} from './flow-configuration.ts';
import type { Classification, FlowRequest } from './flow-control.ts';
import type { FlowMetrics, FlowRecorder } from './flow-recorder.ts';
import type { Level } from './levels.ts';
import { MANDATORY } from './shipped-configuration.ts';

/** Whether a schema matches a request (Kubernetes: matchesFlowSchema). Rules are compiled once, because requests are many. */
type Matcher = (request: FlowRequest) => boolean;

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

/** `*` means everything only when it stands alone. */
function matchName(names: readonly string[]): (name: string) => boolean {
  if (names.length === 1 && names[0] === '*') return () => true;
  const known = new Set(names);
  return (name) => known.has(name);
}

function matchPath(rule: PathRule): (verb: string, path: string) => boolean {
  const verbs = matchName(rule.verbs);
  const exact = new Set(rule.paths);
  // A path covers all paths below it, with or without a star at its end.
  const prefixes = rule.paths.map((path) => `${path.replace(/\*$/, '').replace(/\/$/, '')}/`);
  const all = exact.has('*');
  return (verb, path) =>
    verbs(verb) && (all || exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)));
}

/** A flow schema with everything that its requests need, looked up once. */
export interface Route {
  readonly schema: FlowSchema;
  readonly level: Level;
  readonly matches: Matcher;
  readonly classification: Classification;
  readonly recorder: FlowRecorder;
}

const MANDATORY_SCHEMAS = MANDATORY.schemas.map(parseFlowSchema);

/**
 * The schemas in the order in which they are tried. A schema whose level does not exist is left out; the mandatory ones exist
 * even before their objects do. The last schema takes all requests that no other matches.
 */
export function createRoutes(
  schemas: readonly FlowSchema[],
  levels: ReadonlyMap<string, Level>,
  metrics: FlowMetrics,
): Route[] {
  const usable = schemas.filter(({ level }) => levels.has(level)).sort(bySchemaOrder);
  const named = (wanted: string): boolean => usable.some(({ name }) => name === wanted);
  const [exempt, catchAll] = MANDATORY_SCHEMAS;
  const all = [
    ...(exempt === undefined || named(exempt.name) ? [] : [exempt]),
    ...usable,
    ...(catchAll === undefined || named(catchAll.name) ? [] : [catchAll]),
  ];
  return all.flatMap((schema) => {
    const level = levels.get(schema.level);
    return level === undefined ? [] : [toRoute(schema, level, metrics)];
  });
}

const toRoute = (schema: FlowSchema, level: Level, metrics: FlowMetrics): Route => ({
  schema,
  level,
  matches: createMatcher(schema),
  classification: { schemaUid: schema.uid, levelUid: level.config.uid },
  recorder: metrics.flow(level.config.name, schema.name),
});

/** The first route that matches. None matches only callers without a known group; they get the catch-all. */
export function findRoute(routes: readonly Route[], request: FlowRequest): Route {
  for (const route of routes) if (route.matches(request)) return route;
  const last = routes.findLast(({ schema }) => schema.name === 'catch-all') ?? routes.at(-1);
  if (last === undefined) throw new Error('there are no flow schemas');
  return last;
}

/** The key of the request's flow within its schema. Only queues need it. */
export function distinguish({ schema, level }: Route, { user, target }: FlowRequest): string {
  if (schema.distinguisher === undefined || (level.config.queuing?.queues ?? 0) <= 1) return '';
  return schema.distinguisher === 'ByUser' ? user.username : (target?.namespace ?? '');
}
