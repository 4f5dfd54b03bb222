import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { plainValue } from './plain-value.ts';

/**
 * Reads YAML in the style that kubectl and `export` write: block style, with plain, quoted and folded texts, and blocks of lines. It
 * gives what the library gives (yaml-text.ts) in a thirtieth of the time, or undefined for a document with anything else: flow
 * style, anchors, tags, dates, repeated keys, all mistakes. The library then reads that document, and has the words for mistakes.
 */
export function readBlockYaml(text: string): JsonValue | undefined {
  if (FOREIGN.test(text)) return undefined;
  try {
    return new BlockReader(text).read();
  } catch (error) {
    if (error === UNUSUAL) return undefined;
    throw error;
  }
}

/** Tabs, other line breaks, and what must be escaped. */
const FOREIGN = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
/** Thrown for what this reader leaves to the library. One for all, because a trace for each takes time. */
const UNUSUAL = new Error('YAML in another style');
/** Less than documents may nest, so that the library refuses the others. */
const MAX_LEVELS = 200;
/** The library refuses longer ones. */
const MAX_KEY_CHARS = 1000;

/** A key or a text in quotes. */
interface Quoted {
  readonly text: string;
  /** The position behind the closing quote. */
  readonly end: number;
}

/**
 * `indent` is always that of the collection that a value is in, and `from` where an entry, an item or a value begins. A list may
 * begin behind the dash of another, and a map behind any dash; both then have the indent of that column.
 */
class BlockReader {
  readonly #text: string;
  /** Where the next line begins. */
  #at = 0;
  #levels = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): JsonValue {
    const indent = this.#seek();
    const value = this.#collection(indent);
    if (this.#seek() >= 0) throw UNUSUAL;
    return value;
  }

  /** The indent of the next line, behind empty ones and comments; -1 at the end. */
  #seek(): number {
    for (;;) {
      if (this.#at >= this.#text.length) return -1;
      const from = this.#firstOf(this.#at);
      const code = this.#text.charCodeAt(from);
      if (code !== HASH && !(code === LINE_END && from === this.#at)) return from - this.#at;
      this.#at = this.#endOf(from) + 1;
    }
  }

  /** Returns the position behind the spaces that a line begins with. */
  #firstOf(line: number): number {
    let at = line;
    while (this.#text.charCodeAt(at) === SPACE) at += 1;
    return at;
  }

  #endOf(from: number): number {
    const end = this.#text.indexOf('\n', from);
    return end < 0 ? this.#text.length : end;
  }

  /** On the next line. */
  #collection(indent: number): JsonValue {
    if (indent < 0) throw UNUSUAL;
    const from = this.#at + indent;
    return this.#isItem(from) ? this.#sequence(indent, from) : this.#mapping(indent, from);
  }

