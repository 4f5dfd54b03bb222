import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ScalarKind, ValueSchema } from '../api/schema.ts';
import { canonicalQuantity } from '../object/quantity.ts';
import { zeroScalar } from '../object/zero-value.ts';

/**
 * From any JSON value to an object of a type: field types are checked, unknown fields dropped and reported, constant
 * defaults filled in, zero values kept or dropped as Go would write them, fields brought into the order of the type. The
 * result is what kube-apiserver would have encoded, so equal objects have equal bytes.
 */
export interface Decoded {
  readonly object: JsonObject;
  /** Paths such as `spec.containers[0].imagee`. */
  readonly unknown: readonly string[];
}

/** The text is Kubernetes': clients and their tests search for it. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** @throws DecodeError when a field has a value of the wrong type */
export function decodeObject(value: JsonValue, schema: MessageSchema): Decoded {
  const decoder = new Decoder();
  const object = decoder.message(value, schema, NO_PLACE, '');
  if (object === undefined)
    throw new DecodeError(`json: cannot unmarshal ${nameOf(value)} into Go value of type ${goName(schema)}`);
  return { object, unknown: decoder.unknown };
}

/** Where a value stands, for messages: the struct and dotted path without indexes, as Go's decoder names them. */
interface Place {
  readonly struct: string;
  readonly path: string;
}
const NO_PLACE: Place = { struct: '', path: '' };

class Decoder {
  readonly unknown: string[] = [];

  /** Undefined when the value is no object. `at` is the path with indexes, for unknown fields. */
  message(value: JsonValue, schema: MessageSchema, place: Place, at: string): JsonObject | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const out: JsonObject = {};
    let known = 0;
    if (schema.typed) {
      known += copyType(value, out);
    }
    for (const field of schema.fields.values()) {
      const given = value[field.name];
      if (given !== undefined) known += 1;
      const decoded = this.#field(given, field, schema, place, at);
      if (decoded !== undefined) out[field.name] = decoded;
    }
    const keys = Object.keys(value);
    if (keys.length !== known) this.#collectUnknown(keys, value, schema, out, at);
    return out;
  }

  #collectUnknown(
    keys: string[],
    value: JsonObject,
    schema: MessageSchema,
    out: JsonObject,
    at: string,
  ): void {
    for (const key of keys) {
      if (schema.fields.has(key) || value[key] === undefined) continue;
      if (schema.typed && (key === 'kind' || key === 'apiVersion')) continue;
      if (schema.preserveUnknownFields) setOwn(out, key, value[key]);
      else this.unknown.push(at === '' ? key : `${at}.${key}`);
    }
  }

  #field(
    given: JsonValue | undefined,
    field: FieldSchema,
    schema: MessageSchema,
    place: Place,
    at: string,
  ): JsonValue | undefined {
    if (given === undefined || given === null) return this.#absent(field);
    const path = place.path === '' ? field.name : `${place.path}.${field.name}`;
    const inner = { struct: shortName(schema), path };
    const decoded = this.#value(given, field.value, inner, at === '' ? field.name : `${at}.${field.name}`);
    if (field.zero === 'keep' || !isZero(decoded)) return decoded;
    if (field.default !== undefined && field.value.kind !== 'message') return copyDefault(field);
    return field.zero === 'omit' ? undefined : decoded;
  }

  #absent(field: FieldSchema): JsonValue | undefined {
    if (field.default !== undefined) return this.#default(field);
    return field.zero === 'always' ? this.#zeroValue(field.value) : undefined;
  }

  /** A struct default is filled in from its own type. */
  #default(field: FieldSchema): JsonValue | undefined {
    if (field.value.kind === 'message') return this.message({}, field.value.message, NO_PLACE, '');
    return copyDefault(field);
  }

  #zeroValue(value: ValueSchema): JsonValue {
    return value.kind === 'message'
      ? (this.message({}, value.message, NO_PLACE, '') ?? {})
      : zeroScalar(value.kind);
  }

  #value(value: JsonValue, schema: ValueSchema, place: Place, at: string): JsonValue {
    switch (schema.kind) {
      case 'message':
        return this.message(value, schema.message, place, at) ?? fail(value, place, goName(schema.message));
      case 'list':
        return this.#list(value, schema.items, place, at);
      case 'map':
        return this.#map(value, schema.values, place, at);
      default:
        return decodeScalar(value, schema.kind, place);
    }
  }

  #list(value: JsonValue, items: ValueSchema, place: Place, at: string): JsonValue {
    if (!Array.isArray(value)) return fail(value, place, `[]${goType(items)}`);
    if (items.kind === 'string' && value.every((item) => typeof item === 'string')) return value;
    return value.map((item, index) =>
      item === null ? this.#zeroValue(items) : this.#value(item, items, place, `${at}[${index}]`),
    );
  }

  #map(value: JsonValue, values: ValueSchema, place: Place, at: string): JsonValue {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return fail(value, place, `map[string]${goType(values)}`);
    }
    if (values.kind === 'string' && allStrings(value)) return value;
    const out: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const decoded =
        item === null ? this.#zeroValue(values) : this.#value(item, values, place, `${at}.${key}`);
      setOwn(out, key, decoded);
    }
    return out;
  }
}

