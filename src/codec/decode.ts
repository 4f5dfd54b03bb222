import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ScalarKind, ValueSchema } from '../api/schema.ts';
import { zeroScalar } from '../object/zero-value.ts';
import { DecodeError, nameOf } from './decode-error.ts';
import { DecodePath } from './decode-path.ts';
import { decodeScalar } from './decode-scalar.ts';
import { decodeSchemaUnion } from './decode-schema-union.ts';

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

/**
 * `known` is a decoded object of the same type: parts of `value` that are parts of it, not only equal to them, are taken as
 * they are. A patch of one annotation so costs a tenth of decoding the whole pod.
 * @throws DecodeError when a field has a value of the wrong type
 */
export function decodeObject(value: JsonValue, schema: MessageSchema, known?: JsonObject): Decoded {
  const decoder = new Decoder();
  const object = decoder.message(value, schema, known);
  if (object === undefined)
    throw new DecodeError(`json: cannot unmarshal ${nameOf(value)} into Go value of type ${goName(schema)}`);
  return { object, unknown: decoder.unknown };
}

class Decoder {
  readonly unknown: string[] = [];
  /** Where the decoder is, for messages that are seldom written: texts of paths would be a third of the work. */
  readonly #path = new DecodePath();

  /** Undefined when the value is no object. */
  message(value: JsonValue, schema: MessageSchema, canonical?: JsonObject): JsonObject | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const out: JsonObject = {};
    let known = 0;
    if (schema.typed) {
      known += copyType(value, out);
    }
    for (const field of fieldsOf(schema)) {
      const { name } = field;
      const given = value[name];
      let decoded = given;
      if (given === undefined) decoded = this.#absent(field);
      else {
        known += 1;
        if (canonical === undefined || given !== canonical[name]) decoded = this.#field(given, field, schema);
      }
      if (decoded !== undefined) out[name] = decoded;
    }
    const keys = Object.keys(value);
    if (keys.length !== known) this.#collectUnknown(keys, value, schema, out);
    return out;
  }

  #collectUnknown(keys: string[], value: JsonObject, schema: MessageSchema, out: JsonObject): void {
    for (const key of keys) {
      if (schema.fields.has(key) || value[key] === undefined) continue;
      if (schema.typed && (key === 'kind' || key === 'apiVersion')) continue;
      if (schema.preserveUnknownFields) setOwn(out, key, value[key]);
      else this.unknown.push(this.#path.textOf(key));
    }
  }

  #field(given: JsonValue, field: FieldSchema, schema: MessageSchema): JsonValue | undefined {
    if (given === null) return this.#absent(field);
    this.#path.enterField(field.name);
    const decoded = this.#value(given, field.value, schema);
    this.#path.leave();
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
    if (field.value.kind === 'message') return this.message({}, field.value.message);
    return copyDefault(field);
  }

  #zeroValue(value: ValueSchema): JsonValue {
    return value.kind === 'message' ? (this.message({}, value.message) ?? {}) : zeroScalar(value.kind);
  }

  /** `owner` is the message whose field it is, or is in. */
  #value(value: JsonValue, schema: ValueSchema, owner: MessageSchema): JsonValue {
    switch (schema.kind) {
      case 'message':
        return this.message(value, schema.message) ?? this.#fail(value, goName(schema.message), owner);
      case 'list':
        return this.#list(value, schema.items, owner);
      case 'map':
        return this.#map(value, schema.values, owner);
      case 'SchemaOrArray':
      case 'SchemaOrBool':
      case 'SchemaOrStringArray':
        return decodeSchemaUnion(value, schema.kind, (item) => decodeObject(item, schema.message).object);
      default:
        return this.#scalar(value, schema.kind, owner);
    }
  }

  #list(value: JsonValue, items: ValueSchema, owner: MessageSchema): JsonValue {
    if (!Array.isArray(value)) return this.#fail(value, `[]${goType(items)}`, owner);
    if (items.kind === 'string' && value.every((item) => typeof item === 'string')) return value;
    return value.map((item, index) => {
      if (item === null) return this.#zeroValue(items);
      this.#path.enterItem(index);
      const decoded = this.#value(item, items, owner);
      this.#path.leave();
      return decoded;
    });
  }

  #map(value: JsonValue, values: ValueSchema, owner: MessageSchema): JsonValue {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.#fail(value, `map[string]${goType(values)}`, owner);
    }
    if (values.kind === 'string' && allStrings(value)) return value;
    const out: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      this.#path.enterItem(key);
      setOwn(out, key, item === null ? this.#zeroValue(values) : this.#value(item, values, owner));
      this.#path.leave();
    }
    return out;
  }

  #scalar(value: JsonValue, kind: ScalarKind, owner: MessageSchema): JsonValue {
    const decoded = decodeScalar(value, kind);
    if (decoded !== undefined) return decoded;
    const type = TOLD_AS[kind] ?? goScalar(kind);
    if ((typeof value !== 'number' && typeof value !== 'bigint') || !type.startsWith('int'))
      return this.#fail(value, type, owner);
    const field = `${shortName(owner)}.${this.#path.fields()}`;
    throw new DecodeError(
      `json: cannot unmarshal number ${value} into Go struct field ${field} of type ${type}`,
    );
  }

  #fail(value: JsonValue, type: string, owner: MessageSchema): never {
    const field = `${shortName(owner)}.${this.#path.fields()}`;
    throw new DecodeError(
      `json: cannot unmarshal ${nameOf(value)} into Go struct field ${field} of type ${type}`,
    );
  }
}

const fieldLists = new WeakMap<MessageSchema, readonly FieldSchema[]>();

/** An array is walked faster than a map, and every field of every message is. */
function fieldsOf(schema: MessageSchema): readonly FieldSchema[] {
  let list = fieldLists.get(schema);
  if (list === undefined) {
    list = [...schema.fields.values()];
    fieldLists.set(schema, list);
  }
  return list;
}

/** kind and apiVersion come first, in every object there is. */
function copyType(value: JsonObject, out: JsonObject): number {
  let known = 0;
  for (const name of ['kind', 'apiVersion']) {
    const text = value[name];
    if (text === undefined) continue;
    known += 1;
    if (typeof text !== 'string' && text !== null) {
      throw new DecodeError(
        `json: cannot unmarshal ${nameOf(text)} into Go struct field TypeMeta.${name} of type string`,
      );
    }
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

/** What is said of a value that is neither of the two things it may be. */
const TOLD_AS: Partial<Record<ScalarKind, string>> = { IntOrString: 'int32', Duration: 'string' };

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
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return `v1.JSONSchemaProps${value.kind.slice('Schema'.length)}`;
    default:
      return goScalar(value.kind);
  }
}

function goScalar(kind: ScalarKind): string {
  switch (kind) {
    case 'bytes':
      return '[]uint8';
    case 'double':
      return 'float64';
    default:
      return kind;
  }
}
