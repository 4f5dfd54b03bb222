import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import { objectOf, setField } from '../object/json-values.ts';
import { API_VERSION, definitionRef, KIND, META, type OpenApiVersion } from './openapi-schema.ts';

/**
 * Converts schemas of custom resources to OpenAPI. v3 contains nearly the whole schema. v2 lacks nullable, junctors and unknown
 * fields, and clients refuse objects that violate a too strict schema, so v2 omits more (apiextensions-apiserver,
 * pkg/controller/openapi/v2/conversion.go), also all defaults.
 */

/** Keywords with the same meaning in both versions. Empty texts, lists and maps, and false, have no effect and are left out. */
const SHARED: ReadonlySet<string> = new Set<keyof JSONSchemaProps>([
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'maxProperties',
  'minProperties',
  'required',
  'enum',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
]);

/** Tests of clients look for the first three words. */
const METADATA = "Standard object's metadata, such as its name, its labels and its owners.";
const IS_INT_OR_STRING = 'x-kubernetes-int-or-string';
const IS_EMBEDDED = 'x-kubernetes-embedded-resource';
const KEEPS_UNKNOWN = 'x-kubernetes-preserve-unknown-fields';

/** An object of the schema, with the fields that every object has. Undefined: a version without a schema. */
export function toObjectSchema(schema: JSONSchemaProps | undefined, version: OpenApiVersion): JsonObject {
  // kubectl refuses every other field once one is named, metadata included.
  const isOpen = schema === undefined || (version === 'v2' && schema[KEEPS_UNKNOWN] === true);
  if (isOpen) return { type: 'object' };
  const published = version === 'v2' ? toV2(schema) : toV3(schema);
  return withProperties(published, objectFields(version));
}

const objectFields = (version: OpenApiVersion): JsonObject => ({
  apiVersion: API_VERSION,
  kind: KIND,
  metadata: toMetadata('ObjectMeta', METADATA, version),
});

/** A field that refers to a message of meta/v1. v3 allows no keywords beside a reference. */
export function toMetadata(
  message: 'ObjectMeta' | 'ListMeta',
  description: string,
  version: OpenApiVersion,
): JsonObject {
  const reference = definitionRef(version, `${META}.${message}`);
  return version === 'v2' ? { description, ...reference } : { description, allOf: [reference] };
}

function withProperties(schema: JsonObject, properties: JsonObject): JsonObject {
  return { ...schema, properties: { ...objectOf(schema.properties), ...properties } };
}

// A definition has thousands of these, each with three keywords of thirty: reads only existing keywords, and copies each once.

function toV3(schema: JSONSchemaProps): JsonObject {
  const published = sharedOf(schema);
  const { nullable, default: value = null } = schema;
  if (nullable === true) published.nullable = true;
  if (value !== null) published.default = value;
  addJunctors(published, schema[IS_INT_OR_STRING] === true ? withIntOrString(schema) : schema);
  addChildren(published, schema, toV3);
  return schema[IS_EMBEDDED] === true ? embedded(published, 'v3') : published;
}

function toV2(schema: JSONSchemaProps): JsonObject {
  const isNullable = schema.nullable === true;
  const keepsUnknown = schema[KEEPS_UNKNOWN] === true;
  const { type } = schema;
  // Beside an unknown type kubectl can take neither items nor properties.
  const children = isNullable || keepsUnknown ? withoutChildren(schema) : schema;
  const published = sharedOf(schema);
  const isEndless = type === 'array' && !isSchema(children.items);
  if (isNullable || isEndless || (type === 'object' && keepsUnknown)) delete published.type;
  setRequired(published, requiredInV2(children));
  addChildren(published, children, toV2);
  return schema[IS_EMBEDDED] === true && !keepsUnknown ? embedded(published, 'v2') : published;
}

const withoutChildren = ({ items: _, properties: __, ...schema }: JSONSchemaProps): JSONSchemaProps => schema;

function setRequired(published: JsonObject, required: string[]): void {
  if (required.length > 0) published.required = required;
  else delete published.required;
}

/** A field that may be null has no type in v2, and kubectl would take its null for a missing field. */
function requiredInV2({ required, additionalProperties, properties = {} }: JSONSchemaProps): string[] {
  if (isSchema(additionalProperties) && additionalProperties.nullable === true) return [];
  const mayBeNull = (name: string): boolean =>
    Object.hasOwn(properties, name) && properties[name]?.nullable === true;
  return (required ?? []).filter((name) => !mayBeNull(name));
}

function embedded(schema: JsonObject, version: OpenApiVersion): JsonObject {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  return { ...withProperties(schema, objectFields(version)), required: [...required, ...missing] };
}

function sharedOf(schema: JSONSchemaProps): JsonObject {
  const shared: JsonObject = {};
  for (const [keyword, value] of Object.entries<JsonValue | undefined>(schema)) {
    if (!SHARED.has(keyword)) continue;
    if (keyword === 'example' ? value !== null : saysSomething(value)) shared[keyword] = value;
  }
  return shared;
}

/** 0 has an effect: it is a bound. */
function saysSomething(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function addChildren(
  published: JsonObject,
  { items, additionalProperties = null, properties }: JSONSchemaProps,
  publish: (schema: JSONSchemaProps) => JsonObject,
): void {
  if (isSchema(items)) published.items = publish(items);
  if (additionalProperties !== null) {
    published.additionalProperties = isSchema(additionalProperties)
      ? publish(additionalProperties)
      : additionalProperties;
  }
  if (properties === undefined) return;
  const fields: JsonObject = {};
  let isEmpty = true;
  for (const [name, field] of Object.entries(properties)) {
    setField(fields, name, publish(field));
    isEmpty = false;
  }
  if (!isEmpty) published.properties = fields;
}

function isSchema(
  value: JSONSchemaProps | JSONSchemaProps[] | boolean | null | undefined,
): value is JSONSchemaProps {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Junctors = Pick<JSONSchemaProps, 'allOf' | 'anyOf' | 'oneOf' | 'not'>;

function addJunctors(published: JsonObject, { allOf, anyOf, oneOf, not }: Junctors): void {
  if (allOf !== undefined && allOf.length > 0) published.allOf = allOf.map(toClause);
  if (anyOf !== undefined && anyOf.length > 0) published.anyOf = anyOf.map(toClause);
  if (oneOf !== undefined && oneOf.length > 0) published.oneOf = oneOf.map(toClause);
  if (not !== undefined) published.not = toClause(not);
}

/** Clauses restrict values, and name no types of their own but those of an integer or a string. */
function toClause(schema: JSONSchemaProps): JsonObject {
  const published = sharedOf(schema);
  addJunctors(published, schema);
  addChildren(published, schema, toClause);
  return published;
}

const INTEGER_OR_STRING: JSONSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];

/** x-kubernetes-int-or-string in words that every client understands. */
function withIntOrString(schema: JSONSchemaProps): Junctors {
  const { allOf = [], anyOf = [] } = schema;
  if (isPair(anyOf) || isPair(allOf[0]?.anyOf)) return schema;
  return anyOf.length === 0
    ? { ...schema, anyOf: INTEGER_OR_STRING }
    : { ...schema, allOf: [{ anyOf: INTEGER_OR_STRING }, ...allOf] };
}

const isPair = (anyOf: readonly JSONSchemaProps[] = []): boolean =>
  anyOf.length === 2 && anyOf[0]?.type === 'integer' && anyOf[1]?.type === 'string';
