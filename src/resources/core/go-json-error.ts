import { jsonSyntaxError } from '../../object/json-syntax-error.ts';

/**
 * Validates JSON in a text, with Go's messages, which clients know (encoding/json). Undefined: it is valid. `type`: Go's type,
 * for the message. A null counts as empty.
 *
 *   goJsonError('', 'object', 'v1.X')   → 'unexpected end of JSON input'
 *   goJsonError('bad', 'object', 'v1.X') → "invalid character 'b' looking for beginning of value"
 *   goJsonError('[]', 'object', 'v1.X') → 'json: cannot unmarshal array into Go value of type v1.X'
 */
export function goJsonError(json: string, wanted: 'object' | 'array', type: string): string | undefined {
  const syntax = jsonSyntaxError(json);
  if (syntax !== undefined) return syntax;
  const kind = kindOf(JSON.parse(json));
  return kind === wanted || kind === 'null'
    ? undefined
    : `json: cannot unmarshal ${kind} into Go value of type ${type}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
