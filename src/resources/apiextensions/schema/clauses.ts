import type { FieldPath } from '../../../object/field-path.ts';
import { compilePattern, PatternError } from '../../../structural/patterns.ts';
import {
  clausesOf,
  hasAdditional,
  hasDefault,
  itemsOf,
  type Keyword,
  propertiesOf,
  propertyOf,
  type Schema,
} from '../../../structural/schema-node.ts';

/** Validates value rules of a structural schema, and those under allOf, anyOf, oneOf and not. */

/** `pattern`: where types are permitted, because together they mean a number or a text. */
export function validateValues(at: FieldPath, schema: Schema, pattern?: 'anyOf' | 'allOf'): void {
  for (const [path, clause, junctor, index] of clausesOf(at, schema)) {
    if (pattern === 'anyOf' && junctor === 'anyOf') continue;
    const hasPattern = pattern === 'allOf' && junctor === 'allOf' && index === 0;
    validateNested(path, clause, hasPattern ? 'anyOf' : undefined);
  }
  if (schema.pattern !== undefined && schema.pattern !== '')
    mustBePattern(at.field('pattern'), schema.pattern);
}

function mustBePattern(at: FieldPath, pattern: string): void {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    at.invalid(pattern, `must be a valid regular expression, but isn't: ${error.message}`);
  }
}

function validateNested(at: FieldPath, schema: Schema, pattern?: 'anyOf'): void {
  validateValues(at, schema, pattern);
  const items = itemsOf(schema);
  if (items !== undefined) validateNested(at.field('items'), items);
  for (const [path, , property] of propertiesOf(at, schema)) validateNested(path, property);
  mustNotDescribe(at, schema);
}

/** Messages for keywords that would describe the value anew rather than restrict it. */
const FORBIDDEN: readonly (readonly [Keyword, string])[] = [
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

function isPresent(schema: Schema, name: Keyword): boolean {
  const value = schema[name] ?? '';
  if (value === '' || value === false) return name === 'default' && hasDefault(schema);
  return !Array.isArray(value) || value.length > 0;
}

function mustNotDescribe(at: FieldPath, schema: Schema): void {
  for (const [name, why] of FORBIDDEN) if (isPresent(schema, name)) at.field(name).forbidden(why);
  if (hasAdditional(schema) && schema.additionalProperties !== false)
    at.field('additionalProperties').forbidden('must be undefined to be structural');
  if (propertyOf(schema, 'metadata') !== undefined)
    at.field('properties').item('metadata').forbidden('must not be specified in a nested context');
}

/** A rule under a junctor must be about a field that the schema has. */
export function validateCompleteness(at: FieldPath, schema: Schema): void {
  validateClauses(at, schema, { at, schema });
}

/** A clause with the schema that describes its value; undefined without one. */
interface Described {
  readonly at: FieldPath;
  readonly schema: Schema | undefined;
}

function validateClauses(at: FieldPath, schema: Schema, described: Described): void {
  for (const [path, clause] of clausesOf(at, schema)) validateClause(path, clause, described);
}

function validateClause(at: FieldPath, clause: Schema, described: Described): void {
  const { schema } = described;
  if (schema === undefined) {
    described.at.required(`because it is defined in ${at}`);
    return;
  }
  validateClauses(at, clause, described);
  const items = itemsOf(clause);
  if (items !== undefined) {
    const inner = { at: described.at.field('items'), schema: itemsOf(schema) };
    validateClause(at.field('items'), items, inner);
  }
  for (const [path, name, property] of propertiesOf(at, clause)) {
    const inner = { at: described.at.field('properties').item(name), schema: propertyOf(schema, name) };
    validateClause(path, property, inner);
  }
}
