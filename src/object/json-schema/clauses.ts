import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue } from '../field-errors.ts';
import { fieldOf, type Where } from './where.ts';

/** How a value is held against a schema; given by the caller, because clauses hold schemas of the same kind. */
export type Validate = (value: JsonValue, schema: JsonObject, where: Where) => FieldError[];

/** allOf, anyOf, oneOf and not. */
export function validateClauses(
  value: JsonValue,
  schema: JsonObject,
  where: Where,
  validate: Validate,
): FieldError[] {
  const results = (name: string): FieldError[][] =>
    listOf(schema, name).map((clause) => validate(value, clause, where));
  const refuse = (why: string): FieldError =>
    invalidValue(fieldOf(where), '', `${JSON.stringify(where.path)} ${why}`);
  const errors: FieldError[] = [];
  const all = results('allOf').filter((one) => one.length > 0);
  if (all.length > 0) errors.push(refuse('must validate all the schemas (allOf)'), ...all.flat());
  const any = results('anyOf');
  if (any.length > 0 && any.every((one) => one.length > 0))
    errors.push(refuse('must validate at least one schema (anyOf)'), ...best(any));
  const one = results('oneOf');
  const fitting = one.filter((result) => result.length === 0).length;
  if (one.length > 0 && fitting !== 1) {
    const found = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
    const why = `must validate one and only one schema (oneOf). ${found}`;
    errors.push(refuse(why), ...(fitting === 0 ? best(one) : []));
  }
  const { not } = schema;
  if (isSchema(not) && validate(value, not, where).length === 0)
    errors.push(refuse('must not validate the schema (not)'));
  return errors;
}

/** Of several failures the one with the fewest mistakes is likely what was meant. */
const best = (results: readonly FieldError[][]): FieldError[] =>
  results.reduce((least, result) => (result.length < least.length ? result : least), results[0] ?? []);

const isSchema = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listOf(schema: JsonObject, name: string): JsonObject[] {
  const clauses = schema[name];
  return Array.isArray(clauses) ? clauses.filter(isSchema) : [];
}
