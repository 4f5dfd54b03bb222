import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { ResourceDefinition, Subresource } from '../registry/resource-definition.ts';
import { kindOf, publishedType, publishedView } from './custom-types.ts';
import { toPathItem } from './openapi-item.ts';
import { bodyTypes, listTypes, objectTypes, patchTypes } from './openapi-media.ts';
import { capitalized } from './openapi-names.ts';
import { type PathWriter, writeConnectPaths } from './openapi-operations.ts';
import { nameParameter, type Parameter, type ParameterType, parameter } from './openapi-parameters.ts';
import { writeWatchPaths } from './openapi-watches.ts';

/** Paths and operations of one resource, in both OpenAPI versions. */

const ACTIONS = {
  get: 'get',
  list: 'list',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'deletecollection',
} as const;

type Operation = keyof typeof ACTIONS;

const METHODS: Readonly<Record<Operation, string>> = {
  get: 'get',
  list: 'get',
  create: 'post',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
};

type Taken = readonly [name: string, type: ParameterType];

const IN_QUERY = { where: 'query' } as const;

const LIST_PARAMETERS: readonly Taken[] = [
  ['allowWatchBookmarks', 'boolean'],
  ['continue', 'string'],
  ['fieldSelector', 'string'],
  ['labelSelector', 'string'],
  ['limit', 'integer'],
  ['resourceVersion', 'string'],
  ['resourceVersionMatch', 'string'],
  ['sendInitialEvents', 'boolean'],
  ['shardSelector', 'string'],
  ['timeoutSeconds', 'integer'],
  ['watch', 'boolean'],
];
const WRITE_PARAMETERS: readonly Taken[] = [
  ['dryRun', 'string'],
  ['fieldManager', 'string'],
  ['fieldValidation', 'string'],
];
const DELETE_PARAMETERS: readonly Taken[] = [
  ['dryRun', 'string'],
  ['gracePeriodSeconds', 'integer'],
  ['ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean'],
  ['orphanDependents', 'boolean'],
  ['propagationPolicy', 'string'],
];

const PARAMETERS: Readonly<Record<Operation, readonly Taken[]>> = {
  get: [],
  list: LIST_PARAMETERS,
  create: WRITE_PARAMETERS,
  update: WRITE_PARAMETERS,
  patch: [...WRITE_PARAMETERS, ['force', 'boolean']],
  delete: DELETE_PARAMETERS,
  deletecollection: [
    ...DELETE_PARAMETERS,
    ...LIST_PARAMETERS.filter(([name]) => name !== 'watch' && name !== 'allowWatchBookmarks'),
  ],
};

/** Kubernetes' documents of custom resources say of a deletion of many what they say of a list. */
const takenBy = (operation: Operation, isCustom: boolean): readonly Taken[] =>
  PARAMETERS[isCustom && operation === 'deletecollection' ? 'list' : operation];

export function writePaths(
  writer: PathWriter,
  types: TypeLibrary,
  served: ServedResource,
): Record<string, JsonObject> {
  const { definition } = served;
  const { resource, namespaced } = definition;
  const base = namespaced
    ? `${writer.root}/namespaces/{namespace}/${resource}`
    : `${writer.root}/${resource}`;
  const self = kindOf(served);
  const describe = (operations: readonly Operation[], scope: Scope): JsonObject =>
    pathItem(writer, served, { operations, type: publishedType(served), kind: self, ...scope });
  const has = (operations: readonly Operation[]): Operation[] =>
    operations.filter((operation) => definition.verbs.some((verb) => verb === operation));
  const paths: Record<string, JsonObject> = {};
  const all = has(['list', 'create', 'deletecollection']);
  if (all.length > 0) paths[base] = describe(all, { named: false, namespaced, suffix: '' });
  const one = has(['get', 'update', 'patch', 'delete']);
  if (one.length > 0) paths[`${base}/{name}`] = describe(one, { named: true, namespaced, suffix: '' });
  if (namespaced && definition.verbs.includes('list')) {
    paths[`${writer.root}/${resource}`] = describe(['list'], {
      named: false,
      namespaced: false,
      suffix: 'ForAllNamespaces',
    });
  }
  Object.assign(paths, writeWatchPaths(writer, served));
  for (const subresource of definition.subresources) {
    const path = `${base}/{name}/${subresource.name}`;
    if (subresource.access === 'connect') {
      Object.assign(paths, writeConnectPaths(writer, types, { served, subresource, path }));
    } else paths[path] = subresourceItem(writer, served, subresource);
  }
  return paths;
}

