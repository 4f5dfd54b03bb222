import type { MessageSchema } from '../api/schema.ts';
import { type ParsedDocument, parseJsonText } from './json-text.ts';
import type { Format } from './negotiate.ts';
import { decodeEnvelope } from './protobuf/envelope.ts';
import { parseYamlText } from './yaml-text.ts';

/** A body in any format the server reads, as a JSON value. @throws SyntaxError */
export function parseBytes(bytes: Buffer, format: Format, schema: MessageSchema): ParsedDocument {
  switch (format) {
    case 'json':
      return parseJsonText(bytes);
    case 'yaml':
      return parseYamlText(bytes);
    case 'protobuf':
      return { value: decodeEnvelope(bytes, schema), duplicates: [], fresh: true };
    default:
      return format satisfies never;
  }
}
