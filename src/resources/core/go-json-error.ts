import { jsonSyntaxError } from '../../object/json-syntax-error.ts';

/**
 * Why a text inside an object is not the JSON it should be, as clients know such errors (encoding/json). Undefined when it
 * is. `type` is what the text is read into, for the error. A null is as good as nothing.
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
