import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import {
  type FieldSchema,
  isSchemaUnionKind,
  type MessageSchema,
  type ScalarKind,
  type SchemaUnionKind,
} from '../api/schema.ts';
import { MAX_PROBLEMS } from '../object/document-limits.ts';
import { copyJson } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import { zeroScalar } from '../object/zero-value.ts';
import {
  cannotUnmarshal,
  cannotUnmarshalField,
  DecodeError,
  DecodePath,
  goName,
  goScalar,
  goType,
  numberText,
  shortName,
} from './decode-error.ts';
import { type DecodePlan, isTypeField, type PlannedField, type PlannedValue, planOf } from './decode-plan.ts';
import { decodeScalar } from './decode-scalar.ts';

/**
 * From any JSON value to an object of a type: field types are checked, unknown fields dropped and reported, constant
 * defaults filled in, zero values kept or dropped as Go would write them, fields brought into the order of the type. The
 * result is what kube-apiserver would have encoded, so equal objects have equal bytes.
 */
export interface Decoded {
  readonly object: JsonObject;
  /** Paths such as `spec.containers[0].imagee`; {@link MAX_PROBLEMS} at most. */
  readonly unknown: readonly string[];
}

export interface DecodeOptions {
  /**
   * A decoded object of the same type. Parts that the value shares with it (the same objects, not equal ones) are not decoded
   * again: a patch of one annotation costs a tenth of decoding the whole pod.
   */
  readonly known?: JsonObject;
  /**
   * Nothing else uses the value, so its canonical parts become part of the result instead of being copied. Programs in Go send
   * little else: a pod of theirs takes 11 µs instead of 27.
   */
  readonly fresh?: boolean;
}

/** @throws DecodeError when a field has a value of the wrong type */
export function decodeObject(value: JsonValue, schema: MessageSchema, options: DecodeOptions = {}): Decoded {
  const decoder = new Decoder(options.fresh === true);
  const object = decoder.message(value, planOf(schema), options.known);
  if (object === undefined) throw new DecodeError(cannotUnmarshal(value, goName(schema)));
  return { object, unknown: decoder.unknown };
}

/** The fields of a value: in canonical form; known, but out of order or incomplete; some unknown. */
type Fit = 'exact' | 'rearranged' | 'foreign';

class Decoder {
  readonly unknown: string[] = [];
  /** Whether canonical parts of the value may become part of the result. */
  readonly #keeps: boolean;
  /** The current path as steps: errors are rare, and formatting paths would be a third of the work. */
  readonly #path = new DecodePath();
  /**
   * A stack of the fields of all messages that are being decoded, the innermost message last, each in the order of its type: the
   * places of the fields in the type, and their values, first as given and then decoded.
   */
  readonly #places: number[] = [];
  readonly #values: (JsonValue | undefined)[] = [];
  #top = 0;

  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** Undefined when the value is no object. */
  message(value: JsonValue, plan: DecodePlan, known?: JsonObject): JsonObject | undefined {
    if (!isObject(value)) return undefined;
    const start = this.#top;
    const fit = this.#collect(value, plan);
    const unchanged = this.#decodeFrom(start, plan, known);
    const stays = unchanged && fit === 'exact' && this.#keeps;
    const object = stays ? value : this.#build(start, plan);
    this.#top = start;
    if (fit === 'foreign') this.#collectUnknown(value, plan.schema, object);
    return object;
  }

