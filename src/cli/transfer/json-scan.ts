import { isObject } from '../../object/json-values.ts';
import { isList } from './documents.ts';
import { allBut, byteSet, type FileBytes } from './file-bytes.ts';
import type { Item } from './yaml-scan.ts';

/** What the outermost fields of an object in JSON say. */
interface ScannedObject {
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  /** Undefined: it has no list of that name. */
  readonly items: readonly Item[] | undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

const NO_SPACES = allBut(byteSet(' \t\r\n'));
const IN_STRING = byteSet('"\\');
const IN_VALUE = byteSet('"{}[]');
/** The bytes that end a number or a word. */
const BEHIND_VALUE = byteSet('"{}[], \t\r\n');

/** Thrown where the bytes are no JSON of the usual form. */
const UNUSUAL = new Error('JSON of another form');
/** The longest kind or version. */
const LONGEST = 256;

/** Finds the types and the items of an object that begins here and is all there is. Undefined: it must be read to be sure. */
export function scanJson(bytes: FileBytes, from: number, to: number): ScannedObject | undefined {
  try {
    const scanner = new JsonScanner(bytes, from, to);
    const found = scanner.object(true);
    if (!scanner.isAtEnd()) return undefined;
    const { list } = found;
    return list === undefined || !isList(found.kind) || isFrame(bytes, { from, to }, list)
      ? found
      : undefined;
  } catch (error) {
    if (error === UNUSUAL) return undefined;
    throw error;
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Whether an object is a List, without its items. */
function isFrame(bytes: FileBytes, { from, to }: Range, list: Range): boolean {
  try {
    const value: unknown = JSON.parse(`${bytes.text(from, list.from)}[]${bytes.text(list.to, to)}`);
    return isObject(value) && isList(value.kind);
  } catch {
    return false;
  }
}

class JsonScanner {
  readonly #bytes: FileBytes;
  readonly #to: number;
  #at: number;

  constructor(bytes: FileBytes, from: number, to: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
  }

  isAtEnd(): boolean {
    return this.#next() < 0;
  }

  /** @throws UNUSUAL */
  object(mayHaveItems: boolean): ScannedObject & { readonly list: Range | undefined } {
    let apiVersion: string | undefined;
    let kind: string | undefined;
    let items: Item[] | undefined;
    let list: Range | undefined;
    this.#expect(OPEN_OBJECT);
    for (let code = this.#next(); code !== CLOSE_OBJECT; ) {
      const key = this.#string();
      this.#expect(COLON);
      code = this.#next();
      const from = this.#at;
      if (key === 'items' && mayHaveItems && code === OPEN_LIST) {
        if (items !== undefined) throw UNUSUAL;
        items = this.#items();
        list = { from, to: this.#at };
      } else if (key === 'items' && mayHaveItems && items !== undefined) throw UNUSUAL;
      else if (key === 'kind' && code === QUOTE) kind = this.#string();
      else if (key === 'apiVersion' && code === QUOTE) apiVersion = this.#string();
      else this.#skip();
      code = this.#behind(CLOSE_OBJECT);
    }
    this.#at += 1;
    return { apiVersion, kind, items, list };
  }

  #items(): Item[] {
    const items: Item[] = [];
    this.#expect(OPEN_LIST);
    for (let code = this.#next(); code !== CLOSE_LIST; code = this.#behind(CLOSE_LIST)) {
      const from = this.#at;
      const { apiVersion, kind } = this.#item(code);
      items.push({ apiVersion, kind, from, to: this.#at, line: undefined });
    }
    this.#at += 1;
    return items;
  }

  /** The types of an item are undefined where it must be read to be sure. */
  #item(code: number): Pick<ScannedObject, 'apiVersion' | 'kind'> {
    const from = this.#at;
    try {
      if (code === OPEN_OBJECT) return this.object(false);
    } catch (error) {
      if (error !== UNUSUAL) throw error;
      this.#at = from;
    }
    this.#skip();
    return { apiVersion: undefined, kind: undefined };
  }

  /** The next byte that is no space; -1 at the end. */
  #next(): number {
    this.#at = this.#bytes.seek(NO_SPACES, this.#at, this.#to);
    return this.#at < this.#to ? this.#bytes.at(this.#at) : -1;
  }

  #expect(code: number): void {
    if (this.#next() !== code) throw UNUSUAL;
    this.#at += 1;
  }

  /** What comes behind a value: the end, or behind a comma the next one. */
  #behind(end: number): number {
    const code = this.#next();
    if (code === end) return code;
    this.#expect(COMMA);
    const next = this.#next();
    if (next === end) throw UNUSUAL;
    return next;
  }

  /** A name or a type; '' for a long one. @throws UNUSUAL for one with escapes */
  #string(): string {
    const from = this.#at + 1;
    this.#expect(QUOTE);
    this.#endString();
    const to = this.#at - 1;
    if (to - from > LONGEST) return '';
    const text = this.#bytes.text(from, to);
    if (text.includes('\\')) throw UNUSUAL;
    return text;
  }

  /** From behind the quote that opens it. */
  #endString(): void {
    for (let at = this.#at; ; at += 2) {
      at = this.#bytes.seek(IN_STRING, at, this.#to);
      if (at >= this.#to) throw UNUSUAL;
      if (this.#bytes.at(at) === BACKSLASH) continue;
      this.#at = at + 1;
      return;
    }
  }

  /** Any value. */
  #skip(): void {
    let depth = 0;
    for (;;) {
      this.#at = this.#bytes.seek(depth === 0 ? BEHIND_VALUE : IN_VALUE, this.#at, this.#to);
      const code = this.#at < this.#to ? this.#bytes.at(this.#at) : -1;
      if (code === QUOTE) {
        this.#at += 1;
        this.#endString();
        if (depth === 0) return;
        continue;
      }
      const opens = code === OPEN_OBJECT || code === OPEN_LIST;
      if (code < 0 || (depth === 0 && !opens)) return;
      this.#at += 1;
      depth += opens ? 1 : -1;
      if (depth === 0) return;
    }
  }
}
