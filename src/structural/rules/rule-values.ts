import { Duration } from '@marcbachmann/cel-js/evaluator';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import { spend, spendOnSize } from '../../cel/budget.ts';
import { celEqual, setListOrder } from '../../cel/cel-equality.ts';
import { CelObject, showTypeAsConstructor } from '../../cel/objects.ts';
import { isInt64 } from '../../object/exact-json.ts';
import { isObject } from '../../object/json-values.ts';
import { KeyedOrder, SET_ORDER } from './list-order.ts';
import type { DeclaredObject, DeclaredType, ListType, MapType, SimpleType } from './rule-types.ts';

/**
 * Converts JSON to values of expressions (apiserver/pkg/cel/common/values.go). Objects convert fields on demand. Converts a
 * list or object once for all rules of a request.
 */
export class Values {
  readonly #known = new WeakMap<object, unknown>();

  /** @throws Error when the value is not of the type */
  of(json: JsonValue, type: DeclaredType): unknown {
    if (json === null) {
      if (type.schema.nullable === true) return null;
      throw new Error('invalid data, got null for schema with nullable=false');
    }
    if (type.kind === 'simple') return simpleValue(json, type);
    if (typeof json !== 'object') throw mismatch(json, type);
    const known = this.#known.get(json);
    if (known !== undefined) return known;
    const value = this.#convert(json, type);
    this.#known.set(json, value);
    return value;
  }

  #convert(json: JsonValue[] | JsonObject, type: Exclude<DeclaredType, SimpleType>): unknown {
    if (type.kind === 'list') return this.#list(json, type);
    if (Array.isArray(json)) throw mismatch(json, type);
    return type.kind === 'map' ? this.#map(json, type) : new SchemaObject(json, type, this);
  }

  #list(json: JsonValue[] | JsonObject, type: ListType): unknown[] {
    if (!Array.isArray(json)) throw mismatch(json, type);
    const list = json.map((item) => this.of(item, type.items));
    const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = type.schema;
    if (listType === 'set') setListOrder(list, SET_ORDER);
    if (listType === 'map') setListOrder(list, new KeyedOrder(keys));
    return list;
  }

  /** A Map, so that no key is special in JavaScript. */
  #map(json: JsonObject, type: MapType): Map<string, unknown> {
    const map = new Map<string, unknown>();
    for (const [key, value = null] of Object.entries(json)) map.set(key, this.of(value, type.values));
    return map;
  }
}

/** An object with declared fields. Fields without a type serve comparisons only. */
class SchemaObject extends CelObject {
  readonly type: DeclaredObject;
  readonly json: JsonObject;
  readonly #values: Values;

  constructor(json: JsonObject, type: DeclaredObject, values: Values) {
    super();
    this.json = json;
    this.type = type;
    this.#values = values;
  }

  /** A null field counts as absent. */
  override get(name: string): unknown {
    const field = this.type.field(name);
    if (field === undefined) return undefined;
    const value = ownField(this.json, field.name);
    return value === undefined ? undefined : this.#values.of(value, field.type);
  }

  override hasField(name: string): boolean {
    const field = this.type.field(name);
    return field !== undefined && ownField(this.json, field.name) !== undefined;
  }

  override equals(other: unknown): boolean {
    return other instanceof SchemaObject && this.#equals(other);
  }

  #equals(other: SchemaObject): boolean {
    const names = Object.keys(this.json);
    if (names.length !== Object.keys(other.json).length) return false;
    return names.every((name) => this.#fieldEquals(name, other));
  }

  #fieldEquals(name: string, other: SchemaObject): boolean {
    const [own, theirs] = [ownField(this.json, name), ownField(other.json, name)];
    if (own === undefined || theirs === undefined) return own === theirs && Object.hasOwn(other.json, name);
    const type = this.type.propertyType(name);
    if (type === undefined) return untypedEqual(own, theirs);
    return celEqual(this.#values.of(own, type), this.#values.of(theirs, type));
  }
}

showTypeAsConstructor(SchemaObject);

function ownField(json: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(json, name) ? (json[name] ?? undefined) : undefined;
}

/** Compares values that expressions cannot see into. */
function untypedEqual(a: unknown, b: unknown): boolean {
  spend(1);
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) spendOnSize(a.length);
    return a === b;
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, at) => untypedEqual(item, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && untypedEqual(a[name], b[name]));
}

