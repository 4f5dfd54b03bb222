/**
 * What is wrong with YAML, as Kubernetes' reader says it (go-yaml 2, which is libyaml): clients know those sentences, and
 * the words of the parser used here are nobody's business. The parsers divide mistakes differently, so that a rare one may be
 * told as its neighbour.
 */

/** A mistake as the parser reports it. */
export interface YamlMistake {
  readonly code: string;
  readonly message: string;
  /** Offsets in the text. */
  readonly pos: readonly [number, number];
}

/** `yaml: line 2: mapping values are not allowed in this context` */
export function yamlSyntaxError(mistakes: readonly YamlMistake[], text: string): string {
  const [first] = mistakes;
  if (first === undefined) return 'yaml: unknown problem parsing YAML content';
  const { found, problem, at } = classify(first, mistakes[1], text);
  const line = countLines(text, at) + (at >= text.length && found === 'by parser' ? lastIsOpen(text) : 0);
  // A scanner has counted the line it stands in, a parser has not; of the first one neither says anything.
  const shown = line === 0 || found === 'by parser' ? line : line + 1;
  return `yaml: ${shown === 0 ? '' : `line ${shown}: `}${problem}`;
}

/** For what is wrong although it can be parsed. */
export function yamlValueError(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : '';
  const anchor = /^Unresolved alias .*: (.*)$/s.exec(text)?.[1];
  if (anchor !== undefined) return `yaml: unknown anchor '${anchor}' referenced`;
  if (text.startsWith('Excessive alias count')) return 'yaml: document contains excessive aliasing';
  if (text.startsWith('Merge sources'))
    return 'yaml: map merge requires map or sequence of maps as the value';
  return text.startsWith('json: ') ? text : 'yaml: unknown problem parsing YAML content';
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

/** `before`: the text up to where a list or map within brackets was left. */
function unfinishedFlow(message: string, before: string): string {
  if (!/[Ff]low/.test(message)) return NO_KEY;
  if (/[[{,]\s*$/.test(before.slice(-100))) return NO_CONTENT;
  return `did not find expected ',' or '${/seq/i.test(message) ? ']' : '}'}'`;
}

/** Where the next `:` is that could make what stands before it a key. */
function colonAfter(text: string, from: number): number | undefined {
  const colon = /:(?=\s|$)/g;
  colon.lastIndex = from;
  return colon.exec(text)?.index;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** Of the line in which an offset is, from 0; behind the last line there is another. */
function countLines(text: string, until: number): number {
  let lines = until > text.length ? 1 : 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < until; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** The end of the text is in a line of its own. */
const lastIsOpen = (text: string): number => (text === '' || text.endsWith('\n') ? 0 : 1);