interface Scope {
  readonly named: boolean;
  readonly namespaced: boolean;
  readonly suffix: string;
}

interface Item extends Scope {
  readonly operations: readonly Operation[];
  readonly type: string;
  readonly kind: GroupVersionKind;
}

function subresourceItem(writer: PathWriter, served: ServedResource, subresource: Subresource): JsonObject {
  const { name, verbs } = subresource;
  const { namespaced, custom } = served.definition;
  const { type, kind } = publishedView(served, subresource);
  return pathItem(writer, served, {
    operations: verbs.filter((verb): verb is Operation => verb in ACTIONS),
    ...{ named: true, namespaced, suffix: capitalized(name), type },
    // As in Kubernetes, operations on custom resources have the custom kind, also where their bodies are of another.
    kind: custom === undefined ? kind : kindOf(served),
  });
}

function pathItem(writer: PathWriter, served: ServedResource, item: Item): JsonObject {
  const shared = [
    ...(item.named ? [nameParameter(writer.version, served.definition.kind)] : []),
    ...(item.namespaced ? [parameter(writer.version, 'namespace', 'string', { where: 'path' })] : []),
    parameter(writer.version, 'pretty', 'string', IN_QUERY),
  ];
  return toPathItem(
    item.operations.map((operation) => ({
      method: METHODS[operation],
      json: toOperation(writer, served, item, operation),
      parameters: [...shared, ...parametersOf(writer, served, item, operation)],
      body: writer.version === 'v2' ? bodyParameter(writer, served, item, operation) : undefined,
    })),
  );
}

function parametersOf(
  { version, toCome }: PathWriter,
  { definition }: ServedResource,
  { suffix }: Item,
  operation: Operation,
): Parameter[] {
  const own = operation === 'get' || operation === 'list' ? definition.parameters?.[operation] : undefined;
  const known = takenBy(operation, definition.custom !== undefined).filter(([name]) => !toCome.has(name));
  const taken = [...known, ...(suffix === '' ? Object.entries(own ?? {}) : [])];
  return taken.map(([name, of]) => parameter(version, name, of, IN_QUERY));
}

function toOperation(
  writer: PathWriter,
  { definition }: ServedResource,
  item: Item,
  operation: Operation,
): JsonObject {
  const { kind, suffix, namespaced } = item;
  const isCustom = definition.custom !== undefined;
  const verb = VERBS[operation] ?? operation;
  const id = operation === 'deletecollection' ? `delete${writer.id}Collection` : `${verb}${writer.id}`;
  const produced = (operation === 'list' ? listTypes : objectTypes)(writer, isCustom);
  const consumed = operation === 'patch' ? patchTypes(writer, isCustom) : bodyTypes(isCustom);
  const body = bodyOf(operation, item.type, isCustom);
  return {
    operationId: `${id}${namespaced ? 'Namespaced' : ''}${definition.kind}${suffix}`,
    description: `${verb} ${definition.resource}${item.suffix === '' ? '' : ` ${item.suffix}`}`,
    tags: [writer.tag],
    'x-kubernetes-action': ACTIONS[operation],
    'x-kubernetes-group-version-kind': { ...writer.kind(kind) },
    ...(definition.custom?.deprecation === undefined ? {} : { deprecated: true }),
    ...(writer.version === 'v2'
      ? { consumes: [...consumed], produces: [...produced], schemes: ['https'] }
      : requestBody(writer, { body, consumed, operation })),
    responses: responses(writer, answerOf(definition, item, operation), { operation, isCustom, produced }),
  };
}

