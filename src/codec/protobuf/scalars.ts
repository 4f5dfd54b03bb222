import protobuf from 'protobufjs/minimal.js';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { ScalarKind } from '../../api/schema.ts';

/** Scalars on the wire. Kinds that are a text in JSON but a message in protobuf are the interesting ones. */

const { Writer } = protobuf;
export type WireWriter = InstanceType<typeof Writer>;
export type WireReader = InstanceType<typeof protobuf.Reader>;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

export const tag = (field: number, wireType: number): number => ((field << 3) | wireType) >>> 0;

/** Writes one field with its tag. */
export function writeScalar(writer: WireWriter, field: number, kind: ScalarKind, value: JsonValue): void {
  switch (kind) {
    case 'string':
      writer.uint32(tag(field, DELIMITED)).string(String(value));
      return;
    case 'bool':
      writer.uint32(tag(field, VARINT)).bool(value === true);
      return;
    case 'int32':
      writer.uint32(tag(field, VARINT)).int32(Number(value));
      return;
    case 'int64':
      writer.uint32(tag(field, VARINT)).int64(Number(value));
      return;
    case 'double':
      writer.uint32(tag(field, FIXED64)).double(Number(value));
      return;
    case 'bytes':
      writer.uint32(tag(field, DELIMITED)).bytes(Buffer.from(String(value), 'base64'));
      return;
    default: {
      const inner = Writer.create();
      writeBody(inner, kind, value);
      writer.uint32(tag(field, DELIMITED)).bytes(inner.finish());
    }
  }
}

type MessageScalar = Exclude<ScalarKind, 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes'>;

function writeBody(writer: WireWriter, kind: MessageScalar, value: JsonValue): void {
  switch (kind) {
    case 'Time':
    case 'MicroTime':
      writeTime(writer, String(value));
      return;
    case 'Duration':
      writer.uint32(tag(1, VARINT)).int64(toNanoseconds(String(value)));
      return;
    case 'Quantity':
      writer.uint32(tag(1, DELIMITED)).string(String(value));
      return;
    case 'IntOrString':
      writer.uint32(tag(1, VARINT)).int64(typeof value === 'string' ? 1 : 0);
      if (typeof value === 'string')
        writer.uint32(tag(2, VARINT)).int32(0).uint32(tag(3, DELIMITED)).string(value);
      else writer.uint32(tag(2, VARINT)).int32(Number(value)).uint32(tag(3, DELIMITED)).string('');
      return;
    case 'FieldsV1':
    case 'RawExtension':
    case 'JSON':
      writer.uint32(tag(1, DELIMITED)).bytes(Buffer.from(JSON.stringify(value)));
      return;
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      throw new Error(`${kind} is written with its message`);
    default:
      kind satisfies never;
  }
}

function writeTime(writer: WireWriter, text: string): void {
  const ms = Date.parse(text);
  const seconds = Math.floor(ms / 1000);
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
  writer.uint32(tag(1, VARINT)).int64(seconds);
  writer.uint32(tag(2, VARINT)).int32(Number(fraction.padEnd(9, '0').slice(0, 9)));
}

/** Reads a value whose tag has been read. */
export function readScalar(reader: WireReader, kind: ScalarKind): JsonValue {
  switch (kind) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return Number(reader.int64());
    case 'double':
      return reader.double();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    default:
      return readBody(readFields(reader), kind);
  }
}

/** The fields of a small message: numbers and byte strings by field number. */
type SmallMessage = ReadonlyMap<number, number | Buffer>;

function readFields(reader: WireReader): SmallMessage {
  const end = reader.uint32() + reader.pos;
  const fields = new Map<number, number | Buffer>();
  while (reader.pos < end) {
    const key = reader.uint32();
    if ((key & 7) === DELIMITED) fields.set(key >>> 3, Buffer.from(reader.bytes()));
    else if ((key & 7) === VARINT) fields.set(key >>> 3, Number(reader.int64()));
    else reader.skipType(key & 7);
  }
  return fields;
}

function readBody(fields: SmallMessage, kind: MessageScalar): JsonValue {
  const number = (field: number): number => Number(fields.get(field) ?? 0);
  const text = (field: number): string => String(fields.get(field) ?? '');
  switch (kind) {
    case 'Time':
    case 'MicroTime':
      return fields.size === 0 ? null : readTime(number(1), number(2), kind);
    case 'Duration':
      return `${number(1) / 1e9}s`;
    case 'Quantity':
      return text(1) === '' ? '0' : text(1);
    case 'IntOrString':
      return number(1) === 1 ? text(3) : number(2);
    case 'FieldsV1':
    case 'RawExtension':
    case 'JSON':
      return text(1) === '' ? null : (JSON.parse(text(1)) as JsonValue);
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      throw new Error(`${kind} is read with its message`);
    default:
      return kind satisfies never;
  }
}

function readTime(seconds: number, nanos: number, kind: 'Time' | 'MicroTime'): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return kind === 'Time' ? `${whole}Z` : `${whole}.${String(nanos).padStart(9, '0').slice(0, 6)}Z`;
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};

function toNanoseconds(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g))
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  return text.startsWith('-') ? -total : total;
}

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
