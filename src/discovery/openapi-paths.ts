import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { ResourceDefinition, Subresource } from '../registry/resource-definition.ts';
import { publishedType } from './custom-types.ts';
import { type PathWriter, writeConnectPaths } from './openapi-operations.ts';
import {
  LIST_PARAMETERS,
  type NamedParameter,
  nameParameter,
  parameter,
  SHARD_SELECTOR,
} from './openapi-parameters.ts';
import { writeWatchPaths } from './openapi-watches.ts';

/** Paths and operations of one resource, in both OpenAPI versions. */

/** The method of each operation, and its names: `action` in `x-kubernetes-action`, `verb` in ids and descriptions. */
const OPERATIONS = {
  get: { method: 'get', action: 'get', verb: 'read' },
  list: { method: 'get', action: 'list', verb: 'list' },
  create: { method: 'post', action: 'post', verb: 'create' },
  update: { method: 'put', action: 'put', verb: 'replace' },
  patch: { method: 'patch', action: 'patch', verb: 'patch' },
  delete: { method: 'delete', action: 'delete', verb: 'delete' },
  deletecollection: { method: 'delete', action: 'deletecollection', verb: 'deleteCollection' },
} as const;

type Operation = keyof typeof OPERATIONS;

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const STRATEGIC = 'application/strategic-merge-patch+json';
/** Objects of custom resources have no protobuf form. */
const objectTypes = (cbor: boolean): readonly string[] => [
  ...['application/json', 'application/yaml'],
  ...(cbor ? ['application/cbor'] : []),
];

/** Media types of a request's body. */
function bodyTypes(
  { cbor }: PathWriter,
  { custom }: ResourceDefinition,
  operation: Operation,
): readonly string[] {
  if (operation !== 'patch') return custom === undefined ? ['*/*'] : objectTypes(cbor);
  const types = cbor ? [...PATCH_TYPES, 'application/apply-patch+cbor'] : PATCH_TYPES;
  return custom === undefined ? types : types.filter((type) => type !== STRATEGIC);
}

const IN_QUERY = { where: 'query' } as const;

const WRITE_PARAMETERS: readonly NamedParameter[] = [
  ['dryRun', 'string'],
  ['fieldManager', 'string'],
  ['fieldValidation', 'string'],
];
const DELETE_PARAMETERS: readonly NamedParameter[] = [
  ['dryRun', 'string'],
  ['gracePeriodSeconds', 'integer'],
  ['ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean'],
  ['orphanDependents', 'boolean'],
  ['propagationPolicy', 'string'],
];

const PARAMETERS: Readonly<Record<Operation, readonly NamedParameter[]>> = {
  get: [],
  list: LIST_PARAMETERS,
  create: WRITE_PARAMETERS,
  update: WRITE_PARAMETERS,
  patch: [...WRITE_PARAMETERS, ['force', 'boolean']],
  delete: DELETE_PARAMETERS,
  deletecollection: [...DELETE_PARAMETERS, ...LIST_PARAMETERS.filter(([name]) => name !== 'watch')],
};

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
  const paths: Record<string, JsonObject> = {
    [base]: describe(has(['list', 'create', 'deletecollection']), { named: false, namespaced, suffix: '' }),
  };
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

const kindOf = ({ definition, version }: ServedResource): GroupVersionKind => ({
  group: definition.group,
  version: version.version,
  kind: definition.kind,
});

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

function subresourceItem(
  writer: PathWriter,
  served: ServedResource,
  { name, verbs, type, served: kind }: Subresource,
): JsonObject {
  const operations = verbs.filter((verb): verb is Operation => verb in OPERATIONS);
  const suffix = name.charAt(0).toUpperCase() + name.slice(1);
  const { namespaced } = served.definition;
  return pathItem(writer, served, {
    ...{ operations, named: true, namespaced, suffix },
    type: publishedType(served, type),
    // As in Kubernetes, operations on custom resources have the custom kind, also where their bodies are of another.
    kind: served.definition.custom === undefined ? kind : kindOf(served),
  });
}

function pathItem(writer: PathWriter, served: ServedResource, item: Item): JsonObject {
  const parameters = [
    ...(item.named ? [nameParameter(writer.version, served.definition.kind)] : []),
    ...(item.namespaced ? [parameter(writer.version, 'namespace', 'string', { where: 'path' })] : []),
    parameter(writer.version, 'pretty', 'string', IN_QUERY),
  ];
  const operations = item.operations.map((operation) => [
    OPERATIONS[operation].method,
    toOperation(writer, served, item, operation),
  ]);
  return { ...Object.fromEntries(operations), parameters };
}

