import { isInt64, toExact } from './exact-json.ts';
import { unquoted } from './json-path-quotes.ts';

/** An invalid path, or a path that does not fit a value. */
export class JsonPathError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonPathError';
  }
}

/** One step from values to other values. */
export type Step =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'slice'; readonly bounds: SliceBounds }
  | { readonly kind: 'filter'; readonly left: Action; readonly operator: string; readonly right: Action }
  | { readonly kind: 'integer'; readonly value: number | bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'union'; readonly parts: readonly Action[] }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' };

/** The content of one pair of braces. */
export type Action = readonly Step[];

/** Undefined: not given. */
export interface SliceBounds {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly step: number | undefined;
  /** A single index: `to` follows from `from`. */
  readonly isIndex: boolean;
}

/** Real paths are much shorter, and parsing one of a megabyte takes a second. */
const MAX_LETTERS = 4096;

/**
 * Parses texts and actions in braces as client-go's util/jsonpath/parser.go does, with its oddities: an empty name after a dot
 * is the field '', and a quoted name is parsed as a path again, so that a dot in it needs a backslash.
 * @throws JsonPathError
 */
export function parseTemplate(text: string): Action[] {
  if (text.length > MAX_LETTERS) throw new JsonPathError(`a path may have ${MAX_LETTERS} letters`);
  const actions: Action[] = [];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf('{', at);
    const plain = text.slice(at, open < 0 ? text.length : open);
    if (plain !== '') actions.push([{ kind: 'text', text: plain }]);
    if (open < 0) break;
    const reader = new ActionReader(text, open + 1);
    actions.push(reader.read());
    at = reader.at;
  }
  return actions;
}

function parseAction(text: string): Action {
  return parseTemplate(`{${text}}`)[0] ?? [];
}

const TERMINATOR = /[ \t\r\n.,[\]$@{}]/;
const DIGIT = /\p{Nd}/u;
const NAME_LETTER = /[_\p{L}\p{Nd}]/u;
const COMPARISON = /^([^!<>=]+)([!<>=]+)(.+?)$/s;
const QUOTED_KEY = /^'([^']*)'$/;
/** As a path it is a field. */
const PLAIN_NAME = /^[\w-]+$/;
const SLICE = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;

class ActionReader {
  readonly #text: string;
  readonly #steps: Step[] = [];
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  /** Reads up to the closing brace of the action. */
  read(): Action {
    while (!this.#isAt('}')) this.#step();
    this.at += 1;
    return this.#steps;
  }

  #isAt(text: string): boolean {
    return this.#text.startsWith(text, this.at);
  }

  /** The character here, of one or two code units; '' at the end. */
  #peek(): string {
    const code = this.#text.codePointAt(this.at);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  #step(): void {
    const letter = this.#peek();
    if (letter === '' || letter === '\r' || letter === '\n') throw new JsonPathError('unclosed action');
    if (this.#isAt('[?(')) this.#filter();
    else if (this.#isAt('..')) this.#recursive();
    else if (letter === '[') this.#brackets();
    else if (letter === '.') this.#dot();
    else if (letter === ' ' || letter === '@' || letter === '$') this.at += 1;
    else if (letter === '"' || letter === "'") this.#quote(letter);
    else if (letter === '+' || letter === '-' || DIGIT.test(letter)) this.#number();
    else if (NAME_LETTER.test(letter)) this.#identifier();
    else throw new JsonPathError(`unrecognized character in action: ${JSON.stringify(letter)}`);
  }

  #dot(): void {
    this.at += 1;
    this.#field();
  }

  #recursive(): void {
    if (this.#steps.at(-1)?.kind === 'recursive')
      throw new JsonPathError('invalid multiple recursive descent');
    this.at += 2;
    this.#steps.push({ kind: 'recursive' });
    if (NAME_LETTER.test(this.#peek())) this.#field();
  }

  #field(): void {
    const start = this.at;
    while (this.at < this.#text.length && !TERMINATOR.test(this.#text.charAt(this.at)))
      this.at += this.#text.charAt(this.at) === '\\' ? 2 : 1;
    const name = this.#text.slice(start, this.at);
    this.#steps.push(
      name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') },
    );
  }

  #identifier(): void {
    const start = this.at;
    while (this.at < this.#text.length && !TERMINATOR.test(this.#text.charAt(this.at))) this.at += 1;
    const name = this.#text.slice(start, this.at);
    this.#steps.push(
      name === 'true' || name === 'false'
        ? { kind: 'boolean', value: name === 'true' }
        : { kind: 'identifier', name },
    );
  }

