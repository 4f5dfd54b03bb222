import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';

/** A FlowSchema as classification needs it (flowcontrol.apiserver.k8s.io/v1). */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  /** The lower one wins. */
  readonly precedence: number;
  /** Name of the priority level. */
  readonly level: string;
  /** The property that separates the flows of the schema; undefined: all requests are one flow. */
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  readonly rules: readonly SchemaRule[];
}

export interface SchemaRule {
  readonly subjects: readonly Subject[];
  readonly resourceRules: readonly ResourceRule[];
  readonly pathRules: readonly PathRule[];
}

export type Subject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string };

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly clusterScope: boolean;
  readonly namespaces: readonly string[];
}

export interface PathRule {
  readonly verbs: readonly string[];
  readonly paths: readonly string[];
}

const DEFAULT_PRECEDENCE = 1000;

export function parseFlowSchema({ metadata, spec }: ApiObject): FlowSchema {
  const fields = part({ spec }, 'spec');
  const method = text(part(fields, 'distinguisherMethod'), 'type');
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    precedence: number(fields, 'matchingPrecedence') ?? DEFAULT_PRECEDENCE,
    level: text(part(fields, 'priorityLevelConfiguration'), 'name'),
    distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : undefined,
    rules: parts(fields, 'rules').map(parseRule),
  };
}

function parseRule(rule: JsonObject): SchemaRule {
  return {
    subjects: parts(rule, 'subjects').flatMap(parseSubject),
    resourceRules: parts(rule, 'resourceRules').map((fields) => ({
      verbs: texts(fields, 'verbs'),
      groups: texts(fields, 'apiGroups'),
      resources: texts(fields, 'resources'),
      clusterScope: fields.clusterScope === true,
      namespaces: texts(fields, 'namespaces'),
    })),
    pathRules: parts(rule, 'nonResourceRules').map((fields) => ({
      verbs: texts(fields, 'verbs'),
      paths: texts(fields, 'nonResourceURLs'),
    })),
  };
}

/** A subject of an unknown kind matches nobody. */
function parseSubject(subject: JsonObject): Subject[] {
  switch (text(subject, 'kind')) {
    case 'User':
      return [{ kind: 'User', name: text(part(subject, 'user'), 'name') }];
    case 'Group':
      return [{ kind: 'Group', name: text(part(subject, 'group'), 'name') }];
    case 'ServiceAccount': {
      const account = part(subject, 'serviceAccount');
      return [{ kind: 'ServiceAccount', namespace: text(account, 'namespace'), name: text(account, 'name') }];
    }
    default:
      return [];
  }
}

/** The order in which schemas are tried: by precedence, then by name. */
export function bySchemaOrder(a: FlowSchema, b: FlowSchema): number {
  return a.precedence - b.precedence || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

/** Stored objects have passed validation; a field that is absent nevertheless reads as empty. */

export function part(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function parts(object: JsonObject | undefined, name: string): JsonObject[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function texts(object: JsonObject | undefined, name: string): string[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function text(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === 'string' ? value : '';
}

export function number(object: JsonObject | undefined, name: string): number | undefined {
  const value = object?.[name];
  return typeof value === 'number' ? value : undefined;
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
