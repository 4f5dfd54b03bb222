import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { SchemaUnionKind } from '../api/schema.ts';
import { cannotUnmarshal, DecodeError } from './decode-error.ts';

/**
 * A schema or what may stand in its place. Kubernetes reads these with decoders of their own, which say nothing about
 * unknown fields below them and take what is neither for nothing (apiextensions/v1, marshal.go).
 * @throws DecodeError
 */
export function decodeSchemaUnion(
  value: JsonValue,
  kind: SchemaUnionKind,
  decodeSchema: (value: JsonValue) => JsonObject,
): JsonValue {
  if (Array.isArray(value)) {
    if (kind === 'SchemaOrBool') throw new DecodeError('boolean or JSON schema expected');
    if (value.length === 0) return null;
    const items = value.map((item) =>
      kind === 'SchemaOrArray' ? decodeSchema(item ?? {}) : decodeName(item),
    );
    // What needs no change stays what it is, as everywhere in decoding.
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (typeof value === 'object' && value !== null) return decodeSchema(value);
  if (kind !== 'SchemaOrBool') return null;
  if (typeof value !== 'boolean') throw new DecodeError('boolean or JSON schema expected');
  return value;
}

function decodeName(value: JsonValue): string {
  if (typeof value === 'string' || value === null) return value ?? '';
  throw new DecodeError(cannotUnmarshal(value, 'string'));
}