  #isItem(from: number): boolean {
    return this.#text.charCodeAt(from) === DASH && this.#text.charCodeAt(from + 1) === SPACE;
  }

  #sequence(indent: number, first: number): JsonValue[] {
    this.#enter();
    const items: JsonValue[] = [];
    let from = first;
    do {
      items.push(this.#item(indent, from + 2));
      const next = this.#seek();
      from = next === indent ? this.#at + indent : -1;
    } while (from >= 0 && this.#isItem(from));
    this.#levels -= 1;
    return items;
  }

  #item(indent: number, from: number): JsonValue {
    if (this.#isItem(from)) return this.#sequence(indent + 2, from);
    if (this.#keyAt(from) !== undefined) return this.#mapping(indent + 2, from);
    // Readers differ on what the number of a block in a list counts from.
    if (this.#text.charCodeAt(from) === PIPE && isDigit(this.#text.charCodeAt(from + 1))) throw UNUSUAL;
    return this.#scalar(indent, from);
  }

  #mapping(indent: number, first: number): JsonObject {
    this.#enter();
    const object: JsonObject = {};
    let from = first;
    do {
      const key = this.#keyAt(from);
      if (key === undefined || Object.hasOwn(object, key.text) || UNUSUAL_KEYS.has(key.text)) throw UNUSUAL;
      object[key.text] = this.#value(indent, key.end + 1);
      const next = this.#seek();
      from = next === indent ? this.#at + indent : -1;
    } while (from >= 0);
    this.#levels -= 1;
    return object;
  }

  #enter(): void {
    this.#levels += 1;
    if (this.#levels > MAX_LEVELS) throw UNUSUAL;
  }

  /** The key whose colon is at its end; undefined: the line has none. */
  #keyAt(from: number): Quoted | undefined {
    const code = this.#text.charCodeAt(from);
    const lineEnd = this.#endOf(from);
    if (code === QUOTE || code === APOSTROPHE) {
      const { end, text } = this.#quoted(from, Number.MAX_SAFE_INTEGER, lineEnd) ?? { end: -1, text: '' };
      return end >= 0 && this.#isColon(end, lineEnd) ? { end, text } : undefined;
    }
    for (let end = this.#text.indexOf(':', from); end >= 0 && end < lineEnd; ) {
      if (this.#isColon(end, lineEnd)) {
        const text = plainValue(this.#text.slice(from, end));
        if (typeof text !== 'string' || text.length > MAX_KEY_CHARS) throw UNUSUAL;
        return { text, end };
      }
      end = this.#text.indexOf(':', end + 1);
    }
    return undefined;
  }

  #isColon(at: number, lineEnd: number): boolean {
    return (
      this.#text.charCodeAt(at) === COLON &&
      (at + 1 === lineEnd || this.#text.charCodeAt(at + 1) === SPACE) &&
      at < lineEnd
    );
  }

  /** Reads the value behind the colon of a key. */
  #value(indent: number, from: number): JsonValue {
    if (this.#text.charCodeAt(from) === SPACE) return this.#scalar(indent, from + 1);
    this.#at = from + 1;
    const next = this.#seek();
    if (next > indent) return this.#collection(next);
    // The items of a list may have the indent of its key.
    const at = this.#at + indent;
    return next === indent && this.#isItem(at) ? this.#sequence(indent, at) : null;
  }

  #scalar(indent: number, from: number): JsonValue {
    switch (this.#text.charCodeAt(from)) {
      case QUOTE:
      case APOSTROPHE: {
        const quoted = this.#quoted(from, indent, this.#text.length);
        if (quoted === undefined || this.#endOf(quoted.end) !== quoted.end) throw UNUSUAL;
        this.#at = quoted.end + 1;
        return quoted.text;
      }
      case PIPE:
        return this.#lines(indent, from);
      case OPEN_OBJECT:
        this.#take(from, '{}');
        return {};
      case OPEN_LIST:
        this.#take(from, '[]');
        return [];
      default:
        return this.#plain(indent, from);
    }
  }

  #take(from: number, expected: string): void {
    const end = this.#endOf(from);
    if (end - from !== expected.length || !this.#text.startsWith(expected, from)) throw UNUSUAL;
    this.#at = end + 1;
  }

  /** Reads a text without quotes, perhaps over several lines. */
  #plain(indent: number, from: number): JsonValue {
    let end = this.#endOf(from);
    const lines = [this.#text.slice(from, end)];
    for (;;) {
      this.#at = end + 1;
      const next = this.#firstOf(this.#at);
      const code = this.#text.charCodeAt(next);
      if (next - this.#at <= indent || next >= this.#text.length) break;
      if (code === HASH || code === LINE_END || this.#text.charCodeAt(end - 1) === SPACE) throw UNUSUAL;
      end = this.#endOf(next);
      lines.push(this.#text.slice(next, end));
    }
    const value = plainValue(lines.join(' '));
    if (value === undefined) throw UNUSUAL;
    return value;
  }

  /** Undefined: the quote is not closed before `limit`. */
  #quoted(from: number, indent: number, limit: number): Quoted | undefined {
    const isDouble = this.#text.charCodeAt(from) === QUOTE;
    const end = isDouble ? this.#endOfDouble(from) : this.#endOfSingle(from);
    if (end < 0 || end >= limit) return undefined;
    const raw = this.#text.slice(from + 1, end);
    const line = raw.includes('\n') ? unfold(raw, indent) : raw;
    const text = isDouble ? withoutEscapes(line) : line.includes("'") ? line.replaceAll("''", "'") : line;
    return { text, end: end + 1 };
  }

  #endOfDouble(from: number): number {
    for (let at = this.#text.indexOf('"', from + 1); at >= 0; at = this.#text.indexOf('"', at + 1)) {
      let slashes = 0;
      while (this.#text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
      if (slashes % 2 === 0) return at;
    }
    return -1;
  }

  #endOfSingle(from: number): number {
    for (let at = this.#text.indexOf("'", from + 1); at >= 0; at = this.#text.indexOf("'", at + 2))
      if (this.#text.charCodeAt(at + 1) !== APOSTROPHE) return at;
    return -1;
  }

  /** A block of lines: `|`, `|-`, `|+`, `|2`. */
  #lines(indent: number, from: number): string {
    const headEnd = this.#endOf(from);
    const [head, digit, chomp] = BLOCK_HEAD.exec(this.#text.slice(from, headEnd)) ?? [];
    this.#at = headEnd + 1;
    const inner = digit === undefined ? this.#firstOf(this.#at) - this.#at : indent + Number(digit);
    if (head === undefined || inner <= indent) throw UNUSUAL;
    const lines: string[] = [];
    let filled = 0;
    while (this.#at < this.#text.length) {
      const end = this.#endOf(this.#at);
      const first = this.#firstOf(this.#at);
      if (first - this.#at < inner && first < end) break;
      // A line of spaces alone, or without an end.
      if ((first === end && end > this.#at) || end === this.#text.length) throw UNUSUAL;
      lines.push(first === end ? '' : this.#text.slice(this.#at + inner, end));
      if (first < end) filled = lines.length;
      this.#at = end + 1;
    }
    if (filled === 0) throw UNUSUAL;
    if (chomp === '+') return `${lines.join('\n')}\n`;
    return lines.slice(0, filled).join('\n') + (chomp === '-' ? '' : '\n');
  }
}

const BLOCK_HEAD = /^\|([1-9])?([-+])?$/;
/** A merge, and a key that is no field in JavaScript. */
const UNUSUAL_KEYS: ReadonlySet<string> = new Set(['<<', '__proto__']);

const SPACE = 0x20;
const LINE_END = 0x0a;
const HASH = 0x23;
const DASH = 0x2d;
const COLON = 0x3a;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const PIPE = 0x7c;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Joins the lines of a text in quotes, whose later lines are indented more than what it is in. */
function unfold(raw: string, indent: number): string {
  const [first = '', ...others] = raw.split('\n');
  const lines = [first];
  for (const line of others) {
    const inner = line.replace(/^ +/, '');
    const pad = line.length - inner.length;
    if (pad <= indent || inner === '' || /[ \\]$/.test(lines.at(-1) ?? '')) throw UNUSUAL;
    lines.push(inner);
  }
  return lines.join(' ');
}

const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/g;

const NAMED: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
const MAX_CODE = 0x10ffff;

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, byte?: string, short?: string, long?: string, name?: string) => {
    const code = Number.parseInt(byte ?? short ?? long ?? '', 16);
    const meant = name === undefined ? undefined : NAMED.get(name);
    if (meant !== undefined) return meant;
    if (Number.isNaN(code) || code > MAX_CODE) throw UNUSUAL;
    return String.fromCodePoint(code);
  });
}
