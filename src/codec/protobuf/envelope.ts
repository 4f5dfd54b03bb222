import protobuf from 'protobufjs/minimal.js';
import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import { StatusError } from '../../api/status.ts';
import { TooDeep } from '../../object/document-limits.ts';
import { MalformedMessage } from '../decode-error.ts';
import type { Head } from '../stored-object.ts';
import { varintLength, writeVarint } from './backward-writer.ts';
import { decodeMessage } from './decoder.ts';
import { encodeMessage } from './encoder.ts';
import { DELIMITED, tag } from './scalars.ts';

/**
 * The envelope of protobuf bodies: four magic bytes and a message Unknown, which names the type of its content (apimachinery,
 * runtime/serializer/protobuf). kind and apiVersion are in the envelope only.
 */
const { Reader } = protobuf;
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** contentEncoding and contentType, both empty. */
const TAIL = Buffer.from([tag(3, DELIMITED), 0, tag(4, DELIMITED), 0]);

/** The envelope around a message of `sizeBytes`. */
export function envelopeOf({ kind, apiVersion }: Head, sizeBytes: number): { head: Buffer; tail: Buffer } {
  const type = Buffer.concat([delimited(1, Buffer.from(apiVersion)), delimited(2, Buffer.from(kind))]);
  const raw = prefix(2, sizeBytes);
  return { head: Buffer.concat([MAGIC, delimited(1, type), raw]), tail: TAIL };
}

export function encodeEnvelope(object: JsonObject, schema: MessageSchema): Buffer {
  const message = encodeMessage(object, schema);
  const type = { kind: String(object.kind ?? ''), apiVersion: String(object.apiVersion ?? '') };
  return inEnvelope(type, message);
}

export function inEnvelope(type: Head, message: Buffer): Buffer {
  const { head, tail } = envelopeOf(type, message.length);
  return Buffer.concat([head, message, tail]);
}

/** Tag and length of a field with so many bytes. */
function prefix(field: number, sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(varintLength(tag(field, DELIMITED)) + varintLength(sizeBytes));
  return bytes.subarray(0, writeVarint(bytes, sizeBytes, writeVarint(bytes, tag(field, DELIMITED), 0)));
}

const delimited = (field: number, bytes: Buffer): Buffer =>
  Buffer.concat([prefix(field, bytes.length), bytes]);

/** @throws SyntaxError for bytes that are no envelope, MalformedMessage for an envelope around bytes that are no message */
export function decodeEnvelope(bytes: Buffer, schema: MessageSchema): JsonObject {
  const { kind, apiVersion, raw } = openEnvelope(bytes);
  const head = { ...(kind === '' ? {} : { kind }), ...(apiVersion === '' ? {} : { apiVersion }) };
  try {
    return { ...head, ...decodeMessage(raw, schema) };
  } catch (cause) {
    if (cause instanceof StatusError) throw cause;
    const why = cause instanceof TooDeep ? cause.message : wireError(cause);
    throw new MalformedMessage(why, head, { cause });
  }
}

/** @throws SyntaxError in the words of Kubernetes (serializer/protobuf) */
function openEnvelope(bytes: Buffer): ReturnType<typeof readUnknown> {
  if (bytes.length === 0) throw new SyntaxError('empty data');
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new SyntaxError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  if (bytes.length === MAGIC.length) throw new SyntaxError('empty body');
  try {
    return readUnknown(bytes.subarray(MAGIC.length));
  } catch (cause) {
    if (cause instanceof StatusError) throw cause;
    throw cause instanceof SyntaxError ? cause : new SyntaxError(wireError(cause), { cause });
  }
}

/** The type in an envelope that this server made. */
export function readEnvelopeType(bytes: Buffer): { kind: string; apiVersion: string } {
  return readUnknown(bytes.subarray(MAGIC.length));
}

function readUnknown(bytes: Buffer): { kind: string; apiVersion: string; raw: Uint8Array } {
  const reader = Reader.create(bytes);
  let kind = '';
  let apiVersion = '';
  // The last one counts: each is remembered as a place, not cut out.
  let [rawBegin, rawEnd] = [0, 0];
  while (reader.pos < bytes.length) {
    const key = reader.uint32();
    requireDelimited(key);
    if (key >>> 3 === 1) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) {
        const field = reader.uint32() >>> 3;
        const text = reader.string();
        if (field === 1) apiVersion = text;
        else if (field === 2) kind = text;
      }
    } else if (key >>> 3 === 2) {
      const sizeBytes = reader.uint32();
      rawBegin = reader.pos;
      reader.skip(sizeBytes);
      rawEnd = reader.pos;
    } else reader.skipType(key & 7);
  }
  return { kind, apiVersion, raw: bytes.subarray(rawBegin, rawEnd) };
}

const NAMES = ['', 'TypeMeta', 'Raw', 'ContentEncoding', 'ContentType'];

/** @throws SyntaxError */
function requireDelimited(key: number): void {
  const [name, wireType] = [NAMES[key >>> 3], key & 7];
  if (wireType === 4) throw new SyntaxError('proto: Unknown: wiretype end group for non-group');
  if (name === '') throw new SyntaxError(`proto: Unknown: illegal tag 0 (wire type ${wireType})`);
  if (name !== undefined && wireType !== DELIMITED)
    throw new SyntaxError(`proto: wrong wireType = ${wireType} for field ${name}`);
}

/** A watch event: its length in four bytes, then type and the object in its own envelope. */
export function encodeWatchFrame(type: string, object: Buffer): Buffer {
  const raw = prefix(1, object.length);
  const event = delimited(1, Buffer.from(type));
  const content = prefix(2, raw.length + object.length);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(event.length + content.length + raw.length + object.length);
  return Buffer.concat([length, event, content, raw, object]);
}

/** Converts an error of the protobuf library, whose message means nothing to clients, to that of Go's generated readers. */
function wireError(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : '';
  const wireType = /^invalid wire type (\d)/.exec(text)?.[1];
  if (wireType === '4') return 'proto: wiretype end group for non-group';
  if (wireType !== undefined) return `proto: illegal wireType ${wireType}`;
  if (text.startsWith('invalid varint')) return 'proto: integer overflow';
  return cause instanceof RangeError && text.startsWith('index out of range')
    ? 'unexpected EOF'
    : 'proto: a field holds a value that is none of its type';
}