  #number(): void {
    const start = this.at;
    this.at += 1;
    while (/[.\p{Nd}]/u.test(this.#peek())) this.at += this.#peek().length;
    const text = this.#text.slice(start, this.at);
    const integer = /^[+-]?\d+$/.test(text) && text.length < 32 ? BigInt(text.replace('+', '')) : undefined;
    if (integer !== undefined && isInt64(integer)) {
      this.#steps.push({ kind: 'integer', value: toExact(integer) });
      return;
    }
    const value = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isFinite(value)) throw new JsonPathError(`cannot parse number ${text}`);
    this.#steps.push({ kind: 'float', value });
  }

  #quote(quote: string): void {
    const start = this.at;
    for (this.at += 1; ; this.at += 1) {
      const letter = this.#text.charAt(this.at);
      if (letter === '' || letter === '\n') throw new JsonPathError('unterminated quoted string');
      if (letter === quote && this.#text.charAt(this.at - 1) !== '\\') break;
    }
    this.at += 1;
    const text = this.#text.slice(start, this.at);
    const value = unquoted(text);
    if (value === undefined) throw new JsonPathError(`unquote string ${text} error invalid syntax`);
    this.#steps.push({ kind: 'text', text: value });
  }

  #brackets(): void {
    const end = this.#text.indexOf(']', this.at);
    const given = this.#text.slice(this.at + 1, Math.max(end, this.at + 1));
    if (end < 0 || given.includes('\n')) throw new JsonPathError('unterminated array');
    this.at = end + 1;
    this.#steps.push(...selectorsIn(given));
  }

  #filter(): void {
    const start = this.at + 3;
    const end = this.#endOfFilter(start);
    if (this.#text.charAt(end + 1) !== ']') throw new JsonPathError('unclosed array expect ]');
    this.at = end + 2;
    const condition = this.#text.slice(start, end);
    const compared = COMPARISON.exec(condition);
    if (compared === null) {
      this.#steps.push({ kind: 'filter', left: parseAction(condition), operator: 'exists', right: [] });
      return;
    }
    const [, left = '', operator = '', right = ''] = compared;
    this.#steps.push({ kind: 'filter', left: parseAction(left), operator, right: parseAction(right) });
  }

  /** The closing parenthesis, outside of quotes; only the first kind of quote in the filter counts. */
  #endOfFilter(start: number): number {
    let quote: string | undefined;
    let isClosed = false;
    for (let at = start; at < this.#text.length; at += 1) {
      const letter = this.#text.charAt(at);
      if (letter === '\n') break;
      if (letter === ')' && (quote === undefined || isClosed)) return at;
      if (letter !== '"' && letter !== "'") continue;
      if (quote === undefined) quote = letter;
      else if (letter === quote && this.#text.charAt(at - 1) !== '\\') isClosed = true;
    }
    throw new JsonPathError('unterminated filter');
  }
}

/** Reads the content of brackets: a union, a quoted name, an index or a slice. */
function selectorsIn(text: string): Action {
  if (text.includes(',')) {
    const parts = text.split(',').map(trimmed);
    return [
      {
        kind: 'union',
        parts: parts.map((part) => (part.startsWith('?(') ? parseAction(`[${part}]`) : selectorsIn(part))),
      },
    ];
  }
  const [, quoted] = QUOTED_KEY.exec(text) ?? [];
  if (quoted === undefined) return [{ kind: 'slice', bounds: parseBounds(text === '*' ? ':' : text) }];
  return PLAIN_NAME.test(quoted) ? [{ kind: 'field', name: quoted }] : parseAction(`.${quoted}`);
}

const trimmed = (text: string): string => text.replace(/^ +/, '').replace(/ +$/, '');

/** `2`, `-1`, `1:3`, `::2` */
function parseBounds(text: string): SliceBounds {
  const match = SLICE.exec(text);
  if (match === null) throw new JsonPathError(`invalid array index ${text}`);
  const [, from = '', to, step = ''] = match;
  const first = toIndex(from);
  return {
    from: first,
    to: to === undefined ? (first ?? 0) + 1 : toIndex(to.slice(1)),
    step: toIndex(step.slice(1)),
    isIndex: to === undefined,
  };
}

function toIndex(text: string): number | undefined {
  if (text === '') return undefined;
  const index = text === '-' ? Number.NaN : Number(text);
  if (!Number.isSafeInteger(index)) throw new JsonPathError(`array index ${text} is not a number`);
  return index;
}
