import type { JsonValue } from '../api/object-meta.ts';
import { goNumber } from './go-value.ts';

/**
 * A value as Go prints it without quotes (fmt, %v): `map[metadata:map[labels:invalid]]`, `[a b]`, `<nil>`. Keys are sorted.
 * Ends after `mostLetters`, because values come from clients and this is for messages.
 */
export function goPlain(value: JsonValue | undefined, mostLetters = Number.POSITIVE_INFINITY): string {
  const text = new PlainText(mostLetters);
  text.add(value);
  return text.toString();
}

/** More keys are left in their order: sorting them takes longer than a message is worth. */
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

/** Of a name from a client in a message; no name that is one is longer. */
export const MAX_NAME_LETTERS = 1024;

export const cutAfter = (text: string, mostLetters: number): string =>
  text.length > mostLetters ? `${text.slice(0, mostLetters)}...` : text;

/** The type that JSON is read into where nothing is known of it (%T). */
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
