import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { parts, text } from '../../../object/parts.ts';
import { has } from '../../validation/fields.ts';
import {
  additionalOf,
  additionalSchemaOf,
  isOn,
  itemsOf,
  propertiesOf,
  propertyOf,
  type Schema,
} from './node.ts';
import { validateCompleteness, validateValues } from './structural-values.ts';

/**
 * A structural schema says of every field what it is, outside of allOf, anyOf, oneOf and not, which may only narrow it down
 * (apiextensions-apiserver, apiserver/schema/validation.go). Without that nothing could be pruned or defaulted.
 */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  return [...validateNode(schema, 'root', path), ...validateCompleteness(schema, schema, path, path)];
}

type Level = 'root' | 'item' | 'field';

function validateNode(schema: Schema, level: Level, path: string): FieldError[] {
  const items = itemsOf(schema);
  const additional = additionalSchemaOf(schema);
  return [
    ...(schema.type === 'array' && items === undefined
      ? [required(`${path}.items`, 'must be specified')]
      : []),
    ...(items === undefined ? [] : validateNode(items, 'item', `${path}.items`)),
    ...propertiesOf(schema, path).flatMap((property) =>
      validateNode(property.schema, 'field', property.path),
    ),
    ...(additional === undefined ? [] : validateNode(additional, 'field', `${path}.additionalProperties`)),
    ...validateAdditional(schema, level, path),
    ...validateExtensions(schema, path),
    ...validateValues(schema, path, intOrStringPattern(schema)),
    ...validateType(schema, level, path),
    ...validateTypeMeta(schema, level, path),
    ...validateMetadata(schema, level, `${path}.properties[metadata]`),
    ...validateEmbedded(schema, path),
  ];
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** The two ways of writing "a number or a text", whose types are no types of their own. */
function intOrStringPattern(schema: Schema): 'anyOf' | 'allOf' | undefined {
  if (equal(schema.anyOf, INT_OR_STRING)) return 'anyOf';
  return equal(parts(schema, 'allOf')[0]?.anyOf, INT_OR_STRING) ? 'allOf' : undefined;
}

function validateAdditional(schema: Schema, level: Level, path: string): FieldError[] {
  if (additionalOf(schema) === undefined) return [];
  const field = `${path}.additionalProperties`;
  return [
    ...(level === 'root' ? [forbiddenField(field, 'must not be used at the root')] : []),
    ...(isOn(schema, 'x-kubernetes-embedded-resource')
      ? [forbiddenField(field, 'must not be used if x-kubernetes-embedded-resource is set')]
      : []),
  ];
}

function validateExtensions(schema: Schema, path: string): FieldError[] {
  if (!isOn(schema, 'x-kubernetes-int-or-string')) return [];
  return ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']
    .filter((name) => isOn(schema, name))
    .map((name) =>
      invalidValue(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'),
    );
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function validateType(schema: Schema, level: Level, path: string): FieldError[] {
  const type = text(schema.type);
  const field = `${path}.type`;
  const untyped =
    isOn(schema, 'x-kubernetes-int-or-string') || isOn(schema, 'x-kubernetes-preserve-unknown-fields');
  const errors: FieldError[] = [];
  if (isOn(schema, 'x-kubernetes-embedded-resource') && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(field, why) : invalidValue(field, type, why));
  } else if (type === '' && !untyped) errors.push(required(field, EMPTY_TYPE[level]));
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalidValue(field, type, 'must be object at the root'));
  return errors;
}

const isResource = (schema: Schema, level: Level): boolean =>
  level === 'root' || isOn(schema, 'x-kubernetes-embedded-resource');

function validateTypeMeta(schema: Schema, level: Level, path: string): FieldError[] {
  if (!isResource(schema, level)) return [];
  return ['kind', 'apiVersion'].flatMap((name) => {
    const property = propertyOf(schema, name);
    if (property === undefined || property.type === 'string') return [];
    return [invalidValue(`${path}.properties[${name}].type`, text(property.type), 'must be string')];
  });
}

/** The schema of metadata is known, so that at the root only names can be restricted further. */
function validateMetadata(schema: Schema, level: Level, path: string): FieldError[] {
  const metadata = propertyOf(schema, 'metadata');
  if (metadata === undefined) return [];
  const errors: FieldError[] = [];
  if (isResource(schema, level) && metadata.type !== 'object')
    errors.push(invalidValue(`${path}.type`, text(metadata.type), 'must be object'));
  if (level !== 'root') return errors;
  const ignored = ['type', 'default', 'properties', 'externalDocs', 'example'];
  const said = Object.keys(metadata).filter((name) => has(metadata, name) && !ignored.includes(name));
  const others = propertiesOf(metadata).filter(({ name }) => name !== 'name' && name !== 'generateName');
  if (said.length > 0 || others.length > 0) {
    const why =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbiddenField(path, why));
  }
  return errors;
}

function validateEmbedded(schema: Schema, path: string): FieldError[] {
  const bare =
    isOn(schema, 'x-kubernetes-embedded-resource') &&
    !isOn(schema, 'x-kubernetes-preserve-unknown-fields') &&
    propertiesOf(schema).length === 0;
  const why =
    'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
  return bare ? [required(`${path}.properties`, why)] : [];
}
