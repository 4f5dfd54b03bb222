import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { FieldPath } from '../../../object/field-path.ts';
import {
  additionalSchemaOf,
  hasAdditional,
  hasProperties,
  isEmbedded,
  isIntOrString,
  isUsed,
  itemsOf,
  keepsUnknown,
  keywordsOf,
  propertiesOf,
  propertyOf,
  type Schema,
  structuralBelow,
  tupleOf,
} from '../../../structural/schema-node.ts';
import { validateCompleteness, validateValues } from './clauses.ts';

/**
 * A structural schema describes every field outside of allOf, anyOf, oneOf and not, which may only restrict it
 * (apiextensions-apiserver, apiserver/schema/validation.go). Pruning and defaulting need that.
 */
export function validateStructural(at: FieldPath, schema: Schema): void {
  const found: FieldError[] = [];
  const path = FieldPath.root(found).field(at.toString());
  validateNode(path, schema, 'root');
  validateCompleteness(path, schema);
  at.add(found.sort((a, b) => (lineOf(a) < lineOf(b) ? -1 : 1)));
}

/** Kubernetes sorts only these errors. */
const lineOf = ({ field, message }: FieldError): string => `${field}: ${message}`;

type Level = 'root' | 'item' | 'field';

function validateNode(at: FieldPath, schema: Schema, level: Level): void {
  const items = itemsOf(schema);
  if (items !== undefined) validateNode(at.field('items'), items, 'item');
  else if (schema.type === 'array') at.field('items').required('must be specified');
  for (const [path, , property] of propertiesOf(at, schema)) validateNode(path, property, 'field');
  const additional = additionalSchemaOf(schema);
  if (additional !== undefined) validateNode(at.field('additionalProperties'), additional, 'field');
  if (hasAdditional(schema)) validateAdditional(at.field('additionalProperties'), schema, level);
  if (isIntOrString(schema)) validateIntOrString(at, schema);
  validateValues(at, schema, intOrStringPattern(schema));
  validateType(at, schema, level);
  if (level === 'root' || isEmbedded(schema)) validateTypeMeta(at, schema);
  validateMetadata(at, schema, level);
  if (isEmbedded(schema) && !keepsUnknown(schema) && !hasProperties(schema)) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    at.field('properties').required(why);
  }
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** The two ways of writing "a number or a text", whose types are no types of their own. */
function intOrStringPattern({ anyOf, allOf }: Schema): 'anyOf' | 'allOf' | undefined {
  if (equal(anyOf, INT_OR_STRING)) return 'anyOf';
  return equal(allOf?.[0]?.anyOf, INT_OR_STRING) ? 'allOf' : undefined;
}

function validateAdditional(at: FieldPath, schema: Schema, level: Level): void {
  if (level === 'root') at.forbidden('must not be used at the root');
  if (isEmbedded(schema)) at.forbidden('must not be used if x-kubernetes-embedded-resource is set');
}

function validateIntOrString(at: FieldPath, schema: Schema): void {
  const why = 'must be false if x-kubernetes-int-or-string is true';
  if (keepsUnknown(schema)) at.field('x-kubernetes-preserve-unknown-fields').invalid(true, why);
  if (isEmbedded(schema)) at.field('x-kubernetes-embedded-resource').invalid(true, why);
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function validateType(at: FieldPath, schema: Schema, level: Level): void {
  const { type = '' } = schema;
  if (type === 'object') return;
  const path = at.field('type');
  if (isEmbedded(schema)) {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    if (type === '') path.required(why);
    else path.invalid(type, why);
  } else if (type === '' && !isIntOrString(schema) && !keepsUnknown(schema)) path.required(EMPTY_TYPE[level]);
  if (level === 'root' && type !== '') path.invalid(type, 'must be object at the root');
}

function validateTypeMeta(at: FieldPath, schema: Schema): void {
  for (const name of ['kind', 'apiVersion']) {
    const property = propertyOf(schema, name);
    if (property !== undefined && property.type !== 'string')
      at.field('properties')
        .item(name)
        .field('type')
        .invalid(property.type ?? '', 'must be string');
  }
}

const IGNORED = ['type', 'default', 'properties', 'externalDocs', 'example'];
const NAMES = ['name', 'generateName'];

/** The schema of metadata is known, so that at the root only names can be restricted further. */
function validateMetadata(at: FieldPath, schema: Schema, level: Level): void {
  const metadata = propertyOf(schema, 'metadata');
  if (metadata === undefined) return;
  const { type = '', properties = {} } = metadata;
  const path = at.field('properties').item('metadata');
  if ((level === 'root' || isEmbedded(schema)) && type !== 'object')
    path.field('type').invalid(type, 'must be object');
  if (level !== 'root') return;
  const isRestricting =
    keywordsOf(metadata).some((name) => !IGNORED.includes(name)) ||
    Object.keys(properties).some((name) => !NAMES.includes(name));
  const why =
    'must not specify anything other than name and generateName, but metadata is implicitly specified';
  if (isRestricting) path.forbidden(why);
}

const UNSUPPORTED = [
  'id',
  '$schema',
  '$ref',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
] as const;

/** Why a schema cannot be read as structural; undefined: it can. */
export function unreadableReason(schema: Schema): string | undefined {
  const name = UNSUPPORTED.find((unsupported) => isUsed(schema, unsupported));
  if (name !== undefined) return `OpenAPIV3Schema '${name === '$schema' ? 'schema' : name}' is not supported`;
  if (tupleOf(schema).length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  for (const below of structuralBelow(schema)) {
    const reason = unreadableReason(below);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
