import protobuf from 'protobufjs/minimal.js';
import type { JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import { decodeMessage, encodeMessage } from './message.ts';
import { tag } from './scalars.ts';

/**
 * The envelope of protobuf bodies: four magic bytes and a message Unknown, which says what is inside
 * (specification, "Protobuf envelope"). kind and apiVersion are in the envelope only.
 */
const { Reader, Writer } = protobuf;
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const DELIMITED = 2;

export function encodeEnvelope(object: JsonObject, schema: MessageSchema): Buffer {
  const { kind, apiVersion } = object;
  const type = Writer.create();
  type.uint32(tag(1, DELIMITED)).string(String(apiVersion ?? ''));
  type.uint32(tag(2, DELIMITED)).string(String(kind ?? ''));
  const unknown = Writer.create();
  unknown.uint32(tag(1, DELIMITED)).bytes(type.finish());
  unknown.uint32(tag(2, DELIMITED)).bytes(encodeMessage(object, schema));
  unknown.uint32(tag(3, DELIMITED)).string('').uint32(tag(4, DELIMITED)).string('');
  return Buffer.concat([MAGIC, unknown.finish()]);
}

/** @throws SyntaxError for bytes that are no such envelope */
export function decodeEnvelope(bytes: Buffer, schema: MessageSchema): JsonObject {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new SyntaxError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  }
  try {
    const { kind, apiVersion, raw } = readUnknown(bytes.subarray(MAGIC.length));
    return {
      ...(kind === '' ? {} : { kind }),
      ...(apiVersion === '' ? {} : { apiVersion }),
      ...decodeMessage(raw, schema),
    };
  } catch (cause) {
    throw new SyntaxError(
      `the protobuf message is malformed: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

/** What is in an envelope that this server made. */
export function readEnvelopeType(bytes: Buffer): { kind: string; apiVersion: string } {
  return readUnknown(bytes.subarray(MAGIC.length));
}

function readUnknown(bytes: Buffer): { kind: string; apiVersion: string; raw: Uint8Array } {
  const reader = Reader.create(bytes);
  let kind = '';
  let apiVersion = '';
  let raw: Uint8Array = new Uint8Array();
  while (reader.pos < bytes.length) {
    const key = reader.uint32();
    if (key >>> 3 === 1) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) {
        const field = reader.uint32() >>> 3;
        const text = reader.string();
        if (field === 1) apiVersion = text;
        else if (field === 2) kind = text;
      }
    } else if (key >>> 3 === 2) raw = reader.bytes();
    else reader.skipType(key & 7);
  }
  return { kind, apiVersion, raw };
}

/** A watch event: its length in four bytes, then type and the object in its own envelope. */
export function encodeWatchFrame(type: string, object: Buffer): Buffer {
  const raw = Writer.create().uint32(tag(1, DELIMITED)).bytes(object).finish();
  const event = Writer.create()
    .uint32(tag(1, DELIMITED))
    .string(type)
    .uint32(tag(2, DELIMITED))
    .bytes(raw)
    .finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