  /** Pushes the fields of `value` onto the stack. */
  #collect(value: JsonObject, plan: DecodePlan): Fit {
    const start = this.#top;
    let fit: Fit = 'exact';
    let next = 0;
    for (const key in value) {
      const given = value[key];
      const field = plan.find(key, next);
      if (field === undefined || given === undefined) {
        fit = 'foreign';
        continue;
      }
      const { place } = field;
      if (place < next) {
        if (fit === 'exact') fit = 'rearranged';
        this.#insert(place, given, start);
        continue;
      }
      if (fit === 'exact' && plan.fillsBetween(next, place)) fit = 'rearranged';
      this.#places[this.#top] = place;
      this.#values[this.#top] = given;
      this.#top += 1;
      next = place + 1;
    }
    return fit === 'exact' && plan.fillsBetween(next, plan.fields.length) ? 'rearranged' : fit;
  }

  /** Inserts a field at its place among those from `start` on. */
  #insert(place: number, value: JsonValue | undefined, start: number): void {
    let at = this.#top;
    for (; at > start && (this.#places[at - 1] ?? 0) > place; at -= 1) {
      this.#places[at] = this.#places[at - 1] ?? 0;
      this.#values[at] = this.#values[at - 1];
    }
    this.#places[at] = place;
    this.#values[at] = value;
    this.#top += 1;
  }

  /** True when decoding changed no value. */
  #decodeFrom(start: number, { fields, schema }: DecodePlan, known: JsonObject | undefined): boolean {
    const end = this.#top;
    let unchanged = true;
    for (let at = start; at < end; at += 1) {
      const field = fields[this.#places[at] ?? 0];
      const given = this.#values[at];
      if (field === undefined || given === undefined) continue;
      if (known !== undefined && given === known[field.name]) continue;
      const decoded = this.#field(given, field, schema);
      if (decoded === given) continue;
      unchanged = false;
      this.#values[at] = decoded;
    }
    return unchanged;
  }

  /** Builds the object from the fields from `start` on and those that are written even when they are absent. */
  #build(start: number, plan: DecodePlan): JsonObject {
    this.#fillIn(start, plan);
    const out: JsonObject = {};
    for (let at = start; at < this.#top; at += 1) {
      const decoded = this.#values[at];
      const field = plan.fields[this.#places[at] ?? 0];
      if (field !== undefined && decoded !== undefined) out[field.name] = decoded;
    }
    return out;
  }

  #fillIn(start: number, { filled }: DecodePlan): void {
    let at = start;
    for (const field of filled) {
      const { place } = field;
      while (at < this.#top && (this.#places[at] ?? 0) < place) at += 1;
      if (at === this.#top || this.#places[at] !== place) this.#insert(place, this.#absent(field), start);
    }
  }

  #collectUnknown(value: JsonObject, schema: MessageSchema, out: JsonObject): void {
    for (const key of Object.keys(value)) {
      if (schema.fields.has(key) || value[key] === undefined) continue;
      if (schema.typed && (key === 'kind' || key === 'apiVersion')) continue;
      if (schema.preserveUnknownFields) setOwn(out, key, value[key]);
      else if (this.unknown.length < MAX_PROBLEMS) this.unknown.push(this.#path.textOf(key));
    }
  }

  #field(given: JsonValue, field: PlannedField, owner: MessageSchema): JsonValue | undefined {
    if (given === null) return this.#absent(field);
    const decoded = this.#present(given, field, owner);
    if (!field.replacesZero || !isZero(decoded)) return decoded;
    const { schema } = field;
    return schema.default === undefined || field.value.kind === 'message' ? undefined : copyDefault(schema);
  }

  #present(given: JsonValue, { name, schema, value }: PlannedField, owner: MessageSchema): JsonValue {
    const { kind } = value;
    if (kind !== 'message' && kind !== 'list' && kind !== 'map' && !isSchemaUnionKind(kind)) {
      const scalar = decodeScalar(given, kind);
      if (scalar !== undefined) return scalar;
      if (isTypeField(schema)) throw wrongType(given, `TypeMeta.${name}`, 'string');
    }
    this.#path.enterField(name);
    const decoded = this.#value(given, value, owner);
    this.#path.leave();
    return decoded;
  }

  #absent({ schema, value }: PlannedField): JsonValue | undefined {
    if (schema.default !== undefined) {
      const preset = copyDefault(schema);
      // The rest of a struct comes from its own type.
      return value.kind === 'message' ? this.message(preset, value.plan) : preset;
    }
    return schema.zero === 'always' ? this.#zeroValue(value) : undefined;
  }

  #zeroValue(value: PlannedValue): JsonValue {
    return value.kind === 'message' ? (this.message({}, value.plan) ?? {}) : zeroScalar(value.kind);
  }

  /** Of a list or a map. Protobuf writes bytes that are null like those that are empty. */
  #zeroItem(items: PlannedValue): JsonValue {
    return items.kind === 'bytes' ? '' : this.#zeroValue(items);
  }

  /** `owner` is the innermost message around the value. */
  #value(value: JsonValue, planned: PlannedValue, owner: MessageSchema): JsonValue {
    const { kind, items } = planned;
    if (kind === 'message')
      return this.message(value, planned.plan) ?? this.#fail(value, goType(planned.schema), owner);
    if (isSchemaUnionKind(kind)) return this.#union(value, kind, planned);
    if (kind !== 'list' && kind !== 'map') return this.#scalar(value, kind, owner);
    if (items !== undefined && kind === 'list' && Array.isArray(value))
      return this.#list(value, items, owner);
    if (items !== undefined && kind === 'map' && isObject(value)) return this.#map(value, items, owner);
    return this.#fail(value, goType(planned.schema), owner);
  }

  #union(value: JsonValue, kind: SchemaUnionKind, { schema }: PlannedValue): JsonValue {
    if (schema.kind !== kind) throw new Error(`a ${schema.kind} is no ${kind}`);
    const { message } = schema;
    const options = { fresh: this.#keeps };
    return decodeSchemaUnion(value, kind, (item) => decodeObject(item, message, options).object);
  }

  #list(list: JsonValue[], items: PlannedValue, owner: MessageSchema): JsonValue[] {
    if (items.kind === 'string' && list.every((item) => typeof item === 'string')) return list;
    const out: JsonValue[] = [];
    let unchanged = this.#keeps;
    let index = 0;
    for (const item of list) {
      this.#path.enterItem(index);
      const decoded = item === null ? this.#zeroItem(items) : this.#value(item, items, owner);
      this.#path.leave();
      if (decoded !== item) unchanged = false;
      out.push(decoded);
      index += 1;
    }
    return unchanged ? list : out;
  }

  #map(map: JsonObject, items: PlannedValue, owner: MessageSchema): JsonObject {
    if (items.kind === 'string' && allStrings(map)) return map;
    const out: JsonObject = {};
    let unchanged = this.#keeps;
    for (const key in map) {
      const item = map[key];
      if (item === undefined) continue;
      this.#path.enterItem(key);
      const decoded = item === null ? this.#zeroItem(items) : this.#value(item, items, owner);
      this.#path.leave();
      if (decoded !== item) unchanged = false;
      setOwn(out, key, decoded);
    }
    return unchanged ? map : out;
  }

  #scalar(value: JsonValue, kind: ScalarKind, owner: MessageSchema): JsonValue {
    const decoded = decodeScalar(value, kind);
    if (decoded !== undefined) return decoded;
    const type = TYPE_IN_MESSAGES[kind] ?? goScalar(kind);
    const number = isNumeric(type) ? numberText(value) : undefined;
    if (number === undefined) return this.#fail(value, type, owner);
    throw new DecodeError(
      `json: cannot unmarshal number ${number} into Go struct field ${this.#fieldOf(owner)} of type ${type}`,
    );
  }

  #fail(value: JsonValue, type: string, owner: MessageSchema): never {
    throw wrongType(value, this.#fieldOf(owner), type);
  }

  #fieldOf(owner: MessageSchema): string {
    return `${shortName(owner)}.${this.#path.fields()}`;
  }
}