function toOperation(
  writer: PathWriter,
  { definition }: ServedResource,
  item: Item,
  operation: Operation,
): JsonObject {
  const { kind, suffix, type, namespaced } = item;
  const { verb, action } = OPERATIONS[operation];
  const list = operation === 'list';
  const answered = list
    ? `${type}List`
    : operation === 'delete' || operation === 'deletecollection'
      ? 'meta/v1.Status'
      : type;
  const body = bodyOf(operation, type);
  const types = bodyTypes(writer, definition, operation);
  const own = operation === 'get' || operation === 'list' ? definition.parameters?.[operation] : undefined;
  const known = PARAMETERS[operation].filter(([name]) => writer.sharded || name !== SHARD_SELECTOR);
  const taken = [...known, ...(suffix === '' ? Object.entries(own ?? {}) : [])];
  const parameters = taken.map(([name, of]) => parameter(writer.version, name, of, IN_QUERY));
  return {
    operationId: `${operation === 'deletecollection' ? `delete${writer.tag}Collection` : `${verb}${writer.tag}`}${namespaced ? 'Namespaced' : ''}${definition.kind}${suffix}`,
    description: `${verb} ${definition.resource}${item.suffix === '' ? '' : ` ${item.suffix}`}`,
    tags: [writer.tag],
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...writer.kind(kind) },
    ...(definition.custom?.deprecation === undefined ? {} : { deprecated: true }),
    ...(writer.version === 'v2'
      ? v2Body(writer, { body, types, operation, parameters })
      : v3Body(writer, { body, types, operation, parameters })),
    responses: responses(writer, answered, operation),
  };
}

function bodyOf(operation: Operation, type: string): string | undefined {
  switch (operation) {
    case 'create':
    case 'update':
      return type;
    case 'patch':
      return 'meta/v1.Patch';
    case 'delete':
    case 'deletecollection':
      return 'meta/v1.DeleteOptions';
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

interface RequestBody {
  /** The type of the body; undefined for none. */
  readonly body: string | undefined;
  /** Media types. */
  readonly types: readonly string[];
  readonly operation: Operation;
  readonly parameters: JsonObject[];
}

function v2Body(
  { schemas, cbor }: PathWriter,
  { body, types, operation, parameters }: RequestBody,
): JsonObject {
  const schema = body === undefined ? undefined : schemas.refer(body);
  const bodies =
    schema === undefined
      ? []
      : [{ description: textOfBody(operation), name: 'body', in: 'body', ...requiredFor(operation), schema }];
  return {
    consumes: [...types],
    produces: [...objectTypes(cbor)],
    schemes: ['https'],
    ...withParameters([...parameters, ...bodies]),
  };
}

/** Go's types of these documents omit empty and false fields, and so does this one: reading and writing gives the same text. */
const withParameters = (parameters: JsonObject[]): JsonObject =>
  parameters.length === 0 ? {} : { parameters };
const requiredFor = (operation: Operation): JsonObject =>
  operation === 'create' || operation === 'update' || operation === 'patch' ? { required: true } : {};

function v3Body({ schemas }: PathWriter, { body, types, operation, parameters }: RequestBody): JsonObject {
  if (body === undefined) return withParameters(parameters);
  const schema = schemas.refer(body);
  return {
    ...withParameters(parameters),
    requestBody: {
      description: textOfBody(operation),
      ...requiredFor(operation),
      content: Object.fromEntries(types.map((type) => [type, { schema }])),
    },
  };
}

function responses({ version, schemas, cbor }: PathWriter, type: string, operation: Operation): JsonObject {
  const schema = schemas.refer(type);
  const ok: JsonObject =
    version === 'v2'
      ? { description: 'OK', schema }
      : {
          description: 'OK',
          content: Object.fromEntries(objectTypes(cbor).map((type) => [type, { schema }])),
        };
  const created = operation === 'create' || operation === 'update' || operation === 'patch';
  return {
    200: ok,
    ...(created ? { 201: { ...ok, description: 'Created' } } : {}),
    401: { description: 'Unauthorized' },
  };
}
