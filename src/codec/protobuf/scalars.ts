import type protobuf from 'protobufjs/minimal.js';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { ScalarKind } from '../../api/schema.ts';
import { parseJson, toExact } from '../../object/exact-json.ts';
import { knownTextOf } from '../../object/managed-fields/owners.ts';
import type { BackwardWriter } from './backward-writer.ts';

/** Scalars on the wire. Kinds that are a text in JSON but a message in protobuf are the interesting ones. */

export type WireReader = InstanceType<typeof protobuf.Reader>;

export const VARINT = 0;
const FIXED64 = 1;
export const DELIMITED = 2;

export const tag = (field: number, wireType: number): number => ((field << 3) | wireType) >>> 0;

export function wireTypeOf(kind: ScalarKind): number {
  switch (kind) {
    case 'bool':
    case 'int32':
    case 'int64':
      return VARINT;
    case 'double':
      return FIXED64;
    default:
      return DELIMITED;
  }
}

/** Writes one value; the caller writes its tag afterwards, which puts it in front. */
export function writeScalar(out: BackwardWriter, kind: ScalarKind, value: JsonValue): void {
  switch (kind) {
    case 'bool':
      out.varint(value === true ? 1 : 0);
      return;
    case 'int32':
    case 'int64':
      out.integer(typeof value === 'bigint' ? value : Number(value));
      return;
    case 'double':
      out.double(Number(value));
      return;
    default: {
      const before = out.written;
      writeBody(out, kind, value);
      out.varint(out.written - before);
    }
  }
}

type NumberKind = 'bool' | 'int32' | 'int64' | 'double';
type MessageScalar = Exclude<ScalarKind, NumberKind | 'string' | 'bytes'>;

/** The fields of a message are written last first. */
function writeBody(out: BackwardWriter, kind: Exclude<ScalarKind, NumberKind>, value: JsonValue): void {
  switch (kind) {
    case 'string':
      out.string(String(value));
      return;
    case 'bytes':
      out.bytes(Buffer.from(String(value), 'base64'));
      return;
    case 'Time':
    case 'MicroTime':
      writeTime(out, String(value));
      return;
    case 'Duration':
      out.integer(toNanoseconds(String(value)));
      out.varint(tag(1, VARINT));
      return;
    case 'Quantity':
      writeText(out, 1, String(value));
      return;
    case 'IntOrString':
      writeText(out, 3, typeof value === 'string' ? value : '');
      out.integer(typeof value === 'string' ? 0 : Number(value));
      out.varint(tag(2, VARINT));
      out.varint(typeof value === 'string' ? 1 : 0);
      out.varint(tag(1, VARINT));
      return;
    case 'FieldsV1':
      if (value !== null) writeText(out, 1, isJsonObject(value) ? textOfSet(value) : JSON.stringify(value));
      return;
    case 'RawExtension':
    case 'JSON':
      // Null has no bytes; as an item of a list it is an empty message.
      if (value !== null) writeText(out, 1, JSON.stringify(value));
      return;
    default:
      kind satisfies never;
  }
}

const textOfSet = (set: JsonObject): string => knownTextOf(set) ?? JSON.stringify(set);

function writeText(out: BackwardWriter, field: number, text: string): void {
  const before = out.written;
  out.string(text);
  out.varint(out.written - before);
  out.varint(tag(field, DELIMITED));
}

function writeTime(out: BackwardWriter, text: string): void {
  const fraction = text.length > WHOLE_SECONDS ? (/\.(\d+)/.exec(text)?.[1] ?? '') : '';
  out.integer(Number(fraction.padEnd(9, '0').slice(0, 9)));
  out.varint(tag(2, VARINT));
  out.integer(Math.floor(Date.parse(text) / 1000));
  out.varint(tag(1, VARINT));
}

/** Length of a time as the server writes it: 2006-01-02T15:04:05Z. */
const WHOLE_SECONDS = 20;

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
      return readInt64(reader);
    case 'double':
      return reader.double();
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    default:
      return readBody(readFields(reader), kind);
  }
}

function readInt64(reader: WireReader): number | bigint {
  const from = reader.pos;
  const number = Number(reader.int64());
  if (Number.isSafeInteger(number)) return number;
  let value = 0n;
  for (let at = from; at < reader.pos; at += 1)
    value |= BigInt((reader.buf[at] ?? 0) & 0x7f) << BigInt((at - from) * 7);
  return toExact(BigInt.asIntN(64, value));
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
      return text(1) === '' ? null : parseJson(text(1));
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
