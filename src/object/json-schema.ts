import { isIPv4, isIPv6 } from 'node:net';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { table } from '../util/table.ts';
import { equal } from './equality.ts';
import { counted, invalidValue, notSupported, required, tooMany } from './field-errors.ts';
import { checkCidr } from './formats.ts';
import { goAny } from './go-value.ts';

/** Any value against the OpenAPI v3 schema of a custom resource (kube-openapi, pkg/validation). */
export function validateValue(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  if (value === null && schema.nullable === true) return [];
  const wrongType = validateType(value, schema, where);
  if (wrongType.length > 0) return wrongType;
  return [
    ...validateEnum(value, schema, where),
    ...validateLimits(value, schema, where),
    ...validateParts(value, schema, where),
    ...validateClauses(value, schema, where),
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

/** allOf, anyOf, oneOf and not. */
function validateClauses(value: JsonValue, schema: JsonObject, where: Where): FieldError[] {
  const results = (name: string): FieldError[][] =>
    listOf(schema, name).map((clause) => validateValue(value, clause, where));
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
  if (isSchema(not) && validateValue(value, not, where).length === 0)
    errors.push(refuse('must not validate the schema (not)'));
  return errors;
}

/** The alternative with the fewest errors is most likely the intended one. */
const best = (results: readonly FieldError[][]): FieldError[] =>
  results.reduce((least, result) => (result.length < least.length ? result : least), results[0] ?? []);

const isSchema = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listOf(schema: JsonObject, name: string): JsonObject[] {
  const clauses = schema[name];
  return Array.isArray(clauses) ? clauses.filter(isSchema) : [];
}

/** Lengths, ranges and patterns. `name` stands for the value in messages. */
interface Place {
  readonly field: string;
  readonly name: string;
}

const limit = (schema: JsonObject, name: string): number | undefined => {
  const value = schema[name];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
};

function validateString(value: string, schema: JsonObject, { field, name }: Place): FieldError[] {
  const most = limit(schema, 'maxLength');
  const least = limit(schema, 'minLength');
  const { pattern, format } = schema;
  const chars = most === undefined && least === undefined ? 0 : [...value].length;
  const errors: FieldError[] = [];
  if (most !== undefined && chars > most)
    errors.push(
      counted({ type: 'FieldValueTooLong', field, message: `Too long: may not be longer than ${most}` }),
    );
  if (least !== undefined && chars < least)
    errors.push(invalidValue(field, value, `${name} should be at least ${least} chars long`));
  if (typeof pattern === 'string' && pattern !== '' && !matchesPattern(pattern, value))
    errors.push(invalidValue(field, value, `${name} should match '${pattern}'`));
  if (typeof format === 'string' && !isOfFormat(value, format)) {
    const why = `${name} must be of type ${format}: ${JSON.stringify(value)}`;
    errors.push(invalidValue(field, value, why));
  }
  return errors;
}

function validateNumber(value: number, schema: JsonObject, { field, name }: Place): FieldError[] {
  const most = limit(schema, 'maximum');
  const least = limit(schema, 'minimum');
  const step = limit(schema, 'multipleOf');
  const errors: FieldError[] = [];
  if (most !== undefined) {
    const exclusive = schema.exclusiveMaximum === true;
    if (value > most || (exclusive && value === most))
      errors.push(
        invalidValue(field, value, `${name} should be less than ${exclusive ? '' : 'or equal to '}${most}`),
      );
  }
  if (least !== undefined) {
    const exclusive = schema.exclusiveMinimum === true;
    if (value < least || (exclusive && value === least))
      errors.push(
        invalidValue(
          field,
          value,
          `${name} should be greater than ${exclusive ? '' : 'or equal to '}${least}`,
        ),
      );
  }
  if (step !== undefined && !Number.isInteger(value / step))
    errors.push(invalidValue(field, value, `${name} should be a multiple of ${step}`));
  return errors;
}

function validateArray(
  value: readonly JsonValue[],
  schema: JsonObject,
  { field, name }: Place,
): FieldError[] {
  const most = limit(schema, 'maxItems');
  const least = limit(schema, 'minItems');
  const errors: FieldError[] = [];
  if (most !== undefined && value.length > most) errors.push(tooMany(field, value.length, most));
  if (least !== undefined && value.length < least)
    errors.push(invalidValue(field, value.length, `${name} should have at least ${least} items`));
  if (
    schema.uniqueItems === true &&
    value.some((one, at) => value.findIndex((other) => equal(one, other)) < at)
  )
    errors.push(invalidValue(field, goAny(value), `${name} shouldn't contain duplicates`));
  return errors;
}

function validateObject(value: JsonObject, schema: JsonObject, { field, name }: Place): FieldError[] {
  const most = limit(schema, 'maxProperties');
  const least = limit(schema, 'minProperties');
  const amount = Object.keys(value).length;
  const errors: FieldError[] = [];
  if (most !== undefined && amount > most) errors.push(tooMany(field, amount, most));
  if (least !== undefined && amount < least)
    errors.push(invalidValue(field, amount, `${name} should have at least ${least} properties`));
  return errors;
}

/** Formats that schemas of custom resources may name. An unknown format accepts every text. */

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const HOSTNAME =
  /^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*\.?$/;
const DURATION =
  /^([+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$|^[+-]?0$|^\d+\s*(ns|nano|us|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)s?$/;

const isDate = (text: string): boolean => !Number.isNaN(Date.parse(text));
const uuidOf = (version: string) => (text: string) => UUID.exec(text)?.[1] === version;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = table({
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  cidr: (text) => checkCidr(text).length === 0,
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDate(text),
  'date-time': (text) => DATE_TIME.test(text) && isDate(text.replace(' ', 'T')),
  datetime: (text) => DATE_TIME.test(text) && isDate(text.replace(' ', 'T')),
  duration: (text) => DURATION.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  mac: (text) =>
    /^([0-9a-f]{2}([:-])([0-9a-f]{2}\2){4}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4})$/i.test(text),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  uuid: (text) => UUID.test(text),
  uuid3: uuidOf('3'),
  uuid4: uuidOf('4'),
  uuid5: uuidOf('5'),
});

const isOfFormat = (text: string, format: string): boolean => FORMATS[format]?.(text) ?? true;

/**
 * Where a value stands, as two paths: `root` leads from the caller's object to the validated value, `path` from there on.
 * Messages name a value by `path` alone.
 */
interface Where {
  /** For example `spec.versions[0].schema.openAPIV3Schema.properties[spec].default`; empty for a whole object. */
  readonly root: string;
  /** For example `spec.replicas`; empty at the value itself. */
  readonly path: string;
}

const fieldOf = ({ root, path }: Where): string =>
  root === '' || path === '' ? root + path : `${root}${path.startsWith('[') ? '' : '.'}${path}`;

const below = ({ root, path }: Where, name: string): Where => ({
  root,
  path: path === '' ? name : `${path}.${name}`,
});

const itemOf = ({ root, path }: Where, at: number): Where => ({ root, path: `${path}[${at}]` });

/**
 * Regular expressions as Go's regexp package takes them: the same syntax, and time that is linear in the text, so that
 * neither a schema nor a value can keep the server busy. Compiled once; definitions are few and values many.
 */
const compiled = new Map<string, RE2JS>();
const MAX_COMPILED = 10_000;

/** The message is Go's. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}

/** Whether the pattern matches anywhere in the text. @throws PatternError */
export const matchesPattern = (pattern: string, text: string): boolean =>
  compilePattern(pattern).matcher(text).find();

/** @throws PatternError */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const fresh = compile(pattern);
  compiled.set(pattern, fresh);
  return fresh;
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new PatternError(error.message);
  }
}
