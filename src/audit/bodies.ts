import { typeName } from '../api/idl/type-name.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import { parseBytes } from '../codec/formats.ts';
import { bodyFormat } from '../codec/negotiate.ts';
import { readEnvelopeType } from '../codec/protobuf/envelope.ts';
import { parseJsonBytes } from '../object/exact-json.ts';
import type { BytesResponse } from '../request/api-response.ts';

/** Bodies of requests and responses as the JSON text that events carry, on one line. */

export function toBodyText(value: unknown, omitManagedFields: boolean): string | undefined {
  return JSON.stringify(omitManagedFields ? withoutManagedFields(value) : value);
}

/**
 * Undefined for a response that is no object: a log, a metrics page. JSON that needs no change is not parsed.
 * @throws Error for bytes that do not match their content type
 */
export function readResponse(
  { chunks, contentType }: BytesResponse,
  omitManagedFields: boolean,
  types: TypeLibrary,
): string | undefined {
  const format = formatOf(contentType);
  if (format === undefined) return undefined;
  const bytes = Buffer.concat(chunks);
  if (format !== 'json') {
    const name = format === 'protobuf' ? knownType(readEnvelopeType(bytes), types) : STATUS;
    return toBodyText(parseBytes(bytes, format, types.message(name)).value, omitManagedFields);
  }
  const text = bytes.toString().trim();
  // Line breaks in the text can only be layout, because those in strings are escaped.
  if (!omitManagedFields && !text.includes('\n')) return text;
  return toBodyText(parseJsonBytes(bytes), omitManagedFields);
}

const STATUS = 'meta/v1.Status';

function formatOf(contentType: string): ReturnType<typeof bodyFormat> | undefined {
  try {
    return bodyFormat(contentType);
  } catch {
    return undefined;
  }
}

function knownType({ apiVersion, kind }: { apiVersion: string; kind: string }, types: TypeLibrary): string {
  const name = typeName(apiVersion, kind, types);
  if (name !== undefined) return name;
  throw new Error(`no type ${kind} of ${apiVersion} is known`);
}

/** For an object, the items of a list and the rows of a table. Copies only the changed parts; the original stays. */
function withoutManagedFields(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { metadata: given, items, rows, kind } = value;
  const copy: Record<string, unknown> = { ...value };
  if (isRecord(given)) {
    const { managedFields: _, ...metadata } = given;
    copy.metadata = metadata;
  }
  if (Array.isArray(items)) copy.items = items.map(withoutManagedFields);
  if (kind === 'Table' && Array.isArray(rows)) {
    copy.rows = rows.map((row: unknown) =>
      isRecord(row) ? { ...row, object: withoutManagedFields(row.object) } : row,
    );
  }
  return copy;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