/** For a number out of range, Go shows the text. */
const isNumeric = (type: string): boolean => type.startsWith('int') || type.startsWith('float');

const wrongType = (value: JsonValue, field: string, type: string): DecodeError =>
  new DecodeError(cannotUnmarshalField(value, field, type));

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

const copyDefault = (field: FieldSchema): JsonValue => copyJson(field.default as JsonValue);

/** The type that a message names for a value that may have two. */
const TYPE_IN_MESSAGES: Partial<Record<ScalarKind, string>> = { IntOrString: 'int32', Duration: 'string' };

/**
 * Decodes a schema, or the list or boolean that may replace it. Kubernetes' decoders for these do not report unknown fields
 * below them, and read any other value as empty (apiextensions/v1, marshal.go).
 * @throws DecodeError
 */
function decodeSchemaUnion(
  value: JsonValue,
  kind: SchemaUnionKind,
  decodeSchema: (value: JsonValue) => JsonObject,
): JsonValue {
  if (Array.isArray(value)) {
    if (kind === 'SchemaOrBool') throw new DecodeError('boolean or JSON schema expected');
    if (value.length === 0) return null;
    const items = value.map((item) =>
      kind === 'SchemaOrArray' ? decodeSchema(item ?? {}) : decodeName(item),
    );
    // Values that need no change stay the same objects, as everywhere in decoding.
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (typeof value === 'object' && value !== null) return decodeSchema(value);
  if (kind !== 'SchemaOrBool') return null;
  if (typeof value !== 'boolean') throw new DecodeError('boolean or JSON schema expected');
  return value;
}

function decodeName(value: JsonValue): string {
  if (typeof value === 'string' || value === null) return value ?? '';
  throw new DecodeError(cannotUnmarshal(value, 'string'));
}
