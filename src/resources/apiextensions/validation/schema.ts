import type { CustomResourceValidation } from '../../../api/types/apiextensions/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { validateDefaults } from '../schema/defaults.ts';
import { keywordsOf, type Schema } from '../schema/node.ts';
import { validateOpenApi } from '../schema/openapi.ts';
import { unreadableReason, validateStructural } from '../schema/structural.ts';

/** `at`: where the object with the schema stands, `spec.validation` or `spec.versions[0].schema`. */
export function validateSchema(
  at: FieldPath,
  { openAPIV3Schema: schema }: CustomResourceValidation,
  hasStatus: boolean,
): void {
  if (schema === undefined) return;
  const path = at.field('openAPIV3Schema');
  const before = at.found;
  if (hasStatus) validateRoot(path, schema);
  if (schema.nullable === true) path.field('nullable').forbidden('nullable cannot be true at the root');
  const unreadable = unreadableReason(schema);
  if (unreadable === undefined) validateStructure(path, schema);
  validateOpenApi(path, schema);
  // What cannot be read has mostly been named already, in better words.
  if (unreadable !== undefined && at.found === before) path.invalid('', unreadable);
}

function validateStructure(at: FieldPath, schema: Schema): void {
  const before = at.found;
  validateStructural(at, schema);
  if (at.found === before) validateDefaults(at, schema);
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

function validateRoot(at: FieldPath, schema: Schema): void {
  const { type = '' } = schema;
  if (type !== '' && type !== 'object') {
    const why =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    at.field('type').invalid(type, why);
    return;
  }
  if (keywordsOf(schema).every((name) => AT_ROOT.has(name))) return;
  const names = [...AT_ROOT.values()].join(' ');
  const why = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  at.invalid(schema, why);
}
