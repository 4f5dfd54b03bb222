import { type Schema, someSchema } from './schema-node.ts';

/** The total size of all patterns of some schemas; a repeated pattern counts once. */
export function sizeOfPatterns(schemas: Iterable<Schema>): number {
  const patterns = new Set<string>();
  const collect = ({ pattern = '' }: Schema): boolean => {
    patterns.add(pattern);
    return false;
  };
  for (const schema of schemas) someSchema(schema, collect);
  let size = 0;
  for (const pattern of patterns) size += sizeOfPattern(pattern);
  return size;
}

/**
 * Estimates the instructions of a regular expression, rather too many than too few: a repeat copies its content,
 * `((a{9}){9}){9}` 729. Compiling takes a microsecond per instruction, so this runs first.
 */
export function sizeOfPattern(pattern: string): number {
  const outer: Part[] = [];
  let part: Part = { before: 0, last: 0 };
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at] ?? '';
    if (char === '(') {
      outer.push(part);
      part = { before: 0, last: 0 };
      at += 1;
    } else if (char === ')') {
      const size = part.before + part.last + GROUP;
      const around = outer.pop() ?? { before: 0, last: 0 };
      part = { before: around.before + around.last, last: size };
      at += 1;
    } else if ('*+?|'.includes(char)) {
      part.last += 1;
      at += 1;
    } else {
      const { length: taken, copies, optional } = repeatAt(pattern, at);
      if (taken > 0) part.last = part.last * copies + optional;
      else part = { before: part.before + part.last, last: weightAt(pattern, at) };
      at += taken > 0 ? taken : atomLength(pattern, at);
    }
  }
  return outer.reduce((sum, { before, last }) => sum + before + last, part.before + part.last);
}

/** The content of a group: all atoms but the last, and the last one, which a repeat may follow. */
interface Part {
  before: number;
  last: number;
}

const GROUP = 2;
/** A class of Unicode has hundreds of ranges. */
const UNICODE_CLASS = 20;

const REPEAT = /\{(\d+)(?:(,)(\d*))?\}/y;

/** `optional`: copies that may be skipped, each with one more instruction. */
interface Repeat {
  readonly length: number;
  readonly copies: number;
  readonly optional: number;
}

const NO_REPEAT: Repeat = { length: 0, copies: 0, optional: 0 };

function repeatAt(pattern: string, at: number): Repeat {
  REPEAT.lastIndex = at;
  const [text = '', least = '', comma, most = ''] = REPEAT.exec(pattern) ?? [];
  if (text === '') return NO_REPEAT;
  if (comma === undefined) return { length: text.length, copies: Number(least), optional: 0 };
  const copies = most === '' ? Number(least) + 1 : Math.max(Number(most), Number(least));
  return { length: text.length, copies, optional: copies - Number(least) };
}

const ESCAPE = /\\(?:[pP](?:\{[^}]*\}|.)?|[^pP])?/suy;

function atomLength(pattern: string, at: number): number {
  const char = pattern[at];
  if (char === '\\') {
    ESCAPE.lastIndex = at;
    return ESCAPE.exec(pattern)?.[0].length ?? 1;
  }
  return char === '[' ? classLength(pattern, at) : 1;
}

/** A bracket at the start of a class is a literal. */
function classLength(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === '^') at += 1;
  if (pattern[at] === ']') at += 1;
  while (at < pattern.length && pattern[at] !== ']') {
    const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at + 2) : -1;
    at = named < 0 ? at + (pattern[at] === '\\' ? 2 : 1) : named + 2;
  }
  return at + 1 - start;
}

function weightAt(pattern: string, at: number): number {
  if (pattern[at] !== '\\' && pattern[at] !== '[') return 1;
  const text = pattern.slice(at, at + atomLength(pattern, at));
  return /\\[pP]/.test(text) ? UNICODE_CLASS : 1;
}
