import type { FieldPath } from '../../../object/field-path.ts';
import {
  additionalSchemaOf,
  clausesOf,
  hasAdditional,
  hasDefault,
  hasProperties,
  isEmbedded,
  isUsed,
  itemsOf,
  propertiesOf,
  type Schema,
  tupleOf,
} from '../../../structural/schema-node.ts';
import { validateListAndMapTypes } from './validate-list-types.ts';
import { validateRules } from './validate-rules.ts';

/** Which parts of OpenAPI v3 a schema may use at all, wherever in it (apiextensions, validation/validation.go). */
export function validateOpenApi(at: FieldPath, schema: Schema): void {
  validateNode(at, schema, { isRoot: true, isInMeta: false, noDefaults: undefined });
}

interface Place {
  readonly isRoot: boolean;
  /** Inside the apiVersion, kind or metadata of the resource or of one embedded in it. */
  readonly isInMeta: boolean;
  /** Why no default may be set here. */
  readonly noDefaults: string | undefined;
}

function validateNode(at: FieldPath, schema: Schema, place: Place): void {
  validateKeywords(at, schema, place);
  validateExclusion(at, schema);
  validateBelow(at, schema, place);
  validateListAndMapTypes(at, schema);
  validateRules(at, schema);
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

function validateKeywords(at: FieldPath, schema: Schema, { isInMeta, noDefaults }: Place): void {
  const { type = '' } = schema;
  if (type !== '' && !TYPES.includes(type)) at.field('type').notSupported(type, TYPES);
  if (hasDefault(schema) && noDefaults !== undefined)
    at.field('default').forbidden(`must not be set ${noDefaults}`);
  validateUnsupported(at, schema);
  if (type === 'null')
    at.field('type').forbidden('type cannot be set to null, use nullable as an alternative');
  if (tupleOf(schema).length > 0)
    at.field('items').forbidden('items must be a schema object and not an array');
  if (isInMeta && isEmbedded(schema))
    at.field('x-kubernetes-embedded-resource').forbidden('must not be used inside of resource meta');
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    at.field('x-kubernetes-preserve-unknown-fields').invalid(false, 'must be true or undefined');
}

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies'] as const;

function validateUnsupported(at: FieldPath, schema: Schema): void {
  for (const name of UNSUPPORTED)
    if (isUsed(schema, name)) at.field(name).forbidden(`${name} is not supported`);
  if (schema.$ref !== undefined) at.field('$ref').forbidden('$ref is not supported');
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    at.field('uniqueItems').forbidden(why);
  }
}

/** Fields are known, or they are all alike: an object is one or the other, because unknown fields are ignored. */
function validateExclusion(at: FieldPath, schema: Schema): void {
  if (hasAdditional(schema) && schema.additionalProperties !== true && hasProperties(schema))
    at.field('additionalProperties').forbidden('additionalProperties and properties are mutual exclusive');
}

const META = ['metadata', 'kind', 'apiVersion'];
const IN_META_MAP = 'inside additionalProperties applying to object metadata';

function validateBelow(at: FieldPath, schema: Schema, place: Place): void {
  const inner: Place = place.isRoot ? { ...place, isRoot: false } : place;
  const additional = additionalSchemaOf(schema);
  if (additional !== undefined) {
    const where = place.isInMeta ? { ...inner, noDefaults: IN_META_MAP } : inner;
    validateNode(at.field('additionalProperties'), additional, where);
  }
  for (const [path, name, property] of propertiesOf(at, schema))
    validateNode(path, property, placeOf(name, schema, place, inner));
  for (const [path, clause] of clausesOf(at, schema)) validateNode(path, clause, inner);
  if (schema.definitions !== undefined)
    for (const [path, , one] of at.field('definitions').entries(schema.definitions))
      validateNode(path, one, inner);
  const items = itemsOf(schema);
  if (items !== undefined) validateNode(at.field('items'), items, inner);
  for (const [path, item] of at.field('items').each(tupleOf(schema))) validateNode(path, item, inner);
  if (schema.dependencies !== undefined)
    for (const [path, , one] of at.field('dependencies').entries(schema.dependencies))
      if (!Array.isArray(one)) validateNode(path, one ?? {}, inner);
}

/** `inner`: the place of everything below the schema but its metadata. */
function placeOf(name: string, schema: Schema, place: Place, inner: Place): Place {
  const isResource = place.isRoot || isEmbedded(schema);
  if (!isResource || !META.includes(name)) return inner;
  const noDefaults = place.isRoot ? `in top-level ${name}` : place.noDefaults;
  return { isRoot: false, isInMeta: true, noDefaults };
}
