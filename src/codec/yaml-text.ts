import { isMap, isScalar, LineCounter, type Pair, parseAllDocuments, visit } from 'yaml';
import type { JsonValue } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import {
  assertWithinLimits,
  joinPath,
  MAX_PROBLEMS,
  tooDeep,
  tooManyValues,
} from '../object/document-limits.ts';
import { toExact } from '../object/exact-json.ts';
import { type ParsedDocument, parseJsonText } from './json-text.ts';
import { answerFor, parseAsJson } from './yaml-aside.ts';

/**
 * YAML bodies, read as Kubernetes reads them: YAML 1.1 rules for scalars (yes, no, on, off, octal), keys become strings,
 * one document. Aliases may not blow the document up. Bytes from a client are to be read aside first (yaml-aside.ts): this
 * parser is too slow to let others wait for it.
 * @throws SyntaxError, StatusError 413
 */
export function parseYamlText(bytes: Buffer): ParsedDocument {
  const answer = answerFor(bytes);
  switch (answer?.kind) {
    case undefined:
      return parseAsJson(bytes) ?? parseAsYaml(bytes);
    case 'json':
      return answer.document;
    case 'read':
      return { ...parseJsonText(Buffer.from(answer.json)), duplicates: answer.duplicates };
    case 'malformed':
      throw new SyntaxError(answer.message);
    case 'too-many-values':
      throw tooManyValues();
    default:
      return answer satisfies never;
  }
}

function parseAsYaml(bytes: Buffer): ParsedDocument {
  const options = {
    version: '1.1',
    uniqueKeys: false,
    merge: true,
    intAsBigInt: true,
    // What a client writes is nothing for the log.
    logLevel: 'error',
    lineCounter: new LineCounter(),
  } as const;
  const documents = parseAllDocuments(bytes.toString('utf8'), options);
  const filled = [...documents].filter((document) => document.contents !== null);
  const [document] = filled;
  if (filled.length > 1) throw new SyntaxError('only one YAML document is allowed in a request');
  if (document === undefined) return { value: null, duplicates: [], fresh: true };
  const [error] = document.errors;
  if (error !== undefined)
    throw new SyntaxError(`error converting YAML to JSON: yaml: ${error.message.split('\n')[0]}`);
  const duplicates = findDuplicates(document.contents);
  try {
    const value = toJson(document.toJS({ maxAliasCount: 100, mapAsMap: false }));
    assertWithinLimits(value);
    return { value, duplicates, fresh: true };
  } catch (cause) {
    if (cause instanceof StatusError) throw cause;
    if (cause instanceof RangeError) throw tooDeep();
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new SyntaxError(`error converting YAML to JSON: yaml: ${text}`);
  }
}

/** Paths, {@link MAX_PROBLEMS} at most. */
function findDuplicates(node: unknown): string[] {
  const found = new Set<string>();
  visit(node as Parameters<typeof visit>[0], {
    Map(_key, map, ancestors) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : String(key);
        if (seen.has(name)) found.add(pathOf(ancestors, name));
        if (found.size >= MAX_PROBLEMS) return visit.BREAK;
        seen.add(name);
      }
      return undefined;
    },
  });
  return [...found];
}

function pathOf(ancestors: readonly unknown[], last: string): string {
  let path = '';
  for (const ancestor of ancestors) {
    if (isPair(ancestor) && isScalar(ancestor.key)) path = joinPath(path, `${String(ancestor.key.value)}.`);
  }
  return joinPath(path, last);
}

const isPair = (node: unknown): node is Pair =>
  typeof node === 'object' && node !== null && 'key' in node && !isMap(node) && !isScalar(node);

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
    throw new SyntaxError(`unsupported value: ${value}`);
  if (typeof value === 'bigint') return toExact(value);
  return value === undefined ? null : (value as JsonValue);
}