/** @throws Error when the value has another type or format */
function simpleValue(json: JsonValue, type: SimpleType): unknown {
  switch (type.name) {
    case 'dyn':
      return intOrString(json);
    case 'bool':
      if (typeof json !== 'boolean') throw mismatch(json, type);
      return json;
    case 'int':
      if (!isInteger(json)) throw mismatch(json, type);
      return BigInt(json);
    case 'double':
      if (typeof json !== 'number' && typeof json !== 'bigint') throw mismatch(json, type);
      return Number(json);
    default:
      if (typeof json !== 'string') throw mismatch(json, type);
      return type.name === 'string' ? json : formatted(json, type.schema.format ?? '');
  }
}

/** Go reads a number beyond 64-bit integers as a float. */
function isInteger(json: JsonValue): json is number | bigint {
  if (typeof json === 'bigint') return isInt64(json);
  return Number.isInteger(json) && (Number.isSafeInteger(json) || isInt64(BigInt(Number(json))));
}

function intOrString(json: JsonValue): unknown {
  if (typeof json === 'string') return json;
  if (isInteger(json)) return BigInt(json);
  throw new Error('invalid data, expected XIntOrString value to be either a string or integer');
}

function formatted(text: string, format: string): unknown {
  switch (format) {
    case 'byte':
      return Uint8Array.from(Buffer.from(text, 'base64'));
    case 'date':
      return readDate(`${text}T00:00:00Z`, `Invalid date formatted string ${text}`);
    case 'date-time':
      return readDate(text.replace(' ', 'T'), `Invalid date-time formatted string ${text}`);
    default:
      return readDuration(text);
  }
}

function readDate(text: string, problem: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new Error(problem);
  return date;
}

const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

/** Units in nanoseconds; days and weeks are in OpenAPI's format only. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ...['ns', 'nano'].map((unit) => [unit, 1n] as const),
  ...['us', 'µs', 'μs', 'micro'].map((unit) => [unit, 1_000n] as const),
  ...['ms', 'milli'].map((unit) => [unit, 1_000_000n] as const),
  ...['s', 'sec'].map((unit) => [unit, SECOND] as const),
  ...['m', 'min'].map((unit) => [unit, MINUTE] as const),
  ...['h', 'hr', 'hour'].map((unit) => [unit, HOUR] as const),
  ...['d', 'day'].map((unit) => [unit, DAY] as const),
  ...['w', 'wk', 'week'].map((unit) => [unit, 7n * DAY] as const),
]);
const DURATION_PART = /([+-]?)(\d*)(?:\.(\d*))?\s*([a-zµμ]+)/gy;
const FRACTION_DIGITS = 18;

/** Longer texts are no durations, and take long to parse. */
const MAX_DURATION_LENGTH = 256;

function readDuration(text: string): Duration {
  if (text.length > MAX_DURATION_LENGTH) throw new Error('Invalid duration: too long');
  let nanos = text === '0' ? 0n : undefined;
  let end = 0;
  for (const [part, sign, whole = '', fraction = '', name = ''] of text.matchAll(DURATION_PART)) {
    const unit = UNITS.get(name) ?? UNITS.get(name.replace(/s$/, ''));
    if (unit === undefined) break;
    const scaled = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0').slice(0, FRACTION_DIGITS) || '0');
    const value = (scaled * unit) / 10n ** BigInt(FRACTION_DIGITS);
    nanos = (nanos ?? 0n) + (sign === '-' ? -value : value);
    end += part.length;
  }
  if (nanos === undefined || end < text.length)
    throw new Error(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new Duration(nanos / SECOND, Number(nanos % SECOND));
}

/** The name of a type in messages about other values. */
const EXPECTED: Readonly<Record<string, string>> = {
  list: 'an array for the provided schema with type=array',
  map: 'a map for the provided schema with type=object',
  object: 'a map for the provided schema with type=object',
  double: 'float',
};

function mismatch(json: JsonValue, type: DeclaredType): Error {
  if (type.kind !== 'simple') return new Error(`invalid data, expected ${EXPECTED[type.kind]}`);
  const { type: wanted = '' } = type.schema;
  const expected = EXPECTED[type.name] ?? (type.name === 'int' || type.name === 'bool' ? type.name : wanted);
  return new Error(`invalid data, expected ${expected}, got ${goTypeOf(json)}`);
}

function goTypeOf(json: JsonValue): string {
  if (Array.isArray(json)) return '[]interface {}';
  switch (typeof json) {
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return isInteger(json) ? 'int64' : 'float64';
    case 'string':
      return 'string';
    default:
      return 'map[string]interface {}';
  }
}
