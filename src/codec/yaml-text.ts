import { type Document, LineCounter, parseAllDocuments, type ScalarTag, type Tags, visit } from 'yaml';
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
import { resolvePlain, resolveTagged, toFieldName, type WrittenTag } from './yaml/go-scalar.ts';
import { answerFor, nestsTooDeep, parseAsJson } from './yaml-aside.ts';
import { yamlReaderError, yamlRepeatedKeys, yamlSyntaxError, yamlValueError } from './yaml-problems.ts';

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
    resolveKnownTags: false,
    customTags: (tags: Tags) => [...tags.filter(isOfAnyReader), ...GO_TAGS],
    // The parser would log warnings about a client's document.
    logLevel: 'error',
    prettyErrors: false,
    lineCounter: new LineCounter(),
  } as const;
  const text = bytes.toString('utf8');
  const unreadable = yamlReaderError(bytes, text);
  if (unreadable !== undefined) throw new SyntaxError(unreadable);
  const documents = parseAllDocuments(text, options);
  const filled = [...documents].filter((document) => document.contents !== null);
  const [document] = filled;
  if (filled.length > 1) throw new SyntaxError('only one YAML document is allowed in a request');
  if (document === undefined) return { value: null, duplicates: [], fresh: true };
  if (document.errors.length > 0 && nestsTooDeep(bytes)) throw tooDeep();
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== '1.1')
    throw new SyntaxError('yaml: found incompatible YAML document');
  if (document.errors.length > 0) throw new SyntaxError(yamlSyntaxError(document.errors, text));
  const duplicates = yamlRepeatedKeys(document.contents, options.lineCounter);
  try {
    const value = toJson(document.toJS({ maxAliasCount: 100, mapAsMap: true }));
    assertSize(value);
    return { value, duplicates, fresh: true };
  } catch (cause) {
    if (cause instanceof StatusError || cause instanceof TooDeep) throw cause;
    if (cause instanceof RangeError) throw selfContained(document) ?? tooDeep();
    throw new SyntaxError(yamlValueError(cause), { cause });
  }
}

/** Merges, lists, maps, and texts in quotes or with their tag. */
const isOfAnyReader = (tag: Tags[number]): boolean =>
  tag === 'merge' ||
  (typeof tag === 'object' && (/:(?:merge|str)$/.test(tag.tag) || /:(?:map|seq)$/.test(tag.tag)));

const tagged = (tag: WrittenTag): ScalarTag => ({
  tag: `tag:yaml.org,2002:${tag}`,
  resolve: (text) => resolveTagged(tag, text),
});

const GO_TAGS: readonly ScalarTag[] = [
  // The library asks for a pattern; what this one lets pass is a text unless it is another thing.
  { tag: '', default: true, test: /^(?:$|[-+.0-9~yYnNtTfFoO])/, resolve: resolvePlain },
  ...(['bool', 'int', 'float', 'null', 'timestamp', 'binary'] as const).map(tagged),
];

/** JSON that was sent as YAML: its problems get the words for YAML. */
const fromJson = ({ value, duplicates }: ParsedDocument, bytes: Buffer): ParsedDocument => ({
  value,
  duplicates: duplicates.length === 0 ? [] : repeatedKeyLines(bytes),
  fresh: true,
});

/** An anchor whose value has an alias to itself has no end. */
function selfContained(document: Document.Parsed): SyntaxError | undefined {
  let name: string | undefined;
  visit(document, {
    Alias(_, { source }, path) {
      if (!path.some((node) => 'anchor' in node && node.anchor === source)) return;
      name = source;
      return visit.BREAK;
    },
  });
  return name === undefined ? undefined : new SyntaxError(`yaml: anchor '${name}' value contains itself`);
}

/** Converts values that JSON does not have: keys become texts, infinities are refused. A value with aliases is copied for each. */
function toJson(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Map)
    return Object.fromEntries(
      [...value].map(([key, item]) => {
        const field = toJson(item);
        return [toFieldName(key, field), field];
      }),
    );
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new SyntaxError(`json: unsupported value: ${goInfinity(value)}`);
  if (typeof value === 'bigint') return toExact(value);
  return value === undefined ? null : (value as JsonValue);
}

const goInfinity = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf');
