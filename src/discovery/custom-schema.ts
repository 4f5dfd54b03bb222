import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { JSONSchemaProps } from '../api/types/apiextensions/v1.ts';
import { API_VERSION, definitionRef, KIND, META, type OpenApiVersion } from './openapi-schema.ts';

/**
 * Schemas of custom resources as OpenAPI has them. v3 says nearly all that a definition says. v2 lacks nullable, junctors and
 * fields that may be unknown, and clients refuse objects where it says too much, so it says less there (apiextensions-apiserver,
 * pkg/controller/openapi/v2/conversion.go); defaults are left out of v2 altogether.
 */

/** Keywords that mean the same in both versions. Empty texts, lists and maps, and false, say nothing and are left out. */
const SHARED = [
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
] as const satisfies readonly (keyof JSONSchemaProps)[];

/** Their values may be empty or false and still say something. */
const VALUES: ReadonlySet<string> = new Set(['example', 'default']);

const METADATA = 'Data that every object has, such as its name, its labels and its owners.';
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

/** A field that refers to a message of meta/v1. In v3 nothing may stand beside a reference. */
export function toMetadata(
  message: 'ObjectMeta' | 'ListMeta',
  description: string,
  version: OpenApiVersion,
): JsonObject {
  const reference = definitionRef(version, `${META}.${message}`);
  return version === 'v2' ? { description, ...reference } : { description, allOf: [reference] };
}

function withProperties(schema: JsonObject, properties: JsonObject): JsonObject {
  const { properties: own } = schema;
  return { ...schema, properties: { ...(own as JsonObject | undefined), ...properties } };
}

function toV3(schema: JSONSchemaProps): JsonObject {
  const { nullable, default: value = null } = schema;
  const published: JsonObject = {
    ...sharedOf(schema),
    ...(nullable === true ? { nullable } : {}),
    ...(value === null ? {} : { default: value }),
    ...junctorsOf(withIntOrString(schema)),
    ...childrenOf(schema, toV3),
  };
  return schema[IS_EMBEDDED] === true ? embedded(published, 'v3') : published;
}

function toV2(schema: JSONSchemaProps): JsonObject {
  const isNullable = schema.nullable === true;
  const keepsUnknown = schema[KEEPS_UNKNOWN] === true;
  // Beside an unknown type kubectl can take neither items nor properties.
  const { items: _items, properties: _properties, ...open } = schema;
  const children: JSONSchemaProps = isNullable || keepsUnknown ? open : schema;
  const { type } = schema;
  const isUntyped =
    isNullable || (type === 'array' && !isSchema(children.items)) || (type === 'object' && keepsUnknown);
  const { type: _, required: __, ...shared } = sharedOf(schema);
  const required = requiredInV2(children);
  const published: JsonObject = {
    ...(isUntyped || type === undefined || type === '' ? {} : { type }),
    ...shared,
    ...(required.length === 0 ? {} : { required }),
    ...childrenOf(children, toV2),
  };
  return schema[IS_EMBEDDED] === true && !keepsUnknown ? embedded(published, 'v2') : published;
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
  for (const keyword of SHARED) {
    const value = schema[keyword] as JsonValue | undefined;
    if (VALUES.has(keyword) ? (value ?? null) !== null : saysSomething(value)) shared[keyword] = value;
  }
  return shared;
}

/** 0 says something: it is a bound. */
function saysSomething(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function childrenOf(
  { items, additionalProperties = null, properties = {} }: JSONSchemaProps,
  publish: (schema: JSONSchemaProps) => JsonObject,
): JsonObject {
  const fields = Object.entries(properties);
  return {
    ...(isSchema(items) ? { items: publish(items) } : {}),
    // Entries, so that a field may be called __proto__.
    ...(fields.length === 0
      ? {}
      : { properties: Object.fromEntries(fields.map(([name, field]) => [name, publish(field)])) }),
    ...(additionalProperties === null
      ? {}
      : {
          additionalProperties: isSchema(additionalProperties)
            ? publish(additionalProperties)
            : additionalProperties,
        }),
  };
}

function isSchema(
  value: JSONSchemaProps | JSONSchemaProps[] | boolean | null | undefined,
): value is JSONSchemaProps {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Junctors = Pick<JSONSchemaProps, 'allOf' | 'anyOf' | 'oneOf' | 'not'>;

function junctorsOf({ allOf = [], anyOf = [], oneOf = [], not }: Junctors): JsonObject {
  return {
    ...(allOf.length === 0 ? {} : { allOf: allOf.map(toClause) }),
    ...(anyOf.length === 0 ? {} : { anyOf: anyOf.map(toClause) }),
    ...(oneOf.length === 0 ? {} : { oneOf: oneOf.map(toClause) }),
    ...(not === undefined ? {} : { not: toClause(not) }),
  };
}

/** Clauses restrict values, and name no types of their own but those of an integer or a string. */
function toClause(schema: JSONSchemaProps): JsonObject {
  return { ...sharedOf(schema), ...junctorsOf(schema), ...childrenOf(schema, toClause) };
}

const INTEGER_OR_STRING: JSONSchemaProps[] = [{ type: 'integer' }, { type: 'string' }];

/** x-kubernetes-int-or-string in words that every client understands. */
function withIntOrString(schema: JSONSchemaProps): Junctors {
  const { 'x-kubernetes-int-or-string': isEither, allOf = [], anyOf = [] } = schema;
  if (isEither !== true || isPair(anyOf) || isPair(allOf[0]?.anyOf)) return schema;
  return anyOf.length === 0
    ? { ...schema, anyOf: INTEGER_OR_STRING }
    : { ...schema, allOf: [{ anyOf: INTEGER_OR_STRING }, ...allOf] };
}

const isPair = (anyOf: readonly JSONSchemaProps[] = []): boolean =>
  anyOf.length === 2 && anyOf[0]?.type === 'integer' && anyOf[1]?.type === 'string';
