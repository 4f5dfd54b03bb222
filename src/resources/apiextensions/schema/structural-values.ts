import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { compilePattern, PatternError } from '../../../object/go-pattern.ts';
import { text } from '../../../object/parts.ts';
import { has } from '../../validation/fields.ts';
import { additionalOf, clausesOf, isOn, itemsOf, propertiesOf, propertyOf, type Schema } from './node.ts';

/** What a structural schema says of values, and what may be said under allOf, anyOf, oneOf and not. */

/** `pattern`: where types stand that are allowed, because together they mean a number or a text. */
export function validateValues(schema: Schema, path: string, pattern?: 'anyOf' | 'allOf'): FieldError[] {
  const clauses = clausesOf(schema, path).flatMap((clause) => {
    if (pattern === 'anyOf' && clause.path.startsWith(`${path}.anyOf[`)) return [];
    const first = pattern === 'allOf' && clause.path === `${path}.allOf[0]`;
    return validateNested(clause.schema, clause.path, first ? 'anyOf' : undefined);
  });
  return [...clauses, ...validatePattern(text(schema.pattern), `${path}.pattern`)];
}

function validatePattern(pattern: string, path: string): FieldError[] {
  if (pattern === '') return [];
  try {
    compilePattern(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return [invalidValue(path, pattern, `must be a valid regular expression, but isn't: ${error.message}`)];
  }
}

function validateNested(schema: Schema, path: string, pattern?: 'anyOf'): FieldError[] {
  const items = itemsOf(schema);
  return [
    ...validateValues(schema, path, pattern),
    ...(items === undefined ? [] : validateNested(items, `${path}.items`)),
    ...propertiesOf(schema, path).flatMap((property) => validateNested(property.schema, property.path)),
    ...validateNothingNew(schema, path),
  ];
}

/** Texts for what says something new of a value rather than something more. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['type', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function isSaid(schema: Schema, name: string): boolean {
  const value = schema[name];
  if (!has(schema, name) || value === '' || value === false) return name === 'default' && has(schema, name);
  return !Array.isArray(value) || value.length > 0;
}

function validateNothingNew(schema: Schema, path: string): FieldError[] {
  const errors = FORBIDDEN.filter(([name]) => isSaid(schema, name)).map(([name, why]) =>
    forbiddenField(`${path}.${name}`, why),
  );
  const additional = additionalOf(schema);
  if (additional !== undefined && additional !== false)
    errors.push(forbiddenField(`${path}.additionalProperties`, 'must be undefined to be structural'));
  if (propertyOf(schema, 'metadata') !== undefined)
    errors.push(forbiddenField(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  return errors;
}

/**
 * What is said under a junctor must be said of something that the schema has. `structural` is where the schema describes what
 * `values` restricts, undefined when it does not.
 */
export function validateCompleteness(
  values: Schema,
  structural: Schema,
  structuralPath: string,
  valuesPath: string,
): FieldError[] {
  return clausesOf(values, valuesPath).flatMap((clause) =>
    validateClause(clause.schema, structural, structuralPath, clause.path),
  );
}

function validateClause(
  clause: Schema,
  structural: Schema | undefined,
  structuralPath: string,
  clausePath: string,
): FieldError[] {
  if (structural === undefined) return [required(structuralPath, `because it is defined in ${clausePath}`)];
  const items = itemsOf(clause);
  return [
    ...validateCompleteness(clause, structural, structuralPath, clausePath),
    ...(items === undefined
      ? []
      : validateClause(items, itemsOf(structural), `${structuralPath}.items`, `${clausePath}.items`)),
    ...propertiesOf(clause, clausePath).flatMap(({ name, schema, path }) =>
      validateClause(schema, propertyOf(structural, name), `${structuralPath}.properties[${name}]`, path),
    ),
  ];
}

const UNSUPPORTED = [
  'id',
  '$schema',
  '$ref',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
];

/** Why a schema cannot be looked at as a structural one at all; undefined when it can. */
export function whyNotReadable(schema: Schema): string | undefined {
  const name = UNSUPPORTED.find((unsupported) => isUsed(schema, unsupported));
  if (name !== undefined) return `OpenAPIV3Schema '${name === '$schema' ? 'schema' : name}' is not supported`;
  if (Array.isArray(schema.items) && schema.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (
    has(schema, 'x-kubernetes-preserve-unknown-fields') &&
    !isOn(schema, 'x-kubernetes-preserve-unknown-fields')
  )
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  const additional = additionalOf(schema);
  const below = [
    ...propertiesOf(schema).map((property) => property.schema),
    ...clausesOf(schema, '').map((clause) => clause.schema),
    ...[itemsOf(schema), typeof additional === 'object' ? additional : undefined].filter(
      (one) => one !== undefined,
    ),
  ];
  return below.map(whyNotReadable).find((why) => why !== undefined);
}

function isUsed(schema: Schema, name: string): boolean {
  const value = schema[name];
  if (!has(schema, name) || value === '') return false;
  return name === 'additionalItems' || typeof value !== 'object' || Object.keys(value ?? {}).length > 0;
}
