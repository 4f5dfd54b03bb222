import type { JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import { isObject } from '../object/json-values.ts';
import { parseCbor } from './cbor/parse-cbor.ts';
import { toCbor } from './cbor/write-cbor.ts';
import { type ParsedDocument, parseJsonText } from './json-text.ts';
import { CBOR_SEQUENCE, type Format, type Representation } from './negotiate.ts';
import { decodeEnvelope, encodeEnvelope, encodeWatchFrame } from './protobuf/envelope.ts';
import { toYaml } from './yaml/emitter.ts';
import { parseYamlText } from './yaml-text.ts';

/** A value in the representation's format. Without a schema there is no protobuf form, and the value goes as JSON. */
export function encodeValue(
  value: object,
  { format, pretty }: Pick<Representation, 'format' | 'pretty'>,
  schema?: MessageSchema,
): Buffer {
  if (format === 'protobuf' && schema !== undefined && isObject(value)) return encodeEnvelope(value, schema);
  if (format === 'yaml' && isObject(value)) return Buffer.from(toYaml(value));
  if (format === 'cbor' && isObject(value)) return toCbor(value);
  return Buffer.from(pretty ? `${JSON.stringify(value, undefined, 2)}\n` : `${JSON.stringify(value)}\n`);
}

/** One event of a watch, set off from the next as its format does it. */
export function encodeFrame(
  type: string,
  object: JsonObject,
  { format }: Pick<Representation, 'format'>,
  schema?: MessageSchema,
): Buffer {
  switch (format) {
    case 'json':
      return Buffer.from(`${JSON.stringify({ type, object })}\n`);
    case 'yaml':
      throw new Error('YAML is no format of watches');
    case 'protobuf':
      return encodeWatchFrame(type, encodeValue(object, { format, pretty: false }, schema));
    case 'cbor':
      return toCbor({ type, object });
    default:
      return format satisfies never;
  }
}

/** Events in other formats than JSON say that they are a stream (Kubernetes: endpoints/handlers/watch.go). */
export function streamType({ format, contentType }: Representation): string {
  if (format === 'cbor') return CBOR_SEQUENCE;
  return format === 'json' ? contentType : `${contentType};stream=watch`;
}

/** A body in any format the server reads, as a JSON value. @throws SyntaxError */
export function parseBytes(bytes: Buffer, format: Format, schema: MessageSchema): ParsedDocument {
  switch (format) {
    case 'json':
      return parseJsonText(bytes);
    case 'yaml':
      return parseYamlText(bytes);
    case 'protobuf':
      return { value: decodeEnvelope(bytes, schema), duplicates: [], fresh: true };
    case 'cbor':
      return parseCbor(bytes);
    default:
      return format satisfies never;
  }
}
