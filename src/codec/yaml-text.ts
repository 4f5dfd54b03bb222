import { LineCounter, parseAllDocuments, type Tags } from 'yaml';
import type { JsonValue } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import {
  assertDepth,
  assertWithinLimits,
  TooDeep,
  tooDeep,
  tooManyValues,
} from '../object/document-limits.ts';
import { toExact } from '../object/exact-json.ts';
import { repeatedKeyLines } from './json-fields.ts';
import { type ParsedDocument, parseJsonText } from './json-text.ts';
import { readBlockYaml } from './yaml/block-reader.ts';
import { answerFor, nestsTooDeep, parseAsJson } from './yaml-aside.ts';
import { yamlRepeatedKeys, yamlSyntaxError, yamlValueError } from './yaml-problems.ts';

/**
 * Reads YAML as Kubernetes does: YAML 1.1 rules for scalars (yes, no, on, off, octal), keys become strings, one document.
 * Aliases must not blow the document up. Repeated fields are reported by line. Bytes from a client must pass readYamlAside
 * first (yaml-aside.ts), because this parser would hold up all other requests.
 * @throws SyntaxError, StatusError 413
 */
export function parseYamlText(bytes: Buffer): ParsedDocument {
  const answer = answerFor(bytes);
  switch (answer?.kind) {
    case undefined: {
      const document = parseAsJson(bytes);
      return document === undefined ? parseAsYaml(bytes) : fromJson(document, bytes);
    }
    case 'json':
      return fromJson(answer.document, bytes);
    case 'read':
      return {
        value: parseJsonText(Buffer.from(answer.json)).value,
        duplicates: answer.duplicates,
        fresh: true,
      };
    case 'malformed':
      throw new SyntaxError(answer.message);
    case 'too-many-values':
      throw tooManyValues();
    default:
      return answer satisfies never;
  }
}

/**
 * For files of an operator, which may have lists of any length. In every style, the line ends of Windows mean those of Unix (YAML
 * 1.2, 5.4). @throws SyntaxError
 */
export const parseYamlFile = (text: string): JsonValue =>
  readBlockYaml(text.replaceAll('\r\n', '\n')) ?? parseAsYaml(Buffer.from(text), assertDepth).value;

function parseAsYaml(bytes: Buffer, assertSize = assertWithinLimits): ParsedDocument {
  const options = {
    version: '1.1',
    uniqueKeys: false,
    merge: true,
    intAsBigInt: true,
    customTags: (tags: Tags) => tags.map(withDigits),
    // The parser would log warnings about a client's document.
    logLevel: 'error',
    lineCounter: new LineCounter(),
  } as const;
  const text = bytes.toString('utf8');
  const documents = parseAllDocuments(text, options);
  const filled = [...documents].filter((document) => document.contents !== null);
  const [document] = filled;
  if (filled.length > 1) throw new SyntaxError('only one YAML document is allowed in a request');
  if (document === undefined) return { value: null, duplicates: [], fresh: true };
  if (document.errors.length > 0 && nestsTooDeep(bytes)) throw tooDeep();
  if (document.errors.length > 0) throw new SyntaxError(yamlSyntaxError(document.errors, text));
  const duplicates = yamlRepeatedKeys(document.contents, options.lineCounter);
  try {
    const value = toJson(document.toJS({ maxAliasCount: 100, mapAsMap: false }));
    assertSize(value);
    return { value, duplicates, fresh: true };
  } catch (cause) {
    if (cause instanceof StatusError || cause instanceof TooDeep) throw cause;
    if (cause instanceof RangeError) throw tooDeep();
    throw new SyntaxError(yamlValueError(cause), { cause });
  }
}

const FLOAT = 'tag:yaml.org,2002:float';
const NO_DIGIT = /[-+]?[._]*(?:[eE]|$)/;

/** The library takes `.` and `e10` for numbers, which for Kubernetes are texts: managed fields have the key `.`. */
function withDigits(tag: Tags[number]): Tags[number] {
  if (typeof tag !== 'object' || tag.tag !== FLOAT || !('test' in tag) || tag.test === undefined) return tag;
  return { ...tag, test: new RegExp(`^(?!${NO_DIGIT.source})(?:${tag.test.source})`) };
}

/** JSON that was sent as YAML: its problems get the words for YAML. */
const fromJson = ({ value, duplicates }: ParsedDocument, bytes: Buffer): ParsedDocument => ({
  value,
  duplicates: duplicates.length === 0 ? [] : repeatedKeyLines(bytes),
  fresh: true,
});

/**
 * Converts values that JSON does not have: dates become text, binary becomes base64, infinities are refused. A value with
 * aliases is copied for each.
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
