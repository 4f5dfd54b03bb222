import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ScalarKind, ValueSchema } from '../api/schema.ts';
import { goTypeOf } from '../object/go-value.ts';
import { isObject } from '../object/json-values.ts';
import { cannotUnmarshal, DecodeError } from './decode-error.ts';
import { decodeScalar } from './decode-scalar.ts';

/**
 * Why the result of a strategic merge patch is no object of its type. Kubernetes converts that result without writing it as
 * JSON first (apimachinery, runtime/converter.go), and the errors of that conversion name Go kinds instead of fields. Returns
 * the first error in the order of the type's fields; undefined when there is none.
 */
export function conversionError(value: JsonValue, schema: MessageSchema): string | undefined {
  return ofMessage(value, schema);
}

function ofMessage(value: JsonValue, schema: MessageSchema): string | undefined {
  if (!isObject(value)) return `cannot restore struct from: ${kindOf(value)}`;
  const head = schema.typed ? ofHead(value) : undefined;
  if (head !== undefined) return head;
  for (const { name, value: type } of schema.fields.values()) {
    const error = ofField(value[name], type);
    if (error !== undefined) return error;
  }
  return undefined;
}

const ofHead = ({ kind, apiVersion }: JsonObject): string | undefined =>
  ofField(kind, TEXT) ?? ofField(apiVersion, TEXT);

const TEXT: FieldSchema['value'] = { kind: 'string' };

const ofField = (value: JsonValue | undefined, type: ValueSchema): string | undefined =>
  value === undefined || value === null ? undefined : ofValue(value, type);

function ofValue(value: JsonValue, type: ValueSchema): string | undefined {
  switch (type.kind) {
    case 'message':
      return ofMessage(value, type.message);
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${kindOf(value)}`;
      return firstOf(value, type.items);
    case 'map':
      if (!isObject(value)) return `cannot restore map from ${kindOf(value)}`;
      return firstOf(Object.values(value), type.values);
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return undefined;
    default:
      return ofScalar(value, type.kind);
  }
}

function firstOf(values: readonly (JsonValue | undefined)[], type: ValueSchema): string | undefined {
  for (const value of values) {
    const error = ofField(value, type);
    if (error !== undefined) return error;
  }
  return undefined;
}

function ofScalar(value: JsonValue, kind: ScalarKind): string | undefined {
  const given = kindOf(value);
  switch (kind) {
    case 'string':
      if (given === 'string') return undefined;
      return given === 'int64' ? 'cannot convert int64 to string' : 'unrecognized type: string';
    case 'bool':
      return given === 'bool' ? undefined : 'unrecognized type: bool';
    case 'int32':
    case 'int64':
      if (given === 'int64') return undefined;
      return given === 'float64' ? `cannot convert float64 to ${kind}` : `unrecognized type: ${kind}`;
    case 'double':
      return given === 'int64' || given === 'float64' ? undefined : 'unrecognized type: float64';
    case 'bytes':
      if (given !== 'string') return `cannot restore slice from ${given}`;
      return ofText(value, kind, 'error decoding from json: ');
    default:
      return ofText(value, kind, '');
  }
}

/** Types that read their JSON themselves; their errors are the same in every conversion. */
function ofText(value: JsonValue, kind: ScalarKind, before: string): string | undefined {
  try {
    if (decodeScalar(value, kind) !== undefined) return undefined;
    const type = kind === 'IntOrString' ? 'int32' : 'string';
    return cannotUnmarshal(value, type);
  } catch (error) {
    if (error instanceof DecodeError) return `${before}${error.message}`;
    throw error;
  }
}

/** reflect.Kind of the Go value that JSON is read into. */
function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'slice';
  return typeof value === 'object' ? 'map' : goTypeOf(value);
}
