import type { JsonValue } from '../api/object-meta.ts';
import { goFloat } from '../util/go-float.ts';
import { goEscaped } from './go-json.ts';

/**
 * Values in messages as Go writes them, which clients and their tests compare word by word (apimachinery,
 * util/validation/field: texts with %q, numbers and booleans with %v, everything else with %#v).
 */

/** A value that is written already: in Go's notation, and as Go's JSON has it. */
export class GoText {
  readonly text: string;
  readonly json: string;

  constructor(text: string, json: string) {
    this.text = text;
    this.json = json;
  }

  toString(): string {
    return this.text;
  }
}

export const goText = (text: string, json = text): GoText => new GoText(text, json);

/** A value that is absent is the text "null". A list of strings is written as in Go; any other list or object as JSON, because its Go type is unknown here. */
export function goValue(value: unknown): string {
  if (value instanceof GoText) return value.text;
  if (isNil(value)) return '"null"';
  switch (typeof value) {
    case 'string':
      return goQuote(value);
    case 'number':
      return goNumber(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return isStrings(value) ? goList('string', value).text : JSON.stringify(value);
  }
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** The same value as JSON where messages since 1.34 show it so; undefined where Go's notation is no different. */
export function goValueAsJson(value: unknown): string | undefined {
  if (value instanceof GoText) return value.json === value.text ? undefined : value.json;
  return isNil(value) || isStrings(value) ? shownJson(value) : undefined;
}

const isNil = (value: unknown): value is null | undefined => value === undefined || value === null;

/** As goJson writes it, of a value that may hold texts that are written already, large numbers, and fields that are undefined. */
export function shownJson(value: unknown): string {
  if (value instanceof GoText) return value.json;
  if (isNil(value)) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return goEscaped(JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(shownJson).join(',')}]`;
  const entries = sortedEntries(value).map(([key, entry]) => `${shownJson(key)}:${shownJson(entry)}`);
  return `{${entries.join(',')}}`;
}

/** `[]core.IPFamily{"IPv4", "IPv6"}` */
export function goList(type: string, values: unknown): GoText {
  const list = Array.isArray(values) ? `{${values.map(goValue).join(', ')}}` : '(nil)';
  return goText(`[]${type}${list}`, shownJson(values));
}

/** `map[string]string{"a":"b"}` */
export function goStrings(map: object | undefined): GoText {
  return goText(`map[string]string${map === undefined ? '(nil)' : `{${goEntries(map)}}`}`, shownJson(map));
}

const sortedEntries = (map: object): [string, unknown][] =>
  Object.entries(map)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));

const goEntries = (
  map: object,
  write: (value: unknown) => string = (value) => goQuote(String(value)),
): string =>
  sortedEntries(map)
    .map(([key, value]) => `${goQuote(key)}:${write(value)}`)
    .join(', ');

/** `rbac.RoleRef{APIGroup:"", Kind:"Role", Name:"a"}`: all fields in the order of the type, which has the same names in JSON. */
export function goStruct(type: string, fields: Readonly<Record<string, unknown>>): GoText {
  const all = Object.entries(fields);
  const written = all.map(([name, value]) => `${name}:${goValue(value)}`);
  const json = all.map(([name, value]) => `"${name}":${shownJson(value)}`);
  return goText(`${type}{${written.join(', ')}}`, `{${json.join(',')}}`);
}

/** A value without a schema: `map[string]interface {}{"a":1}`. */
export function goAny(value: unknown): GoText {
  if (typeof value !== 'object' || value === null) return goText(goValue(value));
  return goText(goInterface(value), shownJson(value));
}

function goInterface(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value !== 'object') return goValue(value);
  return Array.isArray(value)
    ? `[]interface {}{${value.map(goInterface).join(', ')}}`
    : `map[string]interface {}{${goEntries(value, goInterface)}}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** strconv.Quote: unprintable characters become escapes; letters of all scripts are printable. */
export function goQuote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (char) => ESCAPES[char] ?? toNumber(char))}"`;
}

function toNumber(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** A number without a Go type: an int64 where it is an integer, else a float64, with an exponent from 1e+06 on and below 1e-04. */
export function goNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : goFloat(value);
}

/**
 * A value as Go prints it without quotes (fmt, %v): `map[metadata:map[labels:invalid]]`, `[a b]`, `<nil>`. Keys are sorted.
 * The text is cut after `mostLetters`, because it goes into messages and clients choose the value.
 */
export function goPlain(value: JsonValue | undefined, mostLetters = Number.POSITIVE_INFINITY): string {
  const text = new PlainText(mostLetters);
  text.add(value);
  return text.toString();
}

/** An object with more keys keeps their order: sorting them takes longer than a message is worth. */
export const MAX_SORTED = 4096;

const sortedKeys = (object: object): string[] => {
  const keys = Object.keys(object);
  return keys.length > MAX_SORTED ? keys : keys.sort();
};

class PlainText {
  readonly #mostLetters: number;
  #text = '';

  constructor(mostLetters: number) {
    this.#mostLetters = mostLetters;
  }

  add(value: JsonValue | undefined): void {
    if (value === null || value === undefined) this.#text += '<nil>';
    else if (typeof value === 'number') this.#text += goNumber(value);
    else if (typeof value !== 'object') this.#text += String(value);
    else if (Array.isArray(value)) this.#addList(value);
    else this.#addMap(value);
  }

  #addList(list: readonly JsonValue[]): void {
    this.#text += '[';
    for (const [at, item] of list.entries()) {
      if (this.#isFull) return;
      if (at > 0) this.#text += ' ';
      this.add(item);
    }
    this.#text += ']';
  }

  #addMap(map: { readonly [key: string]: JsonValue | undefined }): void {
    this.#text += 'map[';
    for (const [at, key] of sortedKeys(map).entries()) {
      if (this.#isFull) return;
      this.#text += at > 0 ? ` ${key}:` : `${key}:`;
      this.add(map[key]);
    }
    this.#text += ']';
  }

  get #isFull(): boolean {
    return this.#text.length >= this.#mostLetters;
  }

  toString(): string {
    return cutAfter(this.#text, this.#mostLetters);
  }
}

/** Letters of a client's name that a message shows. No valid name is longer. */
export const MAX_NAME_LETTERS = 1024;

export const cutAfter = (text: string, mostLetters: number): string =>
  text.length > mostLetters ? `${text.slice(0, mostLetters)}...` : text;

/** The Go type of a JSON value that is read without a schema (%T). */
export function goTypeOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'bigint':
      return 'int64';
    default:
      return Number.isInteger(value) ? 'int64' : 'float64';
  }
}

/** Reads the texts that Go's strconv.ParseBool accepts; undefined for any other. */
export function parseGoBool(text: string): boolean | undefined {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}
