import protobuf from 'protobufjs/minimal.js';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldSchema, MessageSchema, SchemaUnion, ValueSchema } from '../../api/schema.ts';
import { assertWithinLimits, MAX_DEPTH, tooDeep } from '../../object/document-limits.ts';
import { isJsonObject, readScalar, type WireReader } from './scalars.ts';

/**
 * Reads messages by their schema (encoder.ts is the other direction) into their JSON form: fields that are nested on the wire
 * and flat in JSON are flattened here. The result still has to pass codec/decode.ts, which drops zero values and orders fields.
 */

const { Reader } = protobuf;

/** @throws RangeError for truncated bytes, SyntaxError for too deep nesting, StatusError 413 for too many values */
export function decodeMessage(bytes: Uint8Array, schema: MessageSchema): JsonObject {
  const out: JsonObject = {};
  depth = 0;
  readInto(Reader.create(bytes), bytes.length, wireFields(schema), out);
  // JSON inside the message was checked by itself, but not together with the message around it.
  assertWithinLimits(out);
  return out;
}

/** Depth of the message that is being read. Reading is synchronous, and each document starts at zero. */
let depth = 0;

/** Each field number has a field, or a nested message whose fields belong to this one in JSON. */
type WireFields = ReadonlyMap<number, FieldSchema | WireFields>;

const wireCache = new WeakMap<MessageSchema, WireFields>();

function wireFields(schema: MessageSchema): WireFields {
  let fields = wireCache.get(schema);
  if (fields === undefined) {
    fields = groupByNumber([...schema.fields.values()], 0);
    wireCache.set(schema, fields);
  }
  return fields;
}

function groupByNumber(fields: readonly FieldSchema[], depth: number): WireFields {
  const direct = new Map<number, FieldSchema | WireFields>();
  const nested = new Map<number, FieldSchema[]>();
  for (const field of fields) {
    const outer = field.nesting[depth];
    if (outer !== undefined) nested.set(outer, [...(nested.get(outer) ?? []), field]);
    else if (field.number !== undefined) direct.set(field.number, field);
  }
  for (const [number, inner] of nested) direct.set(number, groupByNumber(inner, depth + 1));
  return direct;
}

function readInto(reader: WireReader, end: number, fields: WireFields, out: JsonObject): void {
  while (reader.pos < end) {
    const key = reader.uint32();
    const field = fields.get(key >>> 3);
    if (field === undefined) reader.skipType(key & 7);
    else if (isField(field)) readField(reader, field, out);
    else readInto(reader, reader.uint32() + reader.pos, field, out);
  }
}

const isField = (entry: FieldSchema | WireFields): entry is FieldSchema => 'name' in entry;

function readField(reader: WireReader, { name, value }: FieldSchema, out: JsonObject): void {
  const before = out[name];
  if (value.kind === 'list' && !value.wrapped) {
    const item = readValue(reader, value.items);
    if (Array.isArray(before)) before.push(item);
    else out[name] = [item];
  } else if (value.kind === 'map') {
    const map = isJsonObject(before) ? before : {};
    readEntry(reader, value.values, map);
    out[name] = map;
  } else out[name] = readValue(reader, value);
}

function readValue(reader: WireReader, schema: ValueSchema): JsonValue {
  switch (schema.kind) {
    case 'message':
      return readMessage(reader, schema.message);
    case 'list':
      return readWrapped(reader, schema.items);
    case 'map':
      throw new Error('a map inside a list or map has no protobuf form');
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return readUnion(reader, schema);
    default:
      return readScalar(reader, schema.kind);
  }
}

/** A schema, a boolean, or a list; null for the empty message. */
function readUnion(reader: WireReader, { kind, message }: SchemaUnion): JsonValue {
  const end = reader.uint32() + reader.pos;
  let schema: JsonObject | undefined;
  let allows = false;
  const items: JsonValue[] = [];
  while (reader.pos < end) {
    const isSecond = reader.uint32() >>> 3 === 2;
    if (isSecond === (kind === 'SchemaOrBool')) schema = readMessage(reader, message);
    else if (kind === 'SchemaOrBool') allows = reader.bool();
    else items.push(kind === 'SchemaOrArray' ? readMessage(reader, message) : reader.string());
  }
  if (kind === 'SchemaOrBool') return schema ?? allows;
  return items.length > 0 ? items : (schema ?? null);
}

function readMessage(reader: WireReader, message: MessageSchema): JsonObject {
  const out: JsonObject = {};
  depth += 1;
  if (depth > MAX_DEPTH) throw tooDeep();
  readInto(reader, reader.uint32() + reader.pos, wireFields(message), out);
  depth -= 1;
  return out;
}

function readWrapped(reader: WireReader, items: ValueSchema): JsonValue[] {
  const end = reader.uint32() + reader.pos;
  const list: JsonValue[] = [];
  while (reader.pos < end) {
    reader.uint32();
    list.push(readValue(reader, items));
  }
  return list;
}

function readEntry(reader: WireReader, values: ValueSchema, map: JsonObject): void {
  const end = reader.uint32() + reader.pos;
  let key = '';
  let value: JsonValue | undefined;
  while (reader.pos < end) {
    const field = reader.uint32();
    if (field >>> 3 === 1) key = reader.string();
    else value = readValue(reader, values);
  }
  // A value that is zero is not on the wire: its decoder turns null into the type's zero.
  Object.defineProperty(map, key, {
    value: value ?? null,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
