import type { JsonObject } from '../api/object-meta.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { PathWriter } from './openapi-operations.ts';
import {
  LIST_PARAMETERS,
  type NamedParameter,
  nameParameter,
  parameter,
  SHARD_SELECTOR,
} from './openapi-parameters.ts';

/**
 * `/watch/` in front of a resource, the way to watch before lists took the parameter `watch`. Generated clients have functions
 * by the names of these operations. Kubernetes publishes none for custom resources.
 */
export function writeWatchPaths(writer: PathWriter, served: ServedResource): Record<string, JsonObject> {
  const { resource, namespaced, verbs, custom } = served.definition;
  if (custom !== undefined || !verbs.includes('watch')) return {};
  const base = `${writer.root}/watch/${namespaced ? 'namespaces/{namespace}/' : ''}${resource}`;
  const describe = (watched: Watched): JsonObject => pathItem(writer, served, watched);
  return {
    ...(verbs.includes('list') ? { [base]: describe({ named: false, namespaced, isAll: false }) } : {}),
    ...(verbs.includes('get')
      ? { [`${base}/{name}`]: describe({ named: true, namespaced, isAll: false }) }
      : {}),
    ...(namespaced && verbs.includes('list')
      ? { [`${writer.root}/watch/${resource}`]: describe({ named: false, namespaced: false, isAll: true }) }
      : {}),
  };
}

interface Watched {
  readonly named: boolean;
  readonly namespaced: boolean;
  readonly isAll: boolean;
}

const PRETTY: NamedParameter = ['pretty', 'string'];
const PARAMETERS = [...LIST_PARAMETERS, PRETTY].sort(([one], [other]) => (one < other ? -1 : 1));

const TYPES = ['application/json', 'application/yaml', 'application/json;stream=watch'];
const TYPES_AND_CBOR = [
  'application/json',
  'application/yaml',
  'application/cbor',
  'application/json;stream=watch',
  'application/cbor-seq',
];

function pathItem(writer: PathWriter, { definition, version }: ServedResource, watched: Watched): JsonObject {
  const { kind, group } = definition;
  const { named, namespaced, isAll } = watched;
  const schema = writer.schemas.refer('meta/v1.WatchEvent');
  const types = writer.cbor ? TYPES_AND_CBOR : TYPES;
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  const ok = writer.version === 'v2' ? { schema } : { content };
  const suffix = `${named ? '' : 'List'}${isAll ? 'ForAllNamespaces' : ''}`;
  return {
    get: {
      operationId: `watch${writer.tag}${namespaced ? 'Namespaced' : ''}${kind}${suffix}`,
      description: named
        ? `Deprecated: list with watch=true and fieldSelector=metadata.name=... Watches one ${kind}.`
        : `Deprecated: list with watch=true. Watches each ${kind} of a list.`,
      tags: [writer.tag],
      'x-kubernetes-action': named ? 'watch' : 'watchlist',
      'x-kubernetes-group-version-kind': { ...writer.kind({ group, version: version.version, kind }) },
      ...(writer.version === 'v2' ? { consumes: ['*/*'], produces: types, schemes: ['https'] } : {}),
      responses: { 200: { description: 'OK', ...ok }, 401: { description: 'Unauthorized' } },
    },
    parameters: [
      ...(named ? [nameParameter(writer.version, kind)] : []),
      ...(namespaced ? [parameter(writer.version, 'namespace', 'string', { where: 'path' })] : []),
      ...PARAMETERS.filter(([name]) => writer.sharded || name !== SHARD_SELECTOR).map(([name, type]) =>
        parameter(writer.version, name, type, { where: 'query' }),
      ),
    ],
  };
}
