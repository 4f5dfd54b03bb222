/**
 * Texts in YAML as Kubernetes writes them (libyaml in goyaml.v2): without quotes where that reads back, else in quotes; several
 * lines as a block; lines of more than 80 characters continue on the next line.
 */

interface Place {
  /** The indent of continued lines. */
  readonly indent: number;
  /** Characters on the line before the text. */
  readonly column: number;
}

const MAX_COLUMN = 80;

/** Nearly all texts of objects: names, kinds, paths, images. None begins like a number. */
const SIMPLE = /^[A-Za-z_/][A-Za-z0-9_/.-]*$/;

/** A text that is a value. The caller ends the line, also after a block. */
export function toYamlText(text: string, place: Place): string {
  if (SIMPLE.test(text)) return readsAsOther(text) ? `"${text}"` : text;
  const shape = analyze(text);
  if (shape.lines && shape.block) return toBlock(text, place.indent);
  if (shape.lines || readsAsOther(text)) return toDoubleQuoted(text, place);
  if (shape.plain) return foldPlain(text, place);
  return shape.quotable ? toSingleQuoted(text, place) : toDoubleQuoted(text, place);
}

/** Longer keys follow a question mark. */
const MAX_KEY_BYTES = 128;

/** A key on the line of its value; undefined for a key that needs lines of its own. */
export function toYamlKey(text: string): string | undefined {
  if (text.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(text) > MAX_KEY_BYTES) return undefined;
  if (SIMPLE.test(text)) return readsAsOther(text) ? `"${text}"` : text;
  const { lines, plain, quotable } = analyze(text);
  if (lines) return undefined;
  if (readsAsOther(text)) return toDoubleQuoted(text, NOT_FOLDED);
  if (plain) return text;
  return quotable ? toSingleQuoted(text, NOT_FOLDED) : toDoubleQuoted(text, NOT_FOLDED);
}

const NOT_FOLDED: Place = { indent: 0, column: Number.NEGATIVE_INFINITY };

interface Shape {
  readonly lines: boolean;
  /** Needs no quotes. */
  readonly plain: boolean;
  /** Can be in single quotes. */
  readonly quotable: boolean;
  /** Can be a block of lines. */
  readonly block: boolean;
}

/** Characters to escape: unprintable ones, line breaks that only some readers know, and those beyond 16 bits. */
const SPECIAL = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
/** At the beginning of a text these would start another construct. */
const INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?:[ \n]|$)|---|\.\.\.)/;
/** In the middle of a text these would end it: `: `, ` #`. */
const ENDING = /:(?:[ \n]|$)|[ \n]#/;

function analyze(text: string): Shape {
  const lines = text.includes('\n');
  if (SPECIAL.test(text)) return { lines, plain: false, quotable: false, block: false };
  const edged = text.startsWith(' ') || text.endsWith(' ');
  const plain = !lines && !edged && !INDICATOR.test(text) && !ENDING.test(text);
  const block = lines && !text.endsWith(' ') && !text.includes(' \n');
  return { lines, plain, quotable: !lines, block };
}

/** `|` and the lines. `-` and `+` describe the end of the text; a number that the first line begins with a space. */
function toBlock(text: string, indent: number): string {
  const pad = ' '.repeat(indent);
  const hint = text.startsWith(' ') || text.startsWith('\n') ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  // Empty lines have no spaces.
  return `|${hint}${chomp}\n${body.replace(/^(?!\n|$)/gm, pad)}`;
}

const foldPlain = (text: string, { indent, column }: Place): string =>
  column + text.length <= MAX_COLUMN ? text : fold(text, { indent, column, isEscaping: false, inner: 0 });

function toSingleQuoted(text: string, { indent, column }: Place): string {
  const inner = text.includes("'") ? text.replaceAll("'", "''") : text;
  const folded = fold(inner, { indent, column: column + 1, isEscaping: false, inner: 1 });
  return `'${folded}'`;
}

function toDoubleQuoted(text: string, { indent, column }: Place): string {
  const folded = fold(escapeText(text), { indent, column: column + 1, isEscaping: true, inner: 1 });
  return `"${folded}"`;
}

interface Folding extends Place {
  /** A backslash keeps the spaces that a line begins with. */
  readonly isEscaping: boolean;
  /** A text is not folded this close to its ends. */
  readonly inner: number;
}

/** Lines end at the first single space behind the 80th character. */
function fold(text: string, { indent, column, isEscaping, inner }: Folding): string {
  if (column + text.length <= MAX_COLUMN) return text;
  const lineEnd = `\n${' '.repeat(indent)}`;
  let folded = '';
  let from = 0;
  let begin = column;
  for (;;) {
    let at = text.indexOf(' ', Math.max(from + MAX_COLUMN + 1 - begin, inner));
    while (at >= 0 && !endsLine(text, at, isEscaping)) at = text.indexOf(' ', at + 1);
    if (at < 0 || at >= text.length - inner) return folded + text.slice(from);
    folded += text.slice(from, at) + lineEnd;
    begin = indent;
    if (text.charCodeAt(at + 1) === SPACE) {
      folded += '\\';
      begin += 1;
    }
    from = at + 1;
  }
}

