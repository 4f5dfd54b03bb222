import { isCollection, isMap, isPair, isScalar, type LineCounter, type Node, type Pair } from 'yaml';
import type { FieldError } from '../api/status.ts';
import { goQuote } from '../object/go-value.ts';

/**
 * Keys that a map of a YAML document has twice, as Kubernetes' strict reader tells them (go-yaml 2, setMapIndex):
 * `line 3: key "a" already set in map`, with the line of the second value. What is wrong inside a value comes before its key.
 */
export function yamlRepeatedKeys(root: unknown, lines: LineCounter): string[] {
  const found: string[] = [];
  look(root, lines, found);
  return found;
}

/** The same of a document that is JSON, where only the paths are known; few people write that in lines. */
export const jsonRepeatedKeys = (paths: readonly string[]): string[] =>
  paths.map((path) => `line 1: key ${goQuote(path.slice(path.lastIndexOf('.') + 1))} already set in map`);

const HEAD = 'yaml: unmarshal errors:';

/** One error, as Kubernetes has it. */
export const repeatedKeysError = (lines: readonly string[]): string => [HEAD, ...lines].join('\n  ');

/** A warning for each line of such an error; any other problem is its own. */
export const warningsOf = (problem: string): readonly string[] =>
  problem.startsWith(HEAD) ? problem.split('\n  ').slice(1) : [problem];

/** For files whose problems are told field by field: the line takes the field's place. */
export const repeatedKeyProblems = (lines: readonly string[]): FieldError[] =>
  lines.map((line) => {
    const colon = line.indexOf(': ');
    return { type: 'FieldValueDuplicate', field: line.slice(0, colon), message: line.slice(colon + 2) };
  });

/** Warnings about further repeats would tell nothing new. */
const MAX_FOUND = 100;

function look(node: unknown, lines: LineCounter, found: string[]): void {
  if (!isCollection(node)) return;
  const seen = new Set<string>();
  for (const item of node.items) {
    if (found.length >= MAX_FOUND) return;
    if (!isPair(item)) {
      look(item, lines, found);
      continue;
    }
    look(item.value, lines, found);
    const key = isMap(node) ? keyOf(item) : undefined;
    if (key === undefined) continue;
    if (seen.has(key)) found.push(`line ${lineOf(item, lines)}: key ${key} already set in map`);
    seen.add(key);
  }
}

/** Undefined for what takes its values from elsewhere, and for keys that are no scalars. */
function keyOf({ key }: Pair): string | undefined {
  if (!isScalar(key) || typeof key.value === 'symbol' || key.value === '<<') return undefined;
  return typeof key.value === 'string' ? goQuote(key.value) : String(key.value);
}

function lineOf({ key, value }: Pair, lines: LineCounter): number {
  const [offset = 0] = rangeOf(value) ?? rangeOf(key) ?? [];
  return lines.linePos(offset).line;
}

const rangeOf = (node: unknown): Node['range'] =>
  isScalar(node) || isCollection(node) ? node.range : undefined;
