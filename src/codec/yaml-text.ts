import { LineCounter, parseAllDocuments } from 'yaml';
import type { JsonValue } from '../api/object-meta.ts';
import { toExact } from '../object/exact-json.ts';
import { type ParsedDocument, parseJsonText } from './json-text.ts';
import { yamlSyntaxError, yamlValueError } from './yaml-error.ts';
import { jsonRepeatedKeys, yamlRepeatedKeys } from './yaml-repeated-keys.ts';

/**
 * YAML bodies, read as Kubernetes reads them: YAML 1.1 rules for scalars (yes, no, on, off, octal), keys become strings,
 * one document. Aliases may not blow the document up. Repeated fields are told by their lines.
 * @throws SyntaxError
 */
export function parseYamlText(bytes: Buffer): ParsedDocument {
  return parseAsJson(bytes) ?? parseAsYaml(bytes);
}

const OPEN_OBJECT = 0x7b;

/** JSON is YAML, and what programs send; reading it as YAML takes ten times as long. */
function parseAsJson(bytes: Buffer): ParsedDocument | undefined {
  if (bytes[0] !== OPEN_OBJECT) return undefined;
  try {
    const { value, duplicates } = parseJsonText(bytes);
    return { value, duplicates: jsonRepeatedKeys(duplicates), fresh: true };
  } catch {
    return undefined;
  }
}

function parseAsYaml(bytes: Buffer): ParsedDocument {
  const options = {
    version: '1.1',
    uniqueKeys: false,
    merge: true,
    intAsBigInt: true,
    lineCounter: new LineCounter(),
  } as const;
  const text = bytes.toString('utf8');
  const documents = parseAllDocuments(text, options);
  const filled = [...documents].filter((document) => document.contents !== null);
  const [document] = filled;
  if (filled.length > 1) throw new SyntaxError('only one YAML document is allowed in a request');
  if (document === undefined) return { value: null, duplicates: [], fresh: true };
  if (document.errors.length > 0) throw new SyntaxError(yamlSyntaxError(document.errors, text));
  const duplicates = yamlRepeatedKeys(document.contents, options.lineCounter);
  try {
    const value = toJson(document.toJS({ maxAliasCount: 100, mapAsMap: false }));
    return { value, duplicates, fresh: true };
  } catch (cause) {
    throw new SyntaxError(yamlValueError(cause), { cause });
  }
}

/**
 * What YAML has and JSON has not: dates come as text, binary as base64, infinities are refused. What has an alias is there
 * once for each.
 */
function toJson(value: unknown): JsonValue {
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item)]));
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new SyntaxError(`json: unsupported value: ${goInfinity(value)}`);
  if (typeof value === 'bigint') return toExact(value);
  return value === undefined ? null : (value as JsonValue);
}

const goInfinity = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf');
