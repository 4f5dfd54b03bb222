import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../equality.ts';
import { notSupported, required } from '../field-errors.ts';
import { goAny } from '../go-value.ts';
import { counted } from '../problem-bounds.ts';
import { validateClauses } from './clauses.ts';
import { validateArray, validateNumber, validateObject, validateString } from './limits.ts';
import { below, fieldOf, itemOf, type Where } from './where.ts';

/** Any value against the OpenAPI v3 schema of a custom resource (kube-openapi, pkg/validation). */
export function validateValue(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  if (value === null && schema.nullable === true) return [];
  const wrongType = validateType(value, schema, where);
  if (wrongType.length > 0) return wrongType;
  return [
    ...validateEnum(value, schema, where),
    ...validateLimits(value, schema, where),
    ...validateParts(value, schema, where),
    ...validateClauses(value, schema, where, validateValue),
  ];
}

function validateType(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  const expected = typesOf(schema);
  const actual = typeOf(value);
  if (expected.length === 0 || expected.includes(actual)) return [];
  if (actual === 'integer' && expected.includes('number')) return [];
  const message = `Invalid value: ${JSON.stringify(actual)}: ${where.path} in body must be of type ${expected.join(',')}: ${JSON.stringify(actual)}`;
  return [counted({ type: 'FieldValueTypeInvalid', field: fieldOf(where), message })];
}

function typesOf(schema: JsonObject): string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return typeof schema.type === 'string' && schema.type !== '' ? [schema.type] : [];
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function validateEnum(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  if (!Array.isArray(schema.enum) || schema.enum.some((known) => equal(known, value))) return [];
  const known = schema.enum.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  return [notSupported(fieldOf(where), goAny(value), known)];
}

function validateLimits(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  const place = { field: fieldOf(where), name: `${where.path} in body` };
  if (typeof value === 'string') return validateString(value, schema, place);
  if (typeof value === 'number' || typeof value === 'bigint')
    return validateNumber(Number(value), schema, place);
  if (Array.isArray(value)) return validateArray(value, schema, place);
  return typeof value === 'object' && value !== null ? validateObject(value, schema, place) : [];
}

/** Items, properties, and the properties that must be there. */
function validateParts(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  if (Array.isArray(value)) {
    const items = toSchema(schema.items);
    return items === undefined
      ? []
      : value.flatMap((item, at) => validateValue(item, items, itemOf(where, at)));
  }
  if (typeof value !== 'object' || value === null) return [];
  const missing = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === 'string' && value[name] === undefined)
    : [];
  const properties = toSchema(schema.properties) ?? {};
  return [
    ...missing.map((name) => required(fieldOf(below(where, String(name))))),
    ...Object.entries(value).flatMap(([name, item]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      const inner = toSchema(own);
      return inner === undefined || item === undefined ? [] : validateValue(item, inner, below(where, name));
    }),
  ];
}

const toSchema = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
