import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { MessageSchema, ValueSchema } from '../api/schema.ts';
import { badRequest } from '../api/status.ts';
import { toTimestamp } from '../object/timestamps.ts';

/**
 * Reads a query as an object of the type that describes it, `?tailLines=5&follow` as PodLogOptions. Ignores unknown parameters.
 * @throws StatusError 400 for invalid values
 */
export function readOptions(query: URLSearchParams, schema: MessageSchema): JsonObject {
  const options: JsonObject = {};
  for (const { name, value } of schema.fields.values()) {
    if (!query.has(name)) continue;
    const read = readValue(query, name, value);
    if (read !== undefined) options[name] = read;
  }
  return options;
}

function readValue(query: URLSearchParams, name: string, value: ValueSchema): JsonValue | undefined {
  switch (value.kind) {
    case 'bool':
      return readBoolean(query, name);
    case 'int32':
    case 'int64':
      return readInteger(query, name);
    case 'Time':
      return readTime(query.get(name) ?? '');
    case 'list':
      return query.getAll(name).map((item) => readItem(item, value.items));
    default:
      return query.get(name) ?? '';
  }
}

function readItem(item: string, { kind }: ValueSchema): JsonValue {
  if (kind !== 'int32' && kind !== 'int64') return item;
  return readInteger(new URLSearchParams({ item }), 'item') ?? 0;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Converts to whole seconds in UTC, the format of times. */
function readTime(time: string): string | undefined {
  if (time === '' || time === 'null') return undefined;
  const at = RFC3339.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at)) {
    const quoted = JSON.stringify(time);
    throw badRequest(
      `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as RFC 3339`,
    );
  }
  return toTimestamp(new Date(at));
}

/**
 * Query parameters as Kubernetes' parameter codec reads them (apimachinery, runtime/converter): the first value counts,
 * a boolean is true unless it says `false` or `0`, numbers are decimal int64.
 */

export function readBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value.toLowerCase() !== 'false' && value !== '0';
}

/** @throws StatusError 400 */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^[+-]?[0-9]+$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
  }
  return number;
}

export function readString(query: URLSearchParams, name: string): string {
  return query.get(name) ?? '';
}