const SPACE = 0x20;

const endsLine = (text: string, at: number, isEscaping: boolean): boolean =>
  text.charCodeAt(at - 1) !== SPACE && (isEscaping || text.charCodeAt(at + 1) !== SPACE);

/** Texts that JSON and YAML escape alike: nearly all, and JSON.stringify is ten times as fast. */
const JSON_WILL_DO = /^[\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

const NAMED: ReadonlyMap<number, string> = new Map([
  [0x00, '0'],
  [0x07, 'a'],
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0b, 'v'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x1b, 'e'],
  [0x22, '"'],
  [0x5c, '\\'],
  [0x85, 'N'],
  [0x2028, 'L'],
  [0x2029, 'P'],
]);

function escapeText(text: string): string {
  if (JSON_WILL_DO.test(text)) return JSON.stringify(text).slice(1, -1);
  // Written into bytes, because joining a million pieces of text takes half a second.
  const bytes = Buffer.allocUnsafe(text.length * MAX_ESCAPED);
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < LOW_CODES) {
      const from = code * MAX_ESCAPED;
      const end = from + (LOW_LENGTHS[code] ?? 0);
      for (let digit = from; digit < end; digit += 1) bytes[at++] = LOW_BYTES[digit] ?? 0;
      continue;
    }
    const whole = text.codePointAt(index) ?? 0;
    at += bytes.write(escapeHigh(whole), at);
    if (whole > 0xffff) index += 1;
  }
  return bytes.toString('utf8', 0, at);
}

const toHex = (code: number, width: number): string => code.toString(16).toUpperCase().padStart(width, '0');

/** The most bytes that a code unit takes. */
const MAX_ESCAPED = 6;

/** The escaped forms of the lowest codes, {@link MAX_ESCAPED} bytes for each: six times as fast as a table of texts. */
const LOW_CODES = 0xa0;
const LOW_BYTES = Buffer.alloc(LOW_CODES * MAX_ESCAPED);
const LOW_LENGTHS = Uint8Array.from({ length: LOW_CODES }, (_, code) =>
  LOW_BYTES.write(escapeLow(code), code * MAX_ESCAPED),
);

function escapeLow(code: number): string {
  const name = NAMED.get(code);
  if (name !== undefined) return `\\${name}`;
  return code >= 0x20 && code <= 0x7e ? String.fromCharCode(code) : `\\x${toHex(code, 2)}`;
}

function escapeHigh(code: number): string {
  // Half of a surrogate pair has no form in UTF-8.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code > 0xffff) return `\\U${toHex(code, 8)}`;
  const name = NAMED.get(code);
  if (name !== undefined) return `\\${name}`;
  const text = String.fromCharCode(code);
  return SPECIAL.test(text) ? `\\u${toHex(code, 4)}` : text;
}

/**
 * Whether a YAML reader would read the text without quotes as a number, a date, a boolean or null. The rules are those of YAML
 * 1.1 as Kubernetes has them (sigs.k8s.io/yaml), and some of other readers.
 */
function readsAsOther(text: string): boolean {
  const first = text.charCodeAt(0);
  if (text.length <= MAX_WORD && WORDS.has(text)) return true;
  if (!(first >= 0x30 && first <= 0x39) && first !== PLUS && first !== MINUS && first !== DOT) return false;
  return NUMBER.test(text) || BASED_INTEGER.test(text) || BASE_60.test(text) || isTimestamp(text);
}

const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;

const inAllCases = (...words: string[]): string[] =>
  words.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()]);

const WORDS: ReadonlySet<string> = new Set([
  '',
  '~',
  '<<',
  ...inAllCases('y', 'yes', 'true', 'on', 'n', 'no', 'false', 'off', 'null'),
  ...['.nan', '.NaN', '.NAN'],
  ...['', '+', '-'].flatMap((sign) => ['.inf', '.Inf', '.INF'].map((word) => sign + word)),
]);
const MAX_WORD = 5;

/** Integers and floating point numbers; digits may be set off by underscores. */
const NUMBER = /^[-+]?(\._*[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)(_*[eE][-+]?[0-9_]+)?$/;
const BASED_INTEGER = /^[-+]?0(b[01_]+|o[0-7_]+|x[0-9a-f_]+)$/i;
/** Hours, minutes and seconds, which YAML 1.1 reads as a number. */
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

const DATE = /^\d{4}-(\d\d?)-(\d\d?)(?:[Tt ].*)?$/;
const TIMESTAMP =
  /^\d{4}-\d\d?-\d\d?(?:[Tt]\d\d?:\d\d?:\d\d?(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| +\d\d?:\d\d?:\d\d?(?:[.,]\d+)?)?$/;

function isTimestamp(text: string): boolean {
  const date = DATE.exec(text);
  if (date === null || !TIMESTAMP.test(text)) return false;
  const [month, day] = [Number(date[1]), Number(date[2])];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
