import { isUtf8 } from 'node:buffer';
import { isCollection, isMap, isPair, isScalar, type LineCounter, type Node, type Pair } from 'yaml';
import type { FieldError } from '../api/status.ts';
import { goQuote } from '../object/go-value.ts';

/**
 * Errors of YAML in the words of Kubernetes' reader (go-yaml 2, which is libyaml), which clients know. The parser used here has
 * other words and other kinds of errors, so a rare error may get the message of a similar one.
 */

/** A mistake as the parser reports it. */
interface YamlMistake {
  readonly code: string;
  readonly message: string;
  /** Offsets in the text. */
  readonly pos: readonly [number, number];
}

/** `yaml: line 2: mapping values are not allowed in this context` */
export function yamlSyntaxError(mistakes: readonly YamlMistake[], text: string): string {
  const [first] = mistakes;
  if (first === undefined) return 'yaml: unknown problem parsing YAML content';
  if (first.code === 'TAG_RESOLVE_FAILED') return `yaml: ${first.message.split('\n')[0]}`;
  const { found, problem, at } = classify(first, mistakes[1], text);
  const line = countLines(text, at) + (at >= text.length && found === 'by parser' ? lastIsOpen(text) : 0);
  // libyaml's scanner counts the current line, its parser does not; neither names the first line.
  const shown = line === 0 || found === 'by parser' ? line : line + 1;
  return `yaml: ${shown === 0 ? '' : `line ${shown}: `}${problem}`;
}

/** For bytes that are no text, and texts with characters that YAML does not allow (libyaml, readerc.go). */
export function yamlReaderError(bytes: Buffer, text: string): string | undefined {
  if (!isUtf8(bytes)) return `yaml: ${utf8Problem(bytes)}`;
  return UNREADABLE.test(text) ? 'yaml: control characters are not allowed' : undefined;
}

const UNREADABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ufffd]/;

/** The first mistake. */
function utf8Problem(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const width = first < 0x80 ? 1 : first >> 5 === 6 ? 2 : first >> 4 === 14 ? 3 : first >> 3 === 30 ? 4 : 0;
    if (width === 0) return 'invalid leading UTF-8 octet';
    if (at + width > bytes.length) return 'incomplete UTF-8 octet sequence';
    const others = bytes.subarray(at + 1, at + width);
    if (others.some((byte) => byte >> 6 !== 2)) return 'invalid trailing UTF-8 octet';
    if (!isUtf8(bytes.subarray(at, at + width)))
      return first === 0xed || first === 0xf4
        ? 'invalid Unicode character'
        : 'invalid length of a UTF-8 sequence';
    at += width;
  }
  return 'invalid Unicode character';
}

/** For YAML that is parsed but has no value. */
export function yamlValueError(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : '';
  const anchor = /^Unresolved alias .*: (.*)$/s.exec(text)?.[1];
  if (anchor !== undefined) return `yaml: unknown anchor '${anchor}' referenced`;
  if (text.startsWith('Excessive alias count')) return 'yaml: document contains excessive aliasing';
  if (text.startsWith('Merge sources'))
    return 'yaml: map merge requires map or sequence of maps as the value';
  return /^(?:json|yaml): |^unsupported map key/.test(text)
    ? text
    : 'yaml: unknown problem parsing YAML content';
}

interface Finding {
  readonly found: 'by scanner' | 'by parser';
  readonly problem: string;
  readonly at: number;
}

const NOT_HERE = 'mapping values are not allowed in this context';
const NO_KEY = 'did not find expected key';
const NO_CONTENT = 'did not find expected node content';
const NO_TOKEN = 'found character that cannot start any token';

function classify(mistake: YamlMistake, next: YamlMistake | undefined, text: string): Finding {
  const { code, message } = mistake;
  const [at] = mistake.pos;
  const scanner = (problem: string, where = at): Finding => ({ found: 'by scanner', problem, at: where });
  const parser = (problem: string): Finding => ({ found: 'by parser', problem, at });
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
      return scanner(NOT_HERE, colonAfter(text, at) ?? at);
    case 'MULTILINE_IMPLICIT_KEY': {
      const colon = next?.message.includes('block-seq-ind') === true ? undefined : colonAfter(text, at);
      return colon === undefined ? parser(NO_KEY) : scanner(NOT_HERE, colon);
    }
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
      return scanner(NO_TOKEN);
    case 'BAD_DQ_ESCAPE':
      return scanner('found unknown escape character');
    case 'BAD_ALIAS':
      return scanner('did not find expected alphabetic or numeric character');
    case 'BAD_DIRECTIVE':
      return scanner('found unknown directive name');
    case 'BAD_INDENT':
    case 'BLOCK_IN_FLOW':
    case 'MISSING_CHAR':
      if (message.startsWith('Missing closing'))
        return scanner('found unexpected end of stream', text.length);
      if (message.startsWith('Implicit map keys'))
        return scanner("could not find expected ':'", endOfLine(text, at) + 1);
      return parser(unfinishedFlow(message, text.slice(0, at)));
    case 'UNEXPECTED_TOKEN':
      if (message.startsWith('Block scalar header'))
        return scanner('did not find expected comment or line break');
      return parser(/flow-(map|seq)-end/.test(message) ? NO_CONTENT : NO_KEY);
    default:
      return parser('unknown problem parsing YAML content');
  }
}

/** `before`: the text up to the error in a list or map within brackets. */
function unfinishedFlow(message: string, before: string): string {
  if (!/[Ff]low/.test(message)) return NO_KEY;
  if (/[[{,]\s*$/.test(before.slice(-100))) return NO_CONTENT;
  return `did not find expected ',' or '${/seq/i.test(message) ? ']' : '}'}'`;
}

/** The next `:` that could end a key. */
function colonAfter(text: string, from: number): number | undefined {
  const colon = /:(?=\s|$)/g;
  colon.lastIndex = from;
  return colon.exec(text)?.index;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The line of an offset, from 0; an offset past the text has a line of its own. */
function countLines(text: string, until: number): number {
  let lines = until > text.length ? 1 : 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < until; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** A final line break begins a line of its own. */
const lastIsOpen = (text: string): number => (text === '' || text.endsWith('\n') ? 0 : 1);

/**
 * Keys that a map of a YAML document has twice, in the words of Kubernetes' strict reader (go-yaml 2, setMapIndex):
 * `line 3: key "a" already set in map`, with the line of the second value. Problems inside a value come before its key.
 */
export function yamlRepeatedKeys(root: unknown, lines: LineCounter): string[] {
  const found: string[] = [];
  look(root, lines, found);
  return found;
}

const HEAD = 'yaml: unmarshal errors:';

/** One error, as Kubernetes has it. */
export const repeatedKeysError = (lines: readonly string[]): string => [HEAD, ...lines].join('\n  ');

/** A warning for each line of such an error; any other problem is its own. */
export const warningsOf = (problem: string): readonly string[] =>
  problem.startsWith(HEAD) ? problem.split('\n  ').slice(1) : [problem];

/** For configuration files, whose problems are listed by field: the line stands in place of the field. */
export const repeatedKeyProblems = (lines: readonly string[]): FieldError[] =>
  lines.map((line) => {
    const colon = line.indexOf(': ');
    return { type: 'FieldValueDuplicate', field: line.slice(0, colon), message: line.slice(colon + 2) };
  });

/** Further warnings would be redundant. */
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

/** Undefined for merge keys (`<<`) and for keys that are no scalars. */
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
