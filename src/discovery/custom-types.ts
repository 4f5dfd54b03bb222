import { type TypeLibrary, toDefinitionName } from '../api/idl/types.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { JsonObject } from '../api/object-meta.ts';
import { CUSTOM_TYPE } from '../registry/custom.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { ResourceDefinition, Subresource } from '../registry/resource-definition.ts';
import { toMetadata, toObjectSchema } from './custom-schema.ts';
import { API_VERSION, definitionRef, type ForeignType, KIND, type OpenApiVersion } from './openapi-schema.ts';

/** The types that a custom resource adds to a document: its objects, and lists of them. */

/** Types to which definitions of custom types refer. */
export const METADATA_TYPES = ['meta/v1.ObjectMeta', 'meta/v1.ListMeta'];

/** A type as documents refer to it: its name in the IDL, or one like it for a custom resource. That of lists ends in `List`. */
export const publishedType = (
  { definition, version }: ServedResource,
  type: string = version.type,
): string => (type === CUSTOM_TYPE ? `${definition.group}/${version.version}.${definition.kind}` : type);

export const kindOf = ({ definition, version }: ServedResource): GroupVersionKind => ({
  group: definition.group,
  version: version.version,
  kind: definition.kind,
});

/** A subresource whose bodies are the objects themselves has them in the version that is served. */
export function publishedView(
  served: ServedResource,
  { type, served: kind }: Subresource,
): { readonly type: string; readonly kind: GroupVersionKind } {
  if (type === served.definition.storage.type) return { type: publishedType(served), kind: kindOf(served) };
  return { type: publishedType(served, type), kind };
}

/** Returns the types of custom resources by their names in documents. */
export function customTypes(
  served: ServedResource,
  version: OpenApiVersion,
  types: TypeLibrary,
): ReadonlyMap<string, ForeignType> {
  const { definition } = served;
  const { custom } = definition;
  if (custom === undefined) return new Map();
  const name = publishedType(served);
  const kind = { group: definition.group, version: served.version.version };
  const own = { ...kind, kind: definition.kind };
  const list = { ...kind, kind: definition.listKind };
  const item = definitionName(own, types);
  const fields = selectableFields(definition);
  const makeObject = (): JsonObject => ({
    ...toObjectSchema(custom.schema(), version),
    ...kindsOf(own),
    ...fields,
  });
  const makeList = (): JsonObject => ({
    ...listSchema(definition, definitionRef(version, item), version),
    ...kindsOf(list),
    ...fields,
  });
  return new Map([
    [name, { definition: item, make: makeObject }],
    [`${name}List`, { definition: definitionName(list, types), make: makeList }],
  ]);
}

const kindsOf = (kind: GroupVersionKind): JsonObject => ({
  'x-kubernetes-group-version-kind': [{ ...kind }],
});

function selectableFields({ fields }: ResourceDefinition): JsonObject {
  const names = fields.names.map((fieldPath) => ({ fieldPath }));
  return names.length === 0 ? {} : { 'x-kubernetes-selectable-fields': names };
}

function listSchema(
  { kind, listKind, resource }: ResourceDefinition,
  items: JsonObject,
  version: OpenApiVersion,
): JsonObject {
  return {
    type: 'object',
    description: `${listKind} is a list of ${kind}.`,
    required: ['items'],
    properties: {
      apiVersion: API_VERSION,
      items: { type: 'array', description: `The ${resource}.`, items },
      kind: KIND,
      metadata: toMetadata('ListMeta', 'Data of the list: its revision, and where it goes on.', version),
    },
  };
}

/**
 * `v1.Widget` in `stable.example.com` → `com.example.stable.v1.Widget`. A group can be chosen so that this is the name of a
 * built-in type, which keeps it.
 */
function definitionName({ group, version, kind }: GroupVersionKind, types: TypeLibrary): string {
  const name = `${group.split('.').reverse().join('.')}.${version}.${kind}`;
  return name.startsWith('io.k8s.') && isBuiltIn(name, types) ? `${name}.custom` : name;
}

function isBuiltIn(definition: string, types: TypeLibrary): boolean {
  for (const name of types.names()) if (toDefinitionName(name) === definition) return true;
  return false;
}