/** kind and apiVersion come first, in every object there is. */
function copyType(value: JsonObject, out: JsonObject): number {
  let known = 0;
  for (const name of ['kind', 'apiVersion']) {
    const text = value[name];
    if (text === undefined) continue;
    known += 1;
    if (typeof text !== 'string' && text !== null) fail(text, { struct: 'TypeMeta', path: name }, 'string');
    if (typeof text === 'string') out[name] = text;
  }
  return known;
}

/** Keys come from clients: `__proto__` must become a field like any other. */
function setOwn(object: JsonObject, key: string, value: JsonValue | undefined): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

function allStrings(value: JsonObject): boolean {
  for (const key in value) if (typeof value[key] !== 'string') return false;
  return true;
}

function isZero(value: JsonValue): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

const copyDefault = (field: FieldSchema): JsonValue => structuredCloneIfObject(field.default as JsonValue);
const structuredCloneIfObject = (value: JsonValue): JsonValue =>
  typeof value === 'object' && value !== null ? structuredClone(value) : value;

function decodeScalar(value: JsonValue, kind: ScalarKind, place: Place): JsonValue {
  switch (kind) {
    case 'string':
      return typeof value === 'string' ? value : fail(value, place, 'string');
    case 'bool':
      return typeof value === 'boolean' ? value : fail(value, place, 'bool');
    case 'int32':
      return decodeInteger(value, place, 'int32', 2 ** 31);
    case 'int64':
      return decodeInteger(value, place, 'int64', 2 ** 63);
    case 'double':
      return typeof value === 'number' ? value : fail(value, place, 'float64');
    case 'bytes':
      return decodeBase64(value, place);
    case 'Time':
      return decodeTime(value, 0);
    case 'MicroTime':
      return decodeTime(value, 6);
    case 'Duration':
      return typeof value === 'string' ? value : fail(value, place, 'string');
    case 'Quantity':
      return decodeQuantity(value);
    case 'IntOrString':
      return typeof value === 'string' ? value : decodeInteger(value, place, 'int32', 2 ** 31);
    case 'FieldsV1':
    case 'RawExtension':
    case 'JSON':
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return value;
    default:
      return kind satisfies never;
  }
}

function decodeInteger(value: JsonValue, place: Place, type: string, limit: number): number {
  if (typeof value !== 'number') return fail(value, place, type);
  if (!Number.isInteger(value) || value >= limit || value < -limit) {
    throw new DecodeError(
      `json: cannot unmarshal number ${value} into Go struct field ${place.struct}.${place.path} of type ${type}`,
    );
  }
  return value;
}

function decodeBase64(value: JsonValue, place: Place): string {
  if (typeof value !== 'string') return fail(value, place, '[]uint8');
  const compact = value.replace(/[\r\n]/g, '');
  const wrong =
    compact.length % 4 === 0 ? compact.search(/[^A-Za-z0-9+/](?!=?$)|[^A-Za-z0-9+/=]/) : compact.length;
  if (wrong >= 0 && compact !== '') throw new DecodeError(`illegal base64 data at input byte ${wrong}`);
  return compact;
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Normalized to UTC; whole seconds, or microseconds for MicroTime. */
function decodeTime(value: JsonValue, digits: 0 | 6): string | null {
  if (value === '') return null;
  const quoted = JSON.stringify(JSON.stringify(value));
  const layout = digits === 0 ? '2006-01-02T15:04:05Z07:00' : '2006-01-02T15:04:05.000000Z07:00';
  if (typeof value !== 'string') {
    throw new DecodeError(`json: cannot unmarshal ${nameOf(value)} into Go value of type string`);
  }
  const match = RFC3339.exec(value);
  const time = match === null ? Number.NaN : Date.parse(value);
  if (Number.isNaN(time))
    throw new DecodeError(`parsing time ${quoted} as "${layout}": cannot parse ${quoted} as "2006"`);
  const seconds = new Date(time).toISOString().slice(0, 19);
  if (digits === 0) return `${seconds}Z`;
  return `${seconds}.${(match?.[1] ?? '').slice(1, 7).padEnd(6, '0')}Z`;
}

function decodeQuantity(value: JsonValue): string {
  const text = typeof value === 'number' ? String(value) : value;
  const canonical = typeof text === 'string' ? canonicalQuantity(text.trim()) : undefined;
  if (canonical === undefined) {
    throw new DecodeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return canonical;
}

function fail(value: JsonValue, place: Place, type: string): never {
  throw new DecodeError(
    `json: cannot unmarshal ${nameOf(value)} into Go struct field ${place.struct}.${place.path} of type ${type}`,
  );
}

function nameOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

const shortName = ({ name }: MessageSchema): string => name.slice(name.indexOf('.') + 1);

/** `core/v1.Container` → `v1.Container`. */
const goName = ({ name }: MessageSchema): string => name.slice(name.indexOf('/') + 1);

function goType(value: ValueSchema): string {
  switch (value.kind) {
    case 'message':
      return goName(value.message);
    case 'list':
      return `[]${goType(value.items)}`;
    case 'map':
      return `map[string]${goType(value.values)}`;
    case 'bytes':
      return '[]uint8';
    case 'double':
      return 'float64';
    default:
      return value.kind;
  }
}