const VERBS: Readonly<Partial<Record<Operation, string>>> = {
  get: 'read',
  update: 'replace',
  deletecollection: 'deleteCollection',
};

/** The type of the answer. */
function answerOf(
  { strategy, resource, group }: ResourceDefinition,
  { type }: Item,
  operation: Operation,
): string {
  if (operation === 'list') return `${type}List`;
  if (operation === 'deletecollection') return 'meta/v1.Status';
  if (operation !== 'delete') return type;
  // Kubernetes documents a Status for namespaces, although it answers with the namespace.
  const isNamespace = group === '' && resource === 'namespaces';
  return strategy.returnsDeletedObject === true && !isNamespace ? type : 'meta/v1.Status';
}

function bodyOf(operation: Operation, type: string, isCustom: boolean): string | undefined {
  switch (operation) {
    case 'create':
    case 'update':
      return type;
    case 'patch':
      return 'meta/v1.Patch';
    case 'delete':
      return 'meta/v1.DeleteOptions';
    case 'deletecollection':
      return isCustom ? undefined : 'meta/v1.DeleteOptions';
    default:
      return undefined;
  }
}

function textOfBody(operation: Operation): string {
  switch (operation) {
    case 'create':
      return 'The object to create.';
    case 'update':
      return 'The whole object as it is to be.';
    case 'patch':
      return 'The change, in the form that Content-Type names.';
    default:
      return 'Options of the deletion; they may be in the query instead.';
  }
}

const requiredFor = (operation: Operation): JsonObject =>
  operation === 'create' || operation === 'update' || operation === 'patch' ? { required: true } : {};

function bodyParameter(
  { schemas }: PathWriter,
  { definition }: ServedResource,
  { type }: Item,
  operation: Operation,
): JsonObject | undefined {
  const body = bodyOf(operation, type, definition.custom !== undefined);
  if (body === undefined) return undefined;
  const described = { description: textOfBody(operation), name: 'body', in: 'body' };
  return { ...described, ...requiredFor(operation), schema: schemas.refer(body) };
}

interface RequestBody {
  /** The type of the body; undefined for none. */
  readonly body: string | undefined;
  /** Media types. */
  readonly consumed: readonly string[];
  readonly operation: Operation;
}

function requestBody({ schemas }: PathWriter, { body, consumed, operation }: RequestBody): JsonObject {
  if (body === undefined) return {};
  const schema = schemas.refer(body);
  const content = Object.fromEntries(consumed.map((type) => [type, { schema }]));
  return { requestBody: { description: textOfBody(operation), ...requiredFor(operation), content } };
}

interface Answered {
  readonly operation: Operation;
  readonly isCustom: boolean;
  /** Media types. */
  readonly produced: readonly string[];
}

/** Which answers Kubernetes documents for its own resources, and for custom ones. */
const CODES: Readonly<Partial<Record<Operation, readonly number[]>>> = {
  create: [201, 202],
  update: [201],
  patch: [201],
  delete: [202],
};
const TEXTS: Readonly<Record<number, string>> = { 201: 'Created', 202: 'Accepted' };

function responses(
  { version, schemas }: PathWriter,
  type: string,
  { operation, isCustom, produced }: Answered,
): JsonObject {
  const schema = schemas.refer(type);
  const answer: JsonObject =
    version === 'v2' ? { schema } : { content: Object.fromEntries(produced.map((one) => [one, { schema }])) };
  const others = isCustom && operation === 'patch' ? [] : (CODES[operation] ?? []);
  return {
    200: { description: 'OK', ...answer },
    ...Object.fromEntries(others.map((code) => [code, { description: TEXTS[code] ?? '', ...answer }])),
    401: { description: 'Unauthorized' },
  };
}
