import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { validateDefaults } from './schema/defaults.ts';
import { isOn, type Schema } from './schema/node.ts';
import { validateOpenApi } from './schema/openapi.ts';
import { validateStructural } from './schema/structural.ts';
import { whyNotReadable } from './schema/structural-values.ts';

/** `path`: where the object with the schema stands, `spec.validation` or `spec.versions[0].schema`. */
export function validateSchema(validation: JsonObject, path: string, hasStatus: boolean): FieldError[] {
  if (!has(validation, 'openAPIV3Schema')) return [];
  const schema = part(validation, 'openAPIV3Schema');
  const field = `${path}.openAPIV3Schema`;
  const errors = [
    ...(hasStatus ? validateRoot(schema, field) : []),
    ...(isOn(schema, 'nullable')
      ? [forbiddenField(`${field}.nullable`, 'nullable cannot be true at the root')]
      : []),
  ];
  const unreadable = whyNotReadable(schema);
  if (unreadable === undefined) errors.push(...validateStructure(schema, field));
  errors.push(...validateOpenApi(schema, field));
  // What cannot be read has mostly been named already, in better words.
  return unreadable !== undefined && errors.length === 0 ? [invalidValue(field, '', unreadable)] : errors;
}

function validateStructure(schema: Schema, path: string): FieldError[] {
  const errors = validateStructural(schema, path);
  return errors.length > 0 ? errors : validateDefaults(schema, path);
}

/** Keywords at the root that keep their meaning when the status is looked at by itself, with the names of Kubernetes' text. */
const AT_ROOT: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
]);

function validateRoot(schema: Schema, path: string): FieldError[] {
  const type = text(schema.type);
  if (type !== '' && type !== 'object') {
    const why =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidValue(`${path}.type`, type, why)];
  }
  if (Object.keys(schema).every((name) => AT_ROOT.has(name) || !has(schema, name))) return [];
  const names = [...AT_ROOT.values()].join(' ');
  const why = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidValue(path, schema, why)];
}
