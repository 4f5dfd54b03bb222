import { stringify } from 'yaml';
import type { JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { Representation } from './negotiate.ts';
import { encodeEnvelope } from './protobuf/envelope.ts';

/** A value in the representation's format. Without a schema there is no protobuf form, and the value goes as JSON. */
export function encodeValue(
  value: object,
  { format, pretty }: Pick<Representation, 'format' | 'pretty'>,
  schema?: MessageSchema,
): Buffer {
  if (format === 'protobuf' && schema !== undefined) return encodeEnvelope(value as JsonObject, schema);
  if (format === 'yaml') return Buffer.from(stringify(value, { sortMapEntries: true, lineWidth: 0 }));
  return Buffer.from(pretty ? `${JSON.stringify(value, undefined, 2)}\n` : `${JSON.stringify(value)}\n`);
}
