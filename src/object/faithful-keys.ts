import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { setField } from './merge-patch.ts';

/**
 * Node 24's JSON.parse takes some keys for others. Where an object is like one it has seen, it compares the next key's text as
 * it is written, escapes and all, with the key it expects, over as many characters as the key has when it is read:
 *
 *   JSON.parse('{"p":1,"k\\\\\\\\":1}')     expects from now on the key k\\
 *   JSON.parse('{"p":1,"k\\\\{":1}')        has the key k\{, written k\\{, and comes out with k\\
 *
 * What it was taken for so has a backslash. A document in whose keys one is found is read once more, with names for its
 * escaped keys that need no escapes. Of others it takes 6 µs to see that there is none, and 1 µs when nothing is escaped.
 *
 * `inspect` sees the value before anything is looked for in it, and may refuse it.
 */
export function parseFaithfully(
  text: string,
  parse: (text: string) => JsonValue,
  inspect?: (value: JsonValue) => void,
): JsonValue {
  const value = parse(text);
  inspect?.(value);
  if (!text.includes('\\') || !hasBackslashKey(value)) return value;
  const { renamed, names } = nameKeys(text);
  return withNames(parse(renamed), names);
}

function hasBackslashKey(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (hasBackslashKey(item)) return true;
    return false;
  }
  for (const key in value) if (key.includes('\\') || hasBackslashKey(value[key])) return true;
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The same document with other names for the keys that have escapes; valid JSON already. */
function nameKeys(text: string): { renamed: string; names: ReadonlyMap<string, string> } {
  // Nobody can have written a key like it.
  const mark = `${randomUUID()}-`;
  const names = new Map<string, string>();
  const marks = new Map<string, string>();
  const pieces: string[] = [];
  let copied = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfString(text, at + 1);
    if (isKey(text, end + 1) && text.slice(at, end).includes('\\')) {
      const key = JSON.parse(text.slice(at, end + 1)) as string;
      const name = marks.get(key) ?? `${mark}${marks.size}`;
      marks.set(key, name);
      names.set(name, key);
      pieces.push(text.slice(copied, at), `"${name}"`);
      copied = end + 1;
    }
    at = end + 1;
  }
  return { renamed: pieces.join('') + text.slice(copied), names };
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (' \t\r\n'.includes(text.charAt(at)) && at < text.length) at += 1;
  return text.charAt(at) === ':';
}

function withNames(value: JsonValue | undefined, names: ReadonlyMap<string, string>): JsonValue {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setField(out, names.get(key) ?? key, withNames(value[key], names));
  return out;
}
