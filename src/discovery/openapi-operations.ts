import type { TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import type { ValueSchema } from '../api/schema.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { ConnectSubresource } from '../registry/resource-definition.ts';
import { type Operation, toPathItem } from './openapi-item.ts';
import { BUILT_IN_TYPES } from './openapi-media.ts';
import { nameParameter, type Parameter, type ParameterType, parameter } from './openapi-parameters.ts';
import type { OpenApiVersion } from './openapi-schema.ts';

const IN_PATH = { where: 'path' } as const;

/** Paths of connect subresources: their options are in the query, their answers are text. */
export function writeConnectPaths(
  writer: PathWriter,
  types: TypeLibrary,
  { served, subresource, path }: { served: ServedResource; subresource: ConnectSubresource; path: string },
): Record<string, JsonObject> {
  const describe = (withPath: boolean): JsonObject =>
    pathItem(writer, types, { served, subresource, withPath });
  const base = { [path]: describe(false) };
  return subresource.manner === 'proxy' ? { ...base, [`${path}/{path}`]: describe(true) } : base;
}

interface Item {
  readonly served: ServedResource;
  readonly subresource: ConnectSubresource;
  /** Whether the path has a part for the proxied path. */
  readonly withPath: boolean;
}

function pathItem(writer: PathWriter, types: TypeLibrary, item: Item): JsonObject {
  const { served, subresource, withPath } = item;
  const parameters = [
    nameParameter(writer.version, served.definition.kind),
    ...(served.definition.namespaced ? [parameter(writer.version, 'namespace', 'string', IN_PATH)] : []),
    ...(withPath ? [parameter(writer.version, 'path', 'string', IN_PATH)] : []),
    ...optionsOf(writer, types, subresource),
    ...(subresource.manner === 'log'
      ? [parameter(writer.version, 'pretty', 'string', { where: 'query' })]
      : []),
  ];
  return toPathItem(
    subresource.methods.map(
      (method): Operation => ({
        method: method.toLowerCase(),
        json: toOperation(writer, item, method),
        parameters,
      }),
    ),
  );
}

/** Kubernetes' document of the options leaves out times. */
const optionsOf = (writer: PathWriter, types: TypeLibrary, subresource: ConnectSubresource): Parameter[] =>
  [...types.message(subresource.options).fields.values()]
    .filter(({ value }) => value.kind !== 'Time')
    .map(({ name, value }) =>
      parameter(writer.version, name, typeOf(value), { where: 'query', of: subresource.name }),
    );

/** The item type of a list, because the parameter is repeated. */
function typeOf(value: ValueSchema): ParameterType {
  switch (value.kind) {
    case 'bool':
      return 'boolean';
    case 'int32':
    case 'int64':
      return 'integer';
    case 'list':
      return typeOf(value.items);
    default:
      return 'string';
  }
}

function toOperation(
  writer: PathWriter,
  { served, subresource, withPath }: Item,
  method: string,
): JsonObject {
  const { definition } = served;
  const log = subresource.manner === 'log';
  const verb = log ? `read${writer.id}` : `connect${writer.id}${capitalize(method.toLowerCase())}`;
  const scope = definition.namespaced ? 'Namespaced' : '';
  const suffix = `${capitalize(subresource.name)}${withPath ? 'WithPath' : ''}`;
  const types = log ? ['text/plain', ...BUILT_IN_TYPES] : ['*/*'];
  return {
    operationId: `${verb}${scope}${definition.kind}${suffix}`,
    description: log
      ? `read log of the specified ${definition.kind}`
      : `connect ${method} requests to ${subresource.name} of ${definition.kind}`,
    tags: [writer.tag],
    'x-kubernetes-action': log ? 'get' : 'connect',
    'x-kubernetes-group-version-kind': { ...writer.kind(subresource.served) },
    ...(writer.version === 'v2' ? { consumes: ['*/*'], produces: types, schemes: ['https'] } : {}),
    responses: { 200: textAnswer(writer, types), 401: { description: 'Unauthorized' } },
  };
}

const textAnswer = ({ version }: PathWriter, types: readonly string[]): JsonObject =>
  version === 'v2'
    ? { description: 'OK', schema: { type: 'string' } }
    : {
        description: 'OK',
        content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }])),
      };

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Context for writing the paths of one group version. */
export interface PathWriter {
  readonly version: OpenApiVersion;
  readonly schemas: { refer(type: string): JsonObject };
  readonly cbor: boolean;
  /** Parameters that the emulated version does not have yet. */
  readonly toCome: ReadonlySet<string>;
  /** `/api/v1` or `/apis/apps/v1`. */
  readonly root: string;
  /** Part of operation ids: `CoreV1`, `AppsV1`. */
  readonly id: string;
  /** `core_v1`, `apps_v1`. */
  readonly tag: string;
  readonly kind: (kind: GroupVersionKind) => GroupVersionKind;
}
